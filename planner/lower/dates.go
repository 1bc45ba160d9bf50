package lower

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// dateFunctions is the functions of dates and times. Strings and integers are read as dates first;
// what is no date is NULL. Years are 1 to 9999.
var dateFunctions = []entry{
	{names: "year", signature: "YEAR(d)", lower: part("year(%s)")},
	{names: "quarter", signature: "QUARTER(d)", lower: part("quarter(%s)")},
	{names: "month", signature: "MONTH(d)", lower: part("month(%s)")},
	{names: "day dayofmonth", signature: "DAY(d)", lower: part("day(%s)")},
	{names: "dayofweek", signature: "DAYOFWEEK(d)", lower: part("(dayofweek(%s) + 1)")},
	{names: "weekday", signature: "WEEKDAY(d)", lower: part("(isodow(%s) - 1)")},
	{names: "dayofyear", signature: "DAYOFYEAR(d)", lower: part("dayofyear(%s)")},
	{names: "hour", signature: "HOUR(t)", times: true, lower: clock("hour(%s)")},
	{names: "minute", signature: "MINUTE(t)", times: true, lower: clock("minute(%s)")},
	{names: "second", signature: "SECOND(t)", times: true, lower: clock("second(%s)")},
	{names: "microsecond", signature: "MICROSECOND(t)", times: true, lower: clock("(microsecond(%s) %% 1000000)")},
	{names: "dayname", signature: "DAYNAME(d)", lower: name("dayname(%s)")},
	{names: "monthname", signature: "MONTHNAME(d)", lower: name("monthname(%s)")},
	{names: "week", signature: "WEEK(d [, mode])", remark: "a constant mode", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.weekCall(c, false)
	}},
	{names: "weekofyear", signature: "WEEKOFYEAR(d)", lower: func(l *lowerer, c *call) (Expr, error) {
		d := l.toDate(c.args[0])
		return of(Int, week(l, d.SQL, 3, false), d), nil
	}},
	{names: "yearweek", signature: "YEARWEEK(d [, mode])", remark: "a constant mode", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.weekCall(c, true)
	}},
	{names: "date", signature: "DATE(d)", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.toDate(c.args[0]), nil
	}},
	{names: "datetime timestamp", signature: "TIMESTAMP(d)", lower: func(l *lowerer, c *call) (Expr, error) {
		if len(c.args) != 1 {
			return Expr{}, refuse.New(refuse.Expression, "TIMESTAMP() with two arguments is not allowed on protected rows.")
		}
		return l.toDatetime(c.args[0]), nil
	}},
	{names: "last_day", signature: "LAST_DAY(d)", lower: func(l *lowerer, c *call) (Expr, error) {
		d := l.toDatetime(c.args[0]) // of a DATE it raises beyond the store's last
		return of(Date, "last_day("+d.SQL+")", d), nil
	}},
	{names: "to_days", signature: "TO_DAYS(d)", lower: func(l *lowerer, c *call) (Expr, error) {
		d := l.toDate(c.args[0])
		return of(Int, "("+d.SQL+" - DATE '0001-01-01' + 366)", d), nil
	}},
	{names: "from_days", signature: "FROM_DAYS(n)", lower: func(l *lowerer, c *call) (Expr, error) {
		n := l.toInt(c.args[0])
		return maybe(Date, l.let(n.SQL, func(r string) string {
			return "(CASE WHEN " + r + " BETWEEN 366 AND 3652424 THEN DATE '0001-01-01' + CAST(" + r + " - 366 AS INTEGER) END)"
		})), nil
	}},
	{names: "datediff", signature: "DATEDIFF(a, b)", lower: func(l *lowerer, c *call) (Expr, error) {
		a, b := l.toDate(c.args[0]), l.toDate(c.args[1])
		return of(Int, "("+a.SQL+" - "+b.SQL+")", a, b), nil
	}},
	{names: "timestampdiff", signature: "TIMESTAMPDIFF(unit, a, b)", lower: timestampDiff},
	{names: "date_add adddate timestampadd", signature: "DATE_ADD(d, INTERVAL n unit)", remark: "a date where d is a DATE and the unit a day or longer", raw: true, lower: shift},
	{names: "date_sub subdate", signature: "DATE_SUB(d, INTERVAL n unit)", remark: "as DATE_ADD", raw: true, lower: shift},
	{names: "extract", signature: "EXTRACT(unit FROM d)", lower: extract},
	{names: "unix_timestamp", signature: "UNIX_TIMESTAMP(d)", remark: "whole seconds; d is of the session's time_zone", lower: func(l *lowerer, c *call) (Expr, error) {
		d := l.toDatetime(c.args[0])
		if !c.raw[0].Type(l.ctx).Equals(types.Timestamp) { // which is a moment by itself
			var err error
			if d, err = l.clockOf(d, true); err != nil {
				return d, err
			}
		}
		if t, ok := c.raw[0].Type(l.ctx).(sql.DatetimeType); l.raises() && (!ok && c.args[0].Type.Kind == String || ok && !isDate(t) && t.Precision() > 0) {
			l.refuse("UNIX_TIMESTAMP() of fractions of a second.") // of which go-mysql-server keeps the digits
		}
		return of(Int, l.let(d.SQL, func(r string) string {
			return "(CASE WHEN " + r + " IS NULL THEN NULL WHEN " + r + " BETWEEN TIMESTAMP '1970-01-01 00:00:00' AND TIMESTAMP '3001-01-18 23:59:59.999999' THEN epoch_us(" + r + ") // 1000000 ELSE 0 END)"
		}), d), nil
	}},
	{names: "from_unixtime", signature: "FROM_UNIXTIME(n [, format])", remark: "in the session's time_zone", lower: fromUnixtime},
	{names: "date_format", signature: "DATE_FORMAT(d, 'format')", remark: "a constant format; %a %b %c %D %d %e %f %H %h %I %i %j %k %l %M %m %p %r %S %s %T %U %u %V %v %W %w %X %x %Y %y %%", lower: func(l *lowerer, c *call) (Expr, error) {
		f, ok := c.constantText(1)
		if !ok {
			return Expr{}, c.needConstant("format")
		}
		return l.dateFormat(l.toDatetime(c.args[0]), f)
	}},
	{names: "str_to_date", signature: "STR_TO_DATE(s, 'format')", remark: "a constant format of %Y %y %m %c %d %e %H %k %h %I %l %i %S %s %p %M %b %f %j %T; what follows in the text is passed over; '%X%V %W' and '%x%v %W' for weeks", lower: strToDate},
	{names: "makedate", signature: "MAKEDATE(year, day)", lower: makeDate},
	{names: "convert_tz", signature: "CONVERT_TZ(d, from, to)", remark: "constant zones; changes of the clock from 1970 to 2038", lower: convertTz},
}

