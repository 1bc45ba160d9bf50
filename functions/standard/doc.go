// Package standard holds scalar functions of MySQL that go-mysql-server lacks, or computes
// otherwise than MySQL 8.0 documents them. Where it has a function of the same name, the one here
// takes its place: it has the same name and the same arguments in the same order, so that what
// translates calls by name, as the planner does on stored rows, does not see the difference.
//
// A function is an entry of a table (function): name, number of arguments, type, and what it is of
// its arguments' values. An argument that is NULL makes it NULL, unless the entry says otherwise.
// What MySQL answers with NULL and a warning is NULL here.
package standard
