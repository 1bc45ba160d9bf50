// Package plan holds the plan of a private statement as a value: what it reads, by which estimators
// it answers, and what it costs whom. The planner makes it, the executor runs it, EXPLAIN prints
// it, and Verify checks its invariants before it runs. It opens nothing, charges nothing and draws
// nothing random.
//
//	Statement       the private part of one SQL statement: releases, and charges by account
//	Release         one private aggregation: scans, keys, aggregates, loss
//	Budget          the plan's root: it begins an execution and hands it down through the context
//	DPAggregate     a leaf: the rows of one release, which it has from an execution only
//	Executor        what runs releases
package plan
