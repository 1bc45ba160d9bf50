package rel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// The unit of a table by period is one person's rows of one period. It is an expression over the
// row, and no column of the table:
//
//	customer_id·2^22 + number of the period     of integers: a HUGEINT
//	number ‖ ' ' ‖ customer_id                  of texts: '1024306 ann'
//
// So nothing that is proved of units by their columns holds here, but what is proved of rows that
// links find. Of a row without a day or a person it is NULL, and the row is nobody's.
//
// A condition on the day narrows the periods that a release is charged to:
//
//	WHERE placed >= '2025-06-01' AND placed < '2025-07-01'      the block of June 2025
//
// The stretch that is recognised becomes a condition on the unit itself. So all rows are of units
// within it, however the store reads the condition. docs/proofs/periods.md.

const (
	numberBits = 22      // of the number of a period: days of the years 1 to 9999 are 3 652 059
	firstText  = 1000000 // what numbers have added in texts, which then have seven digits each
)

// numberOf is the number of the period that holds the day of a row: of the years 1 to 9999, within
// which days are read, it is at least 0 and less than 2^22. 0001-01-01 is a Monday.
func numberOf(every, day string) string {
	since := "(CAST(" + day + " AS DATE) - DATE '0001-01-01')"
	switch every {
	case "week":
		return "(" + since + " // 7)"
	case "month":
		return "(12 * year(" + day + ") + month(" + day + "))"
	case "quarter":
		return "(4 * year(" + day + ") + quarter(" + day + "))"
	case "year":
		return "year(" + day + ")"
	}
	return since
}

// periodNumber is numberOf of a day that is known.
func periodNumber(every string, day time.Time) int64 {
	since := int64(days.Of(day)) - int64(days.Of(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)))
	y, m := int64(day.Year()), int64(day.Month())
	switch every {
	case "week":
		return since / 7
	case "month":
		return 12*y + m
	case "quarter":
		return 4*y + (m+2)/3
	case "year":
		return y
	}
	return since
}

// pairFor is the unit of a person and a day, as they are read; false where the person has a type of
// which values have several texts, or several values one.
func pairFor(every string, person, day lower.Expr) (u lower.Expr, ok bool) {
	if day.Type.Kind != lower.Date && day.Type.Kind != lower.Datetime || !slices.Contains(catalog.Periods, every) {
		return u, false
	}
	number := numberOf(every, day.SQL)
	switch person.Type.Kind {
	case lower.Int, lower.UInt:
		packed := fmt.Sprintf("(CAST(%s AS HUGEINT) * %d + %s)", person.SQL, 1<<numberBits, number)
		return lower.Expr{SQL: packed, Type: wide, Nullable: true}, true
	case lower.String:
		text := fmt.Sprintf("(CAST(%d + %s AS VARCHAR) || ' ' || %s)", firstText, number, person.SQL)
		return lower.Expr{SQL: text, Type: person.Type, Nullable: true}, true
	}
	return u, false
}

// wide is the type of a unit that is a HUGEINT: as a name it is read as a text.
var wide = lower.Type{Kind: lower.Decimal, Precision: 38}

// periodFrom is the condition that a unit is of the period that begins on a day, or of a later one,
// and the one that it is of an earlier one. The texts of units are in the order of their periods.
func periodFrom(u lower.Expr, every string, day days.Day) (from, before string) {
	n := periodNumber(every, day.Time())
	if u.Type.Kind == lower.String {
		text := "'" + strconv.FormatInt(firstText+n, 10) + "'"
		return "(" + u.SQL + " >= " + text + ")", "(" + u.SQL + " < " + text + ")"
	}
	of := fmt.Sprintf("(%s & %d)", u.SQL, 1<<numberBits-1)
	return fmt.Sprintf("(%s >= %d)", of, n), fmt.Sprintf("(%s < %d)", of, n)
}

// narrower is what two stretches have in common, the first where that is nothing: the rows are in
// both.
func narrower(a *days.Span, b days.Span) *days.Span {
	if a == nil {
		return &b
	}
	if m, ok := a.Meet(b); ok {
		return &m
	}
	return a
}

// Hull is the stretch that two are within; nil where one is open.
func Hull(a, b *days.Span) *days.Span {
	if a == nil || b == nil {
		return nil
	}
	return &days.Span{First: min(a.First, b.First), Last: max(a.Last, b.Last)}
}

// calendar is what conditions say of the day of a column.
type calendar struct {
	days.Span
	ctx         *sql.Context
	is          func(e sql.Expression) bool // whether an expression is the column
	year, month int                         // that conditions name; 0: none
}

