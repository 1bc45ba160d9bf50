// Package planner turns bound queries on protected tables into private plans.
//
//	package parse      before binding: DP_COUNT(*), EXPLAIN, error bars
//	bind (go-mysql-server)
//	package survey     the statement's tables, hints and kind; what is not a query
//	rewrite.go         find the protected scans; refuse, or replace the lowest aggregate above each by a
//	                   DPAggregate; keyjoin.go: what stands above follows its columns
//	package rel        the subtree under that aggregate as one generated SELECT, with the unit of each row
//	package keys       grouping expressions: public images of domains, or private selection
//	package aggregate  the aggregates, on the public grids of package grid
//	package release    one aggregation before its loss is known, and its scans for the store
//	package cost       the loss of each release, from the parameters that package settings resolves
//	package ratio      columns that are computed from several answers and have a known range
//	package plan       the plan as a value: DPAggregate; the Budget at the root, put there after
//	                   validation; what EXPLAIN prints; the invariants
//
// Beside it stand package push, for queries on public tables, and package sample, for simulations.
//
// Planning is a pure function of the query, the catalogue and the session's parameters: it charges
// nothing, draws nothing random and reads no protected row. Everything that it refuses, it refuses
// before a charge, through one of the rules that package rule names. A protected scan that no rule
// absorbed is refused, so a plan shape that the package does not know fails closed.
//
// The neighbour relation is that of the tables, add-remove or replace-one: package release says
// what follows from it.
package planner