// part is an integer part of a date.
func part(format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		d := c.args[0]
		if d.Type.Kind != Date {
			d = l.toDatetime(d)
		}
		return of(Int, "CAST("+fmt.Sprintf(format, d.SQL)+" AS BIGINT)", d), nil
	}
}

// clock is an integer part of a time of day, also of a TIME value.
func clock(format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		d := c.args[0]
		if d.Type.Kind == Time {
			return of(Int, "CAST("+fmt.Sprintf(format, d.SQL)+" AS BIGINT)", d), nil
		} else if d.text != nil {
			d = l.moment(d)
		} else if d.Type.Kind == String {
			l.refuse("%s() of a text is not allowed on protected rows: CAST it AS DATETIME.", strings.ToUpper(c.name))
		}
		d = l.toDatetime(d)
		return of(Int, "CAST("+fmt.Sprintf(format, d.SQL)+" AS BIGINT)", d), nil
	}
}

// name is a text made of a date.
func name(format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		d := l.toDatetime(c.args[0])
		return of(String, fmt.Sprintf(format, d.SQL), d), nil
	}
}

func (l *lowerer) weekCall(c *call, withYear bool) (Expr, error) {
	mode := int64(0)
	if c.has(1) {
		var ok bool
		if mode, ok = c.constantInt(1); !ok {
			return Expr{}, c.needConstant("mode")
		}
	}
	if withYear {
		mode |= 2
	}
	d := l.toDate(c.args[0])
	return of(Int, week(l, d.SQL, int(mode&7), withYear), d), nil
}