// take narrows the days to those that a condition leaves. Whatever it does not understand leaves
// all.
func (d *calendar) take(cond sql.Expression) {
	switch e := cond.(type) {
	case *expression.Equals:
		d.equal(e.Left(), e.Right())
		d.equal(e.Right(), e.Left())
	case *expression.GreaterThanOrEqual:
		d.from(e.Left(), e.Right())
		d.until(e.Right(), e.Left(), true)
	case *expression.GreaterThan:
		d.from(e.Left(), e.Right())
		d.until(e.Right(), e.Left(), false)
	case *expression.LessThanOrEqual:
		d.until(e.Left(), e.Right(), true)
		d.from(e.Right(), e.Left())
	case *expression.LessThan:
		d.until(e.Left(), e.Right(), false)
		d.from(e.Right(), e.Left())
	case *expression.Between:
		d.from(e.Val, e.Lower)
		d.until(e.Val, e.Upper, true)
	}
}

func (d *calendar) equal(x, y sql.Expression) {
	d.from(x, y)
	d.until(x, y, true)
	switch n, ok := d.number(y); {
	case !ok:
	case d.called(x, "year") && n >= 1 && n <= 9999:
		d.year = n
	case d.called(x, "month") && n >= 1 && n <= 12:
		d.month = n
	}
}

// from takes x >= y, or more than that.
func (d *calendar) from(x, y sql.Expression) {
	switch at, ok := d.moment(y); {
	case ok && d.column(x):
		d.First = max(d.First, days.Of(at))
	case d.called(x, "year"):
		if n, ok := d.number(y); ok && n >= 1 && n <= 9999 {
			d.First = max(d.First, dayIn(n, time.January))
		}
	}
}

// until takes x <= y where even is set, else x < y.
func (d *calendar) until(x, y sql.Expression, even bool) {
	switch at, ok := d.moment(y); {
	case ok && d.column(x):
		last := days.Of(at)
		if midnight := at.Truncate(24 * time.Hour).Equal(at); midnight && !even {
			last--
		}
		d.Last = min(d.Last, last)
	case d.called(x, "year"):
		if n, ok := d.number(y); ok && n >= 1 && n <= 9998 {
			if even {
				n++
			}
			d.Last = min(d.Last, dayIn(n, time.January)-1)
		}
	}
}

// stretch returns the days, of the month alone where one is named with its year.
func (d *calendar) stretch() days.Span {
	if d.year == 0 {
		return d.Span
	}
	first, last := dayIn(d.year, time.January), dayIn(d.year+1, time.January)-1
	if d.month > 0 {
		m := time.Month(d.month)
		first, last = dayIn(d.year, m), dayIn(d.year, m+1)-1
	}
	return days.Span{First: max(d.First, first), Last: min(d.Last, last)}
}

func dayIn(year int, m time.Month) days.Day {
	return days.Of(time.Date(year, m, 1, 0, 0, 0, 0, time.UTC))
}

// column reports whether an expression is the column, or its day.
func (d *calendar) column(e sql.Expression) bool { return d.is(e) || d.called(e, "date") }

// called reports whether an expression is a function of the column alone.
func (d *calendar) called(e sql.Expression, name string) bool {
	f, ok := e.(sql.FunctionExpression)
	return ok && strings.EqualFold(f.FunctionName(), name) && len(f.Children()) == 1 && d.is(f.Children()[0])
}

// value evaluates an expression without columns, which has been translated.
func (d *calendar) value(e sql.Expression) any {
	if len(tree.Fields(d.ctx, e)) > 0 || tree.HasSubquery(d.ctx, e) {
		return nil
	}
	v, err := e.Eval(d.ctx, nil)
	if err != nil {
		return nil
	}
	return v
}

func (d *calendar) number(e sql.Expression) (int, bool) {
	x, ok := tree.Float(d.value(e))
	return int(x), ok && x == float64(int(x))
}

// moment is the moment that an expression without columns says: one written in full.
func (d *calendar) moment(e sql.Expression) (time.Time, bool) {
	switch v := d.value(e).(type) {
	case time.Time:
		return v.UTC(), true
	case string:
		for _, layout := range []string{time.DateOnly, time.DateTime} {
			if t, err := time.Parse(layout, v); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// periodsOf returns the days of the periods that a stretch of days meets.
func periodsOf(every string, on days.Span) days.Span {
	if on.First > on.Last {
		return days.Span{First: days.Earliest, Last: days.Latest}
	}
	if on.First != days.Earliest {
		on.First = days.Of(catalog.PeriodAt(every, on.First.Time(), 0))
	}
	if on.Last != days.Latest {
		on.Last = days.Of(catalog.PeriodAt(every, on.Last.Time(), 1)) - 1
	}
	return on
}
