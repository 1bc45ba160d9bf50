package aggregate

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// Second is the second argument of an aggregate of two, as Arg, Value and Grid are the first one.
type Second struct {
	Arg   sql.Expression
	Value lower.Expr
	Grid  grid.Grid
}

// twoArguments lowers the arguments of a function of two. A row in which either is absent is
// absent.
func (s *Binder) twoArguments(r *rel.Relation, a *Aggregate, args []sql.Expression) error {
	var x [2]lower.Expr
	for i, arg := range args {
		var err error
		if x[i], err = s.Lower(arg, r.Resolve); err == nil {
			err = isNumber(x[i], a.Call.Function.Name)
		}
		if err != nil {
			return err
		}
	}
	a.Arg, a.Value = args[0], x[0]
	a.Other = &Second{Arg: args[1], Value: x[1]}
	return nil
}

// SharesRelease reports whether two aggregates are statistics of the same two arguments, with no
// options but the same weight, so that one release answers both.
func (s *Binder) SharesRelease(a, b *Aggregate) bool {
	return a.sharing() && b.sharing() && a.Call.Options.Weight == b.Call.Options.Weight &&
		tree.Same(s.ctx, a.Arg, b.Arg) && tree.Same(s.ctx, a.Other.Arg, b.Other.Arg)
}

func (a *Aggregate) sharing() bool {
	if a.Other == nil || a.Parts != nil || a.targeted {
		return false
	}
	for _, o := range a.Call.Options.Given {
		if o != "weight" {
			return false
		}
	}
	return true
}

// Shared is the aggregate that stands for statistics of the same two arguments: one release of
// their moments, with the loss of all of them.
func Shared(members []*Aggregate) *Aggregate {
	a := *members[0]
	a.Parts, a.Call.Statistics = members, nil
	texts := make([]string, len(members))
	for i, m := range members {
		a.Call.Statistics = append(a.Call.Statistics, m.Call.Statistics...)
		texts[i] = m.Text
	}
	a.Text = strings.Join(texts, ", ")
	return &a
}

// SharedStatistics reports whether an aggregate stands for several statistics of two arguments.
func (a *Aggregate) SharedStatistics() bool { return a.Parts != nil && a.Other != nil }
