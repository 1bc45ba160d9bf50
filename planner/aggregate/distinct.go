package aggregate

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// distinctArgument plans COUNT(DISTINCT x). Persons can be counted, rows by what names each once,
// and values that many persons may have (package flow):
//
//	COUNT(DISTINCT unit)                           persons
//	COUNT(DISTINCT CASE WHEN c THEN unit END)      persons with a row in which c holds; IF(c, unit, NULL) likewise
//	COUNT(DISTINCT id), the primary key            rows
//	COUNT(DISTINCT x)                              values
//
// The middle one is a count of persons of whom each counts 0 or 1, by their own rows: its
// sensitivity is that of the first.
func (s *Binder) distinctArgument(r *rel.Relation, a *Aggregate, e sql.Aggregation, args []sql.Expression) error {
	f := a.Call.Function
	if f.Distinct() && len(args) == 1 {
		x := tree.Untuple(args[0])
		switch {
		case r.IsUnit(x):
			a.Call.Units = true
			return nil
		case r.SomeUnit(x):
			v, err := s.Lower(x, r.Resolve)
			a.Call.Units, a.Arg, a.Value = true, x, v
			return err
		case s.NamesRows(r, x):
			return nil
		case f.Counts:
			v, err := s.Lower(x, r.Resolve)
			a.Call.Distinct, a.Arg, a.Value = true, x, v
			return err
		}
	}
	remedy := "Use " + f.Name + " without DISTINCT."
	switch {
	case f.Role == functions.Rewritten && !f.Counts:
		remedy = "Use SELECT " + f.Name + "(x) FROM (SELECT x FROM t GROUP BY x) k, which takes each value once, of those that are declared or that enough persons share; SELECT " +
			f.Name + "(x) FROM (SELECT DISTINCT unit, x FROM t) k, which takes each value of a person once; or " + f.Name + "(x), which takes every row."
	case f.Counts:
		return rule.Deny(rule.DistinctArg, refuse.Aggregate, "Use "+f.Name+"(DISTINCT x) of one expression, as CONCAT(a, '|', b).", "%s is over more than one expression.", aggregateText(e))
	}
	return rule.Deny(rule.DistinctArg, refuse.Aggregate, remedy, "%s is over distinct values of something other than the unit.", aggregateText(e))
}
