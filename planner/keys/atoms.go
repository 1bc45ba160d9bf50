package keys

import (
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/lists"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// Some expressions have few values whatever the column under them holds: the hour of a moment, the
// name of a weekday, whether a text is like a pattern. They are variables of a space. Parts of one
// moment are read off one dial, so that no 30th of February is among (MONTH(d), DAY(d)).

// atom is an expression that is a variable, or a column of one.
type atom struct {
	field virtual
	// of a part of a moment: the dial, and the expression over the moment that the dial shows
	dial *dial
	part sql.Expression
	rows *variable // of a rounded number: the whole variable
}

// dial is the moments that the parts of one expression are read at.
type dial struct {
	hand     virtual
	face     face
	nullable bool
	atoms    []*atom
}

// atom makes a variable of an expression, or finds the one that it is.
func (sp *space) atom(e sql.Expression) (sql.Expression, bool) {
	if x, ok := sp.atomOf(e); ok {
		return x, true
	}
	if sp.fixed {
		return sp.newPart(e)
	}
	if x, ok := sp.newPart(e); ok {
		return x, true
	}
	if x, ok := sp.ladder(e); ok {
		return x, true
	}
	if x, ok := sp.namedAtom(e); ok {
		return x, true
	}
	x, err := lower.Lower(sp.f.ctx, e, new(lower.Binder), sp.column)
	if err != nil || x.Type.Kind != lower.Bool {
		return nil, false
	}
	return sp.note(e, &atom{field: sp.virtual(e.Type(sp.f.ctx), x.Type), part: nullMark(x.Nullable)})
}

// nullMark keeps of a test whether it may be NULL.
func nullMark(nullable bool) sql.Expression {
	if nullable {
		return expression.NewLiteral(nil, types.Null)
	}
	return nil
}

// atomOf finds the variable that an expression is already.
func (sp *space) atomOf(e sql.Expression) (sql.Expression, bool) {
	name, ok := sp.identity(e)
	if a := sp.atoms[name]; ok && a != nil {
		return a.field.field(), true
	}
	return nil, false
}

func (sp *space) note(e sql.Expression, a *atom) (sql.Expression, bool) {
	name, ok := sp.identity(e)
	if !ok {
		return nil, false
	}
	sp.atoms[name] = a
	sp.order = append(sp.order, name)
	return a.field.field(), true
}

// newPart makes a column of a dial of a part of a moment. Where no new variables are allowed, the
// dial has to be there.
func (sp *space) newPart(e sql.Expression) (sql.Expression, bool) {
	at, f, ok := partOf(sp.f.ctx, e)
	if !ok {
		return nil, false
	}
	arg := e.Children()[at]
	x, err := lower.Lower(sp.f.ctx, arg, new(lower.Binder), sp.column)
	if err != nil {
		return nil, false
	}
	switch x.Type.Kind {
	case lower.Date, lower.Datetime, lower.String:
	default:
		return nil, false
	}
	name, ok := sp.identity(arg)
	if !ok {
		return nil, false
	}
	name = f.name + " of " + name
	d := sp.dials[name]
	if d == nil {
		if sp.fixed {
			return nil, false
		}
		d = &dial{face: f, nullable: x.Nullable}
		if x.Type.Kind == lower.Date {
			d.hand = sp.virtual(types.Date, lower.Type{Kind: lower.Date})
		} else {
			d.hand = sp.virtual(types.DatetimeMaxPrecision, lower.Type{Kind: lower.Datetime})
		}
		sp.dials[name] = d
		sp.order = append(sp.order, "dial "+name)
	}
	children := append([]sql.Expression(nil), e.Children()...)
	children[at] = d.hand.field()
	part, err := e.WithChildren(sp.f.ctx, children...)
	if err != nil {
		return nil, false
	}
	y, err := lower.Lower(sp.f.ctx, part, new(lower.Binder), func(*expression.GetField) (lower.Expr, bool) {
		return lower.Expr{SQL: "x", Type: d.hand.lowered, Nullable: true}, true
	})
	if err != nil {
		return nil, false
	}
	a := &atom{field: sp.virtual(e.Type(sp.f.ctx), y.Type), dial: d, part: part}
	d.atoms = append(d.atoms, a)
	return sp.note(e, a)
}

// forget drops the variables that were noted after the first n, which no expression reads.
func (sp *space) forget(n int) {
	for _, name := range sp.order[n:] {
		switch {
		case strings.HasPrefix(name, "dial "):
			delete(sp.dials, strings.TrimPrefix(name, "dial "))
		case strings.HasPrefix(name, "case "):
			sp.cases = sp.cases[:len(sp.cases)-1]
		default:
			if d := sp.atoms[name].dial; d != nil {
				d.atoms = d.atoms[:len(d.atoms)-1]
			}
			delete(sp.atoms, name)
		}
	}
	sp.order = sp.order[:n]
}

// settle makes the variables of the atoms that were noted.
func (sp *space) settle() error {
	sp.vars = append(sp.vars, sp.cases...)
	for _, name := range sp.order {
		if text, ok := strings.CutPrefix(name, "dial "); ok {
			if err := sp.settleDial(sp.dials[text]); err != nil {
				return err
			}
			continue
		}
		a := sp.atoms[name]
		if a == nil || a.dial != nil {
			continue
		}
		if a.rows != nil {
			sp.vars = append(sp.vars, a.rows)
			continue
		}
		v := &variable{columns: []virtual{a.field}, rows: []sql.Row{{int8(0)}, {int8(1)}}, from: "the two values of a test", found: true}
		if a.part != nil {
			v.rows = append(v.rows, sql.Row{nil})
		}
		sp.vars = append(sp.vars, v)
	}
	return nil
}

// settleDial reads all parts of a dial at the moments of its face.
func (sp *space) settleDial(d *dial) error {
	moments := &variable{columns: []virtual{d.hand}}
	moments.rows = append(moments.rows, lists.Map(d.face.moments(), func(m time.Time) sql.Row { return sql.Row{m} })...)
	var parts []sql.Expression
	v := &variable{from: "the " + d.face.name, found: true}
	for _, a := range d.atoms {
		parts = append(parts, a.part)
		v.columns = append(v.columns, a.field)
	}
	rows, _, err := sp.f.table([]*variable{moments}, parts, nil)
	if err != nil {
		return err
	}
	v.rows = rows
	if d.nullable {
		v.rows = append(v.rows[:len(v.rows):len(v.rows)], make(sql.Row, len(parts)))
	}
	sp.vars = append(sp.vars, v)
	return nil
}

// face is what a dial shows: enough moments for every value of the parts that are read off it.
type face struct {
	name    string
	moments func() []time.Time
}

var (
	calendar = face{"calendar", days}
	hours    = face{"hours of a day", func() []time.Time { return steps(24, time.Hour) }}
	minutes  = face{"minutes of an hour", func() []time.Time { return steps(60, time.Minute) }}
	seconds  = face{"seconds of a minute", func() []time.Time { return steps(60, time.Second) }}
	times    = face{"minutes of a day", func() []time.Time { return steps(24*60, time.Minute) }}
	moments  = face{"seconds of a day", func() []time.Time { return steps(24*3600, time.Second) }}
	passing  = face{"seconds of an hour", func() []time.Time { return steps(3600, time.Second) }}
)

func steps(n int, by time.Duration) []time.Time {
	return lists.Make(n, func(i int) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * by) })
}