// week is MySQL's week number of a date in one of its eight modes, or year*100+week. Bit 0 of the
// mode starts weeks on Monday; bit 1 numbers from 1, the week belonging to the year that holds its
// first or fourth day; bit 2, reversed for weeks that start on Sunday, makes week 1 the first that
// starts in the year, otherwise it is the first with four days in it.
func week(l *lowerer, d string, mode int, withYear bool) string {
	monday, ofYear, firstDay := mode&1 != 0, mode&2 != 0, mode&4 != 0
	if !monday {
		firstDay = !firstDay
	}
	back := "dayofweek(%[1]s)"
	if monday {
		back = "(isodow(%[1]s) - 1)"
	}
	anchorDay := 3
	if firstDay {
		anchorDay = 0
	}
	return l.let(d, func(r string) string {
		anchor := "(" + r + " + CAST(" + fmt.Sprint(anchorDay) + " - " + fmt.Sprintf(back, r) + " AS INTEGER))"
		return l.let(anchor, func(a string) string {
			number := "((dayofyear(" + a + ") - 1) // 7 + 1)"
			switch {
			case withYear:
				return "(year(" + a + ") * 100 + " + number + ")"
			case ofYear:
				return number
			}
			return "(CASE WHEN year(" + a + ") < year(" + r + ") THEN 0 WHEN year(" + a + ") > year(" + r + ") THEN (dayofyear(" + a + " - 7) - 1) // 7 + 2 ELSE " + number + " END)"
		})
	})
}

// units gives for each simple unit the number of months or of microseconds in it.
var units = map[string]struct{ months, micros int64 }{
	"YEAR": {12, 0}, "QUARTER": {3, 0}, "MONTH": {1, 0}, "WEEK": {0, 7 * 86400e6}, "DAY": {0, 86400e6},
	"HOUR": {0, 3600e6}, "MINUTE": {0, 60e6}, "SECOND": {0, 1e6}, "MICROSECOND": {0, 1},
}

// timestampDiff counts whole units, cut toward zero.
func timestampDiff(l *lowerer, c *call) (Expr, error) {
	unit, ok := c.constantText(0)
	u, known := units[strings.TrimPrefix(strings.ToUpper(unit), "SQL_TSI_")]
	if !ok || !known {
		return Expr{}, c.needConstant("unit")
	}
	a, b := l.toDatetime(c.args[1]), l.toDatetime(c.args[2])
	if u.months == 0 {
		return of(Int, fmt.Sprintf("((epoch_us(%s) - epoch_us(%s)) // %d)", b.SQL, a.SQL, u.micros), a, b), nil
	}
	return of(Int, l.let(a.SQL, func(x string) string {
		return l.let(b.SQL, func(y string) string {
			return fmt.Sprintf("((CASE WHEN %[1]s <= %[2]s THEN %[3]s ELSE -%[4]s END) // %[5]d)", x, y, wholeMonths(x, y), wholeMonths(y, x), u.months)
		})
	}), a, b), nil
}

// wholeMonths counts the whole months from lo to hi, lo being the earlier.
func wholeMonths(lo, hi string) string {
	within := func(t string) string { return "(epoch_us(" + t + ") - epoch_us(date_trunc('month', " + t + ")))" }
	return "((year(" + hi + ") - year(" + lo + ")) * 12 + month(" + hi + ") - month(" + lo + ") - (CASE WHEN " + within(hi) + " < " + within(lo) + " THEN 1 ELSE 0 END))"
}

