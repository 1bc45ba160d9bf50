package rel

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/planner/tree"
)

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