// days is the days of one year of each kind. What a function tells of a day without its year (its
// month, weekday, day of the year, week in each of the modes) follows from the weekday on which the
// year begins and from whether it, the one before and the one after are leap years; the Gregorian
// calendar repeats after 400 years.
var days = sync.OnceValue(func() []time.Time {
	type kind struct {
		first              time.Weekday
		before, leap, next bool
	}
	isLeap := func(year int) bool { return time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay() == 366 }
	seen := map[kind]bool{}
	var out []time.Time
	for year := 2000; year < 2400; year++ {
		d := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		k := kind{d.Weekday(), isLeap(year - 1), isLeap(year), isLeap(year + 1)}
		if seen[k] {
			continue
		}
		seen[k] = true
		for ; d.Year() == year; d = d.AddDate(0, 0, 1) {
			out = append(out, d)
		}
	}
	return out
})

// parts is the functions whose values are few whatever the moment, with the face that has all of
// them.
var parts = map[string]face{
	"month": calendar, "quarter": calendar, "day": calendar, "dayofmonth": calendar, "dayofweek": calendar, "weekday": calendar,
	"dayofyear": calendar, "dayname": calendar, "monthname": calendar, "week": calendar, "weekofyear": calendar,
	"hour": hours, "minute": minutes, "second": seconds,
}

// units is the units of EXTRACT whose values are few.
var units = map[string]face{
	"QUARTER": calendar, "MONTH": calendar, "WEEK": calendar, "DAY": calendar, "HOUR": hours, "MINUTE": minutes, "SECOND": seconds,
	"HOUR_MINUTE": times, "HOUR_SECOND": moments, "MINUTE_SECOND": passing,
}

// partOf finds the face of a function of a moment, and which of its arguments the moment is.
func partOf(ctx *sql.Context, e sql.Expression) (at int, f face, ok bool) {
	fn, is := e.(sql.FunctionExpression)
	if !is {
		return 0, f, false
	}
	args := e.Children()
	switch name := strings.ToLower(fn.FunctionName()); name {
	case "extract":
		unit, _ := constantText(args[0])
		f, ok = units[strings.ToUpper(unit)]
		at = 1
	case "date_format":
		if format, constant := constantText(args[1]); constant {
			f, ok = faceOf(format)
		}
	default:
		f, ok = parts[name]
	}
	for i, a := range args {
		ok = ok && (i == at || len(tree.Fields(ctx, a)) == 0)
	}
	return at, f, ok && at < len(args)
}

// What a specifier of DATE_FORMAT tells.
const (
	calendarSpecifiers = "abcDdejMmUuVvWw"
	yearSpecifiers     = "YyXx"
	hourSpecifiers     = "HhIklp"
	minuteSpecifiers   = "i"
	secondSpecifiers   = "rSsT"
	fractionSpecifiers = "f"
)

// told lists the specifiers of a format.
func told(format string) string {
	var out strings.Builder
	for i := 0; i+1 < len(format); i++ {
		if format[i] == '%' {
			i++
			out.WriteByte(format[i])
		}
	}
	return out.String()
}

// faceOf is the face on which a format has all its texts; false where they are many.
func faceOf(format string) (face, bool) {
	tells := told(format)
	day, hour := strings.ContainsAny(tells, calendarSpecifiers), strings.ContainsAny(tells, hourSpecifiers)
	minute, second := strings.ContainsAny(tells, minuteSpecifiers), strings.ContainsAny(tells, secondSpecifiers)
	whole := strings.ContainsAny(tells, "rT")
	switch {
	case strings.ContainsAny(tells, yearSpecifiers+fractionSpecifiers), day && (hour || minute || second):
		return face{}, false
	case day:
		return calendar, true
	case whole, second && hour:
		return moments, true
	case second && minute:
		return passing, true
	case second:
		return seconds, true
	case hour && minute:
		return times, true
	case minute:
		return minutes, true
	case hour:
		return hours, true
	}
	return face{}, false
}

// constantText is a text constant.
func constantText(e sql.Expression) (string, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return "", false
	}
	v, ok := l.Value().(string)
	return v, ok
}