// shift is DATE_ADD and DATE_SUB; a result outside the years 1 to 9999 is NULL.
func shift(l *lowerer, c *call) (Expr, error) {
	sign := int64(1)
	if c.name == "date_sub" {
		sign = -1
	}
	iv, ok := c.raw[1].(*expression.Interval)
	if !ok {
		return Expr{}, refuse.New(refuse.Expression, "%s() needs an INTERVAL.", strings.ToUpper(c.name))
	}
	return l.shift(c.raw[0], iv, sign)
}

// shift adds sign times an interval to a date.
func (l *lowerer) shift(date sql.Expression, iv *expression.Interval, sign int64) (Expr, error) {
	d, err := l.scalar(date, "DATE_ADD()")
	if err != nil {
		return d, err
	}
	if d.Type.Kind == Null {
		return d, nil
	}
	if k := d.Type.Kind; l.raises() && !temporal(k) && (d.text == nil || k != String) {
		l.refuse("DATE_ADD() of a text or a number.") // whose own form tells that of the result
	}
	day := d.Type.Kind == Date || d.text != nil && len(*d.text) <= len("2006-01-02")
	unit := strings.ToUpper(iv.Unit)
	u, simple := units[unit]
	d = l.toDatetime(d)
	if !simple {
		return Expr{}, refuse.New(refuse.Expression, "An INTERVAL of unit %s is not allowed on protected rows.", unit)
	}
	n, err := l.scalar(iv.Child, "INTERVAL")
	if err != nil {
		return n, err
	}
	if n.Type.Kind == Null {
		return n, nil
	}
	kind := Datetime
	if day && (u.months > 0 || u.micros%86400e6 == 0) {
		kind = Date
	}
	if t, ok := shifted(d.SQL, n, sign*u.months, sign*u.micros); ok {
		return moment(t, kind), nil
	}
	var s string
	if u.months > 0 {
		s = l.moved(d.SQL, l.amount(l.toInt(n), sign*u.months, 120000), "to_months(CAST(%s AS INTEGER))")
	} else {
		// seconds have a fraction
		if unit == "SECOND" && n.Type.Kind != Int && n.Type.Kind != UInt {
			n = l.toInt(l.toDecimal(l.arithmetic("*", l.toDecimal(n, 18, 6), integer(1000000)), maxPrecision, 0))
			u.micros = 1
		} else {
			n = l.toInt(n)
		}
		s = l.moved(d.SQL, l.amount(n, sign*u.micros, 320000000000000000), "to_microseconds(%s)")
	}
	if kind == Date {
		s = "CAST(" + s + " AS DATE)"
	}
	return maybe(kind, s), nil
}

// shifted is a literal moment n times so many months or microseconds later, where that is within
// 250 years of it and within the years 1 to 9999. A day that its month lacks becomes the month's
// last.
func shifted(literal string, n Expr, months, micros int64) (time.Time, bool) {
	t, err := time.Parse("TIMESTAMP '2006-01-02 15:04:05.999999'", literal)
	most := 250 * 12 * 31 * 86400e6 / max(31*86400e6*max(months, -months), micros, -micros)
	if err != nil || n.number == nil || *n.number > most || *n.number < -most {
		return t, false
	}
	moved := t.AddDate(0, int(*n.number*months), 0)
	if moved.Day() != t.Day() {
		moved = moved.AddDate(0, 0, -moved.Day())
	}
	moved = moved.Add(time.Duration(*n.number*micros) * time.Microsecond)
	return moved, moved.Year() >= 1 && moved.Year() <= 9999
}

