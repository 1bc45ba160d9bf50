// Package planner turns bound queries on protected tables into private plans.
//
//	parse ─▶ package parse: DP_COUNT(*), EXPLAIN, error bars
//	bind (go-mysql-server)
//	package survey  its tables, its hints, statements that are not queries
//	rewrite.go    find the protected scans of the statement; refuse, or replace the lowest aggregate
//	              above each by a DPAggregate; subst.go: what stands above follows its columns;
//	              zero.go: subtrees that are empty whatever the data are
//	package rel   the subtree under that aggregate as one generated SELECT, the unit tracked to every row
//	package keys  grouping expressions: public images of domains, or private selection
//	package aggregate, package grid  the aggregates on their public grids
//	package release   one release before its loss is known; one row per (group, unit) for the store
//	package settings  the parameters of a statement; package cost: the loss of each release
//	package plan  DPAggregate; the Budget at the root, put there after validation; EXPLAIN; invariants
//	package push  queries on public tables, handed to the store whole
//
// Planning is a pure function of the query, the catalogue and the session's parameters: it charges
// nothing, draws nothing random and reads no protected row. Everything that it refuses, it refuses
// before a charge, through one of the rules that package rule names. A protected scan that no rule
// absorbed is refused, so a plan shape that the package does not know fails closed.
//
// The neighbour relation is that of the tables, add-remove or replace-one: package release says what follows from it.
package planner
