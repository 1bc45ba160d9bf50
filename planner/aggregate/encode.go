package aggregate

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/canon"
	"scrim/planner/encode"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Encode writes what an aggregate asks of its scan, without its text.
func (a *Aggregate) Encode(e *encode.Encoding) {
	e.Put(a.Call, a.Scan, a.Columns, a.Grid, a.Kinds, a.MaxRows, a.ByRow, a.GroupVector, a.Pure, a.Arg == nil, a.Vector != nil)
	if v := a.Description(); v != nil {
		e.Put(*v, a.Vector.Grids)
	}
	if a.Moment != NoMoment {
		e.Put(a.Moment)
	}
	if o := a.Other; o != nil {
		e.Put(o.Grid, o.Value.Type, o.Value.Nullable)
	}
	e.Put(a.Value.Type, a.Value.Nullable, len(a.Parts))
	for _, m := range a.Parts {
		m.Encode(e)
	}
}

// OrderText is the text that an aggregate is ordered by.
func (s *Binder) OrderText(r *rel.Relation, a *Aggregate) string {
	text := ""
	if a.Arg != nil {
		text = canon.Text(s.ctx, a.Arg, r.Resolve)
	}
	if a.Other != nil {
		text += " " + canon.Text(s.ctx, a.Other.Arg, r.Resolve)
	}
	return fmt.Sprintf("%s %t %t %s %s", a.Call.Function.Name, a.Call.Units, a.Call.Distinct, text, OptionsText(a.Call.Options))
}

// noBound stands for a bound that is not declared; no declared one is as large.
var noBound = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))

// OptionsText is what fmt writes of options. Asked to write a bound that is missing, fmt follows
// the nil pointer and recovers, in every query.
func OptionsText(o functions.Options) string {
	if o.Lower == nil {
		o.Lower = noBound
	}
	if o.Upper == nil {
		o.Upper = noBound
	}
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), noBound.String(), "<nil>")
}

// countsRows reports whether an aggregate is a plain count of rows: COUNT(*) is COUNT(1).
func (a *Aggregate) countsRows() bool {
	return a.Arg == nil && !a.Call.Units && a.Call.Function.Counts && len(a.Call.Options.Given) == 0
}

// SameCount finds a plain count among aggregates that an equal one can share; -1 where there is
// none.
func SameCount(list []*Aggregate, a *Aggregate) int {
	if !a.countsRows() {
		return -1
	}
	return slices.IndexFunc(list, func(b *Aggregate) bool { return b.countsRows() && b.Call.Function == a.Call.Function })
}

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