// amount is n units of the given size, NULL where it exceeds limit.
func (l *lowerer) amount(n Expr, size, limit int64) string {
	bound := limit / max(size, -size)
	return l.let(n.SQL, func(r string) string {
		return fmt.Sprintf("(CASE WHEN %[1]s BETWEEN %[2]d AND %[3]d THEN %[1]s * (%[4]d) END)", r, -bound, bound, size)
	})
}

// inCalendar makes NULL of moments outside the years 1 to 9999.
func (l *lowerer) inCalendar(moment string) string {
	return l.let(moment, func(r string) string {
		return "(CASE WHEN " + r + " BETWEEN " + firstMoment + " AND " + lastMoment + " THEN " + r + " END)"
	})
}

// moved adds an interval.
func (l *lowerer) moved(d, n, interval string) string {
	return l.inCalendar("(" + d + " + " + fmt.Sprintf(interval, n) + ")")
}

// parts gives EXTRACT's units as SQL of a moment.
var parts = map[string]string{
	"YEAR": "year(%[1]s)", "QUARTER": "quarter(%[1]s)", "MONTH": "month(%[1]s)", "DAY": "day(%[1]s)",
	"HOUR": "hour(%[1]s)", "MINUTE": "minute(%[1]s)", "SECOND": "second(%[1]s)", "MICROSECOND": "(microsecond(%[1]s) %% 1000000)",
	"YEAR_MONTH": "(year(%[1]s) * 100 + month(%[1]s))", "DAY_HOUR": "(day(%[1]s) * 100 + hour(%[1]s))",
	"DAY_MINUTE":  "(day(%[1]s) * 10000 + hour(%[1]s) * 100 + minute(%[1]s))",
	"DAY_SECOND":  "(day(%[1]s) * 1000000 + hour(%[1]s) * 10000 + minute(%[1]s) * 100 + second(%[1]s))",
	"HOUR_MINUTE": "(hour(%[1]s) * 100 + minute(%[1]s))", "HOUR_SECOND": "(hour(%[1]s) * 10000 + minute(%[1]s) * 100 + second(%[1]s))",
	"MINUTE_SECOND": "(minute(%[1]s) * 100 + second(%[1]s))",
	// the store's microseconds have the seconds
	"DAY_MICROSECOND":    "(((day(%[1]s) * 100 + hour(%[1]s)) * 100 + minute(%[1]s)) * 100000000 + microsecond(%[1]s))",
	"HOUR_MICROSECOND":   "((hour(%[1]s) * 100 + minute(%[1]s)) * 100000000 + microsecond(%[1]s))",
	"MINUTE_MICROSECOND": "(minute(%[1]s) * 100000000 + microsecond(%[1]s))", "SECOND_MICROSECOND": "microsecond(%[1]s)",
}

// days are the units of EXTRACT that a TIME has not.
var days = map[string]bool{"YEAR": true, "QUARTER": true, "MONTH": true, "WEEK": true, "DAY": true, "YEAR_MONTH": true}

func extract(l *lowerer, c *call) (Expr, error) {
	unit, _ := c.constantText(0)
	unit = strings.ToUpper(unit)
	if x := c.args[1]; x.Type.Kind == String && !days[unit] && (x.text == nil || !strings.ContainsAny(*x.text, "-/")) {
		l.refuse("EXTRACT(%s) of a text is not allowed on protected rows: CAST it AS DATETIME.", unit) // it may be a time
	}
	if n := c.args[1].number; n != nil && *n == 0 {
		l.refuse("EXTRACT() of the date 0000-00-00 is not allowed on protected rows.")
	}
	d := l.toDatetime(c.args[1])
	if unit == "WEEK" {
		d = l.toDate(d)
		return of(Int, week(l, d.SQL, 0, false), d), nil
	}
	f, ok := parts[unit]
	if !ok {
		return Expr{}, refuse.New(refuse.Expression, "EXTRACT of %s is not allowed on protected rows.", unit)
	}
	return of(Int, "CAST("+l.let(d.SQL, func(r string) string { return fmt.Sprintf(f, r) })+" AS BIGINT)", d), nil
}

