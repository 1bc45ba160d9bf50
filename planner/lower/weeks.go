package lower

import "fmt"

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
