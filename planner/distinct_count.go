package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// distinctArgument plans COUNT(DISTINCT x). Persons can be counted, and so can rows by what names each once:
//
//	COUNT(DISTINCT unit)                           persons
//	COUNT(DISTINCT CASE WHEN c THEN unit END)      persons with a row in which c holds; IF(c, unit, NULL) likewise
//	COUNT(DISTINCT id), the primary key            rows
//
// The middle one is a count of persons of whom each counts 0 or 1, by their own rows: its sensitivity is that of the first.
func (s *statement) distinctArgument(r *relation, a *aggregate, e sql.Aggregation, args []sql.Expression) error {
	f := a.call.Function
	if f.Distinct() && len(args) == 1 {
		x := tree.Untuple(args[0])
		switch {
		case r.isUnit(x):
			a.call.Units = true
			return nil
		case r.someUnit(x):
			v, err := s.lower(x, r.resolve)
			a.call.Units, a.arg, a.value = true, x, v
			return err
		case s.namesRows(r, x):
			return nil
		}
	}
	remedy := "Use " + f.Name + " without DISTINCT."
	if f.Counts {
		remedy = "Use COUNT(DISTINCT unit), which counts persons; SELECT COUNT(*) FROM (SELECT x FROM t GROUP BY x) k counts the values that are declared, or that enough persons share."
	}
	return rule.Deny(rule.DistinctArg, refuse.Aggregate, remedy, "%s is over distinct values of something other than the unit.", aggregateText(e))
}

// someUnit reports whether an expression is the unit of its row, or NULL.
func (r *relation) someUnit(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.GetField: // of the side of an outer join that may be missing
		c := r.find(e)
		return c != nil && c.extended && slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagUnit && r.root(t.unit) == 0 })
	case *expression.Case:
		if e.Expr != nil {
			return false
		}
		for _, b := range e.Branches {
			if !r.unitOrNull(b.Value) {
				return false
			}
		}
		return e.Else == nil || r.unitOrNull(e.Else)
	case *function.If:
		c := e.Children()
		return r.unitOrNull(c[1]) && r.unitOrNull(c[2])
	}
	return false
}

func (r *relation) unitOrNull(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	return r.isUnit(e) || ok && l.Value() == nil
}

// namesRows reports whether a column is the enforced primary key of the one table that the relation reads: then no two rows have one value, and
// none has NULL.
func (s *statement) namesRows(r *relation, e sql.Expression) bool {
	gf, ok := e.(*expression.GetField)
	if !ok || len(r.reads) != 1 || r.joined {
		return false
	}
	c := r.find(gf)
	if c == nil || c.extended {
		return false
	}
	self := r.reads[0].String()
	t, ok := s.tableByName(self)
	if !ok {
		return false
	}
	for _, g := range c.tags {
		if name, own := strings.CutPrefix(g.key, self+"."); g.kind == tagSelf && own && isPrimary(s.ctx, t, name) {
			return true
		}
	}
	return false
}