// fromUnixtime takes seconds from 0 to the end of MySQL's range.
func fromUnixtime(l *lowerer, c *call) (Expr, error) {
	n := l.toNumber(c.args[0])
	micros := l.arithmetic("*", l.toDecimal(n, 20, 6), integer(1000000))
	d := maybe(Datetime, l.let("TRY_CAST("+micros.SQL+" AS BIGINT)", func(r string) string {
		return fmt.Sprintf("(CASE WHEN %[1]s BETWEEN 0 AND %[2]d THEN make_timestamp(%[1]s) END)", r, int64(function.MaxUnixTimeMicroSecs))
	}))
	d, err := l.clockOf(d, false)
	if err != nil || !c.has(1) {
		return d, err
	}
	f, ok := c.constantText(1)
	if !ok {
		return Expr{}, c.needConstant("format")
	}
	return l.dateFormat(d, f)
}

// weekOf holds the formats of a year, a week and the name of a day that tools write, and whether
// weeks begin on Monday.
var weekOf = map[string]bool{
	"%X%V %W": false, "%X%V%W": false, "%X-%V %W": false,
	"%x%v %W": true, "%x%v%W": true, "%x-%v %W": true,
}

// weekDate reads a year, the number of a week and the name of a day: STR_TO_DATE('202452 Sunday',
// '%X%V %W'). Week 1 is the first that begins in the year, or with weeks from Monday the first with
// four days in it, as in WEEK's modes 2 and 3.
func weekDate(l *lowerer, c *call, monday bool) Expr {
	s := l.toString(c.args[0])
	part := func(r string, n int) string {
		return fmt.Sprintf("regexp_extract(%s, '^([0-9]{4})-?([0-9]{1,2}) *([A-Za-z]+)$', %d)", r, n)
	}
	return maybe(Date, l.let(s.SQL, func(r string) string {
		year, number := "TRY_CAST("+part(r, 1)+" AS INTEGER)", "TRY_CAST("+part(r, 2)+" AS INTEGER)"
		day := "list_position(['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'], lower(" + part(r, 3) + "))"
		return l.let("(CASE WHEN "+year+" BETWEEN 1 AND 9999 THEN make_date("+year+", 1, 1) END)", func(j string) string {
			// The days from the first of January to the first day of week 1, then whole weeks, then
			// the day of the week.
			first, offset := "(7 - dayofweek("+j+")) % 7", day+" - 1"
			if monday {
				first, offset = "(CASE WHEN isodow("+j+") <= 4 THEN 1 ELSE 8 END) - isodow("+j+")", "("+day+" + 5) % 7"
			}
			return l.let("("+j+" + CAST("+first+" + ("+number+" - 1) * 7 + "+offset+" AS INTEGER))", func(d string) string {
				return "(CASE WHEN " + number + " BETWEEN 1 AND 53 AND " + d + " BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN " + d + " END)"
			})
		})
	}))
}

// makeDate is MAKEDATE(year, day of the year), with years of two digits as MySQL reads them.
func makeDate(l *lowerer, c *call) (Expr, error) {
	y, n := l.toInt(c.args[0]), l.toInt(c.args[1])
	return maybe(Date, l.let(y.SQL, func(y string) string {
		full := "(CASE WHEN " + y + " BETWEEN 0 AND 69 THEN " + y + " + 2000 WHEN " + y + " BETWEEN 70 AND 99 THEN " + y + " + 1900 WHEN " + y + " BETWEEN 100 AND 9999 THEN " + y + " END)"
		return l.let(n.SQL, func(n string) string {
			return l.let("(CASE WHEN "+n+" BETWEEN 1 AND 3652424 THEN make_date("+full+", 1, 1) + CAST("+n+" - 1 AS INTEGER) END)", func(d string) string {
				return "(CASE WHEN " + d + " <= DATE '9999-12-31' THEN " + d + " END)"
			})
		})
	})), nil
}
