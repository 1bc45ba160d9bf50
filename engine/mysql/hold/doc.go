// Package hold keeps statements of go-mysql-server within memory and time.
//
// Its Builder is asked about every node of a plan before go-mysql-server makes the node's rows.
// Operators that hold rows get iterators that take what they hold from the connection's account
// (internal/quota) first. Loops look at the statement's context, and take turns with other
// statements (internal/turns), as they go round:
//
//	sort, top N, distinct, union …   go-mysql-server's iterators over a metered input
//	GROUP BY                         an iterator of its own: go-mysql-server's waits for ever where an aggregate fails
//	windows                          a metered input, and functions that are metered and interruptible
//	caches of joins and subqueries   a node (held) under the node that caches, put there when the statement begins
//	tables, VALUES                   rows that end with the context
//	projections, conditions          expressions that look at the context and meter the texts that they make
//
// What streams is not metered: a result of any size passes through.
package hold
