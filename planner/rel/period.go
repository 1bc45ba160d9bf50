package rel

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/planner/lower"
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
