package aggregate

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/variance"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
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

// SharesRelease reports whether two aggregates are variances or standard deviations of the same
// argument, or statistics of the same two, with no options but the same weight, so that one release
// answers both.
func (s *Binder) SharesRelease(a, b *Aggregate) bool {
	return a.sharing() && b.sharing() && a.Call.Options.Weight == b.Call.Options.Weight &&
		tree.Same(s.ctx, a.Arg, b.Arg) && (a.Other == nil) == (b.Other == nil) && (a.Other == nil || tree.Same(s.ctx, a.Other.Arg, b.Other.Arg))
}

func (a *Aggregate) sharing() bool {
	if a.Other == nil && (a.Call.Function.Spread == nil || a.Vector != nil || a.Moment != NoMoment || a.Call.Owners != functions.OneOwner) || a.Parts != nil || a.targeted {
		return false
	}
	return !slices.ContainsFunc(a.Call.Options.Given, func(o string) bool { return o != "weight" })
}

// Shared is the aggregate that stands for statistics of the same arguments: one release of their
// moments, with the loss of all of them.
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

// SharedStatistics reports whether an aggregate stands for several statistics of the same
// arguments.
func (a *Aggregate) SharedStatistics() bool {
	return a.Parts != nil && a.Vector == nil && (a.Other != nil || a.Call.Function.Spread != nil)
}

// Mechanism is the estimator of an aggregate that is no vector, under the facts p.
func (a *Aggregate) Mechanism(p estimator.Params) (estimator.Estimator, error) {
	switch {
	case a.Sums != nil:
		return a.togetherBy(p)
	case a.Parts != nil && a.Other == nil:
		return functions.Spreads(a.Call, p, lists.Map(a.Parts, func(m *Aggregate) variance.Options { return *m.Call.Function.Spread })...)
	}
	return a.Call.Estimator(p)
}

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

// owned notes whom the rows of an aggregate belong to, and refuses what has no answer on rows that
// belong to several persons: numbers of persons and of values, spreads, ranks and vectors.
func (s *Binder) owned(r *rel.Relation, a *Aggregate, e sql.Aggregation) error {
	f := a.Call.Function
	if !r.Shared() {
		if a.Call.Options.Has("cap") {
			return rule.Deny(rule.Option, refuse.Option, "Leave it out: what one person counts for is bounded privately.",
				"The option cap of %s is for rows that belong to two persons, as those of a join off the unit.", f.Name)
		}
		return nil
	}
	owners := r.Owners()
	if a.Call.Owners = functions.OneEntity; owners[0].Entity != owners[1].Entity {
		a.Call.Owners = functions.TwoEntities
	}
	if !a.Call.Shares() || a.Vector != nil {
		return rule.Deny(rule.OwnersAggregate, refuse.Aggregate, strings.TrimRight("Use COUNT(*), COUNT(x), SUM(x) or AVG(x); or join on the unit, so that a row belongs to one person. "+r.OneOwnerText(s.ctx), " "),
			"%s has no private form over rows that belong to two persons, of %s.", aggregateText(e), r.PrivateNames())
	}
	return nil
}

// Paired reports whether the aggregate reads pairs of what its rows belong to.
func (a *Aggregate) Paired() bool { return slices.Equal(a.Kinds, []estimator.Kind{estimator.Pair}) }

// Moment says which moments whole numbers stand for: days, or seconds, since the beginning of 1970.
// The answer of an aggregate of moments is one, and so are the ends of its interval; its standard
// error is a number of days, or of seconds.
type Moment uint8

// Moments.
const (
	NoMoment Moment = iota
	Days
	Seconds
)

// moment reads an argument that is a moment as a number, for a function that takes moments.
func (s *Binder) moment(a *Aggregate, x lower.Expr) (lower.Expr, error) {
	f := a.Call.Function
	switch {
	case !f.Moments:
		return x, nil
	case x.Type.Kind == lower.Date:
		a.Moment = Days
	case x.Type.Kind == lower.Datetime:
		a.Moment = Seconds
	default:
		return x, nil
	}
	if a.Call.Options.Has("lower") {
		return x, rule.Deny(rule.Option, refuse.Option, "A DBA declares a column's range of dates with dp_set_domain.", "The options lower and upper of %s are numbers, and its argument is a moment.", f.Name)
	}
	return a.Number(x), nil
}

// Number is the lowered argument as a number. The store's moments are within the years 1 to 9999,
// so nothing fails.
func (a *Aggregate) Number(x lower.Expr) lower.Expr {
	number := lower.Expr{Type: lower.Type{Kind: lower.Int}, Nullable: x.Nullable}
	switch a.Moment {
	case Days:
		number.SQL = "CAST(" + x.SQL + " - DATE '1970-01-01' AS BIGINT)"
	case Seconds:
		number.SQL = "CAST(floor(epoch(" + x.SQL + ")) AS BIGINT)"
	default:
		return x
	}
	return number
}

const daySeconds = 24 * 60 * 60

// unit is the number of seconds of one step.
func (m Moment) unit() int64 {
	if m == Days {
		return daySeconds
	}
	return 1
}

// bounds is the declared range of the moments of a column, or that of MySQL's DATE and DATETIME.
func (m Moment) bounds(r *rel.Relation, arg sql.Expression) *grid.Bounds {
	if gf, ok := tree.Unalias(arg).(*expression.GetField); ok {
		if c := r.Find(gf); c != nil {
			if b := r.PlainBase(*c); b != nil && len(b.Domains) == 1 && b.Domains[0].Span != nil {
				span := b.Domains[0].Span
				lo, hi := m.number(span.Min), m.number(span.Max)
				if lo < hi {
					return &grid.Bounds{Lo: lo, Hi: hi}
				}
			}
		}
	}
	return nil
}

// number is the number of a moment.
func (m Moment) number(t time.Time) float64 {
	return math.Floor(float64(t.Unix()) / float64(m.unit()))
}

// answerType is the SQL type of moments, and how an estimate becomes one.
func (m Moment) answerType() (sql.Type, func(estimator.Estimate) any) {
	t := sql.Type(types.Datetime)
	if m == Days {
		t = types.Date
	}
	return t, func(e estimator.Estimate) any { return m.At(e.Values[0]) }
}

// The first and the last second that MySQL shows.
var first, last = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()

// At is the moment nearest to a released number; nil where that is none.
func (m Moment) At(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	seconds := math.RoundToEven(x) * float64(m.unit())
	return time.Unix(int64(min(max(seconds, float64(first)), float64(last))), 0).UTC()
}
