package release

import (
	"fmt"
	"slices"
	"strconv"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/lower"
)

// keyColumn writes a private key as one of the types that a scan can return.
func keyColumn(x lower.Expr) (string, store.ScanType, bool) {
	switch x.Type.Kind {
	case lower.Int, lower.Bool:
		return "CAST(" + x.SQL + " AS BIGINT)", store.ScanInt64, true
	case lower.Double:
		return x.SQL, store.ScanFloat64, true
	case lower.String, lower.UInt, lower.Decimal, lower.Date, lower.Datetime:
		return "CAST(" + x.SQL + " AS VARCHAR)", store.ScanText, true
	}
	return "", 0, false
}

// dataColumns lists the columns of the aggregates of a scan behind the leading ones, each once, as
// text writes them.
func (d *Aggregation) dataColumns(at, leading int, text func(*aggregate.Aggregate, estimator.Kind) string) []string {
	var cols []string
	seen := map[string]int{}
	for _, a := range d.Aggregates {
		if a.Scan != at {
			continue
		}
		a.Columns = nil
		for _, n := range summands(a) {
			text := text(n.of, n.kind)
			n, ok := seen[text]
			if !ok {
				n = len(cols)
				seen[text] = n
				cols = append(cols, text+" AS a"+strconv.Itoa(n))
			}
			a.Columns = append(a.Columns, leading+n)
		}
	}
	if len(cols) == 0 {
		cols = []string{"CAST(1 AS BIGINT) AS a0"}
	}
	return cols
}

// column writes one per-person column of an aggregate. An index is NULL only where its argument is,
// so where that is on no row, all rows count.
func (f *flat) column(a *aggregate.Aggregate, k estimator.Kind, grouped bool) string {
	if k == estimator.Rows && f.whole[a] {
		return columnOf(k, "", "", grouped)
	}
	x, y := f.index[a], f.other[a]
	switch k {
	case estimator.OtherSum:
		return columnOf(estimator.Sum, y, y, grouped)
	case estimator.OtherSquaresHi:
		return columnOf(estimator.SumSquaresHi, y, y, grouped)
	case estimator.OtherSquaresLo:
		return columnOf(estimator.SumSquaresLo, y, y, grouped)
	case estimator.ProductsHi:
		return columnOf(estimator.SumSquaresHi, x, y, grouped)
	case estimator.ProductsLo:
		return columnOf(estimator.SumSquaresLo, x, y, grouped)
	}
	return columnOf(k, x, x, grouped)
}

// rank adds to a flat input the columns that medians come from: of each index of which a person's
// median is read, its rank among those of the person in the group, NULL last, and how many there
// are. The store's own median keeps all of a person's indexes in memory, which no bound of its own
// is on, and one person may have every row; ranks are found by a sort, which spills.
func (d *Aggregation) rank(at int, f *flat) {
	var ranks []string
	part := "PARTITION BY " + sqltext.List(append([]string{"u"}, f.groupColumns...))
	for _, a := range d.Aggregates {
		x := f.index[a]
		if a.Scan != at || !slices.Contains(a.Kinds, estimator.Median) || slices.Contains(ranks, x) {
			continue
		}
		ranks = append(ranks, x)
		f.sql = "SELECT *, row_number() OVER (" + part + " ORDER BY " + x + " NULLS LAST) AS " + rankOf(x) +
			", count(" + x + ") OVER (" + part + ") AS " + presentOf(x) + " FROM (" + f.sql + ") AS w"
	}
}

// rankOf and presentOf name the columns that rank adds for an index.
func rankOf(x string) string    { return "rank_" + x }
func presentOf(x string) string { return "present_" + x }

// columnOf writes one per-person column: over the rows of a (group, person), or of the one row that
// a person has. x is the grid index, "" where rows are counted; squares are products with y, which
// is x but for those of two arguments. All are total: an index has at most 63 bits, so a sum of
// 2^40 of them has 103; one to be squared has 43, so a sum of squares has 126. Sums and medians are
// clamped to ±MaxUnits here, which is a function of one person.
func columnOf(k estimator.Kind, x, y string, grouped bool) string {
	const two64, two63, two62, two126 = "18446744073709551616", "9223372036854775808", "4611686018427387904", "85070591730234615865843651857942052864"
	square := func() string {
		if grouped {
			return "coalesce(sum(CAST(" + x + " AS HUGEINT) * " + y + "), 0)"
		}
		return "coalesce(CAST(" + x + " AS HUGEINT) * " + y + ", 0)"
	}
	if x != y { // of either sign: 2^126 more is not negative, and its low half is the same
		product := square
		square = func() string { return "(" + product() + " + " + two126 + ")" }
	}
	switch k {
	case estimator.Rows:
		switch {
		case grouped && x == "":
			return "count(*)"
		case grouped:
			return "count(" + x + ")"
		case x == "":
			return "CAST(1 AS BIGINT)"
		}
		return "CAST(CASE WHEN " + x + " IS NULL THEN 0 ELSE 1 END AS BIGINT)"
	case estimator.Sum:
		if grouped {
			return clamped("sum(" + x + ")")
		}
		return clamped(x)
	case estimator.Least, estimator.Greatest:
		switch {
		case !grouped:
			return clamped(x)
		case k == estimator.Least:
			return clamped("min(" + x + ")")
		}
		return clamped("max(" + x + ")")
	case estimator.SumSquaresHi:
		high := square() + " // " + two64
		if x != y {
			high += " - " + two62
		}
		return "CAST(" + high + " AS BIGINT)"
	case estimator.SumSquaresLo:
		q := square() + " % " + two64
		return "CAST(CASE WHEN " + q + " >= " + two63 + " THEN " + q + " - " + two64 + " ELSE " + q + " END AS BIGINT)"
	case estimator.Median:
		if grouped {
			return clamped("max(CASE WHEN " + rankOf(x) + " = (" + presentOf(x) + " + 1) // 2 THEN " + x + " END)")
		}
		return clamped(x)
	}
	panic(fmt.Sprintf("planner: column kind %d is not per person", k))
}

// clamped returns an integer as BIGINT within ±MaxUnits, 0 for NULL.
func clamped(x string) string {
	limit := strconv.FormatInt(estimator.MaxUnits, 10)
	return "CASE WHEN " + x + " BETWEEN -" + limit + " AND " + limit + " THEN TRY_CAST(" + x + " AS BIGINT) WHEN " +
		x + " < 0 THEN -" + limit + " WHEN " + x + " > 0 THEN " + limit + " ELSE 0 END"
}
