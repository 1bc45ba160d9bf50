// Package planner turns bound queries on protected tables into private plans.
//
//	parse ─▶ Parser: DP_COUNT(*), EXPLAIN
//	bind (go-mysql-server)
//	rewrite.go   find the protected scans of the statement; refuse, or replace the lowest aggregate
//	             above each by a DPAggregate
//	relation*.go the subtree under that aggregate as one generated SELECT, the unit tracked to every row
//	keys.go      grouping expressions: public images of domains, or private selection
//	release.go   the releases of one statement; split.go: the privacy loss of each
//	scan.go      one row per (group, unit) for the store
//	budget.go    the Budget node at the root of the statement, put there after validation
//	format.go    what EXPLAIN prints
//	verify.go    the invariants of a plan
//
// Planning is a pure function of the query, the catalogue and the session's parameters: it charges
// nothing, draws nothing random and reads no protected row. Everything that it refuses, it refuses
// before a charge, through one of the rules that rules.go names. A protected scan that no rule
// absorbed is refused, so a plan shape that the package does not know fails closed.
//
// The neighbour relation is add-remove: one unit more or less, with all its rows in all tables of
// its entity.
package planner
