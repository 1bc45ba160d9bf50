package rel

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/marcboeker/go-duckdb/v2"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/planner/lower"
)

// TestNumbersOfPeriods compares the number of the period of each day, as the store computes it of
// dates and of moments, with the calendar of policies: it is one for the days of one period, goes
// up by one from each period to the next, and is that of periodNumber; days outside of the years
// that are read have none.
func TestNumbersOfPeriods(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var list []time.Time
	for _, year := range []int{1, 2, 1582, 1969, 1970, 2000, 2024, 2025, 9999} {
		for d := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() == year; d = d.AddDate(0, 0, 1) {
			list = append(list, d)
		}
	}
	if _, err := db.Exec("CREATE TABLE calendar AS SELECT CAST(x AS DATE) AS x FROM (SELECT unnest(generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-12-31', INTERVAL 1 DAY)) AS x) " +
		"WHERE year(x) IN (1, 2, 1582, 1969, 1970, 2000, 2024, 2025, 9999)"); err != nil {
		t.Fatal(err)
	}
	for _, every := range catalog.Periods {
		for _, c := range []struct{ kind, store, suffix string }{{"DATE", "DATE", ""}, {"TIMESTAMP", "TIMESTAMP", " 23:59:59.999999"}} {
			day := lower.ReadColumn("d", c.kind).SQL
			number := numberOf(every, day)
			rows, err := db.Query(fmt.Sprintf("SELECT strftime(d, '%%Y-%%m-%%d'), %s FROM (SELECT CAST(CAST(x AS VARCHAR) || '%s' AS %s) AS d FROM calendar)", number, c.suffix, c.store))
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]int64{}
			for rows.Next() {
				var d string
				var n int64
				if err := rows.Scan(&d, &n); err != nil {
					t.Fatal(err)
				}
				have[d] = n
			}
			if rows.Close(); len(have) != len(list) {
				t.Fatalf("%d days of %d", len(have), len(list))
			}
			for _, d := range list {
				n, first, next := have[d.Format(time.DateOnly)], catalog.PeriodAt(every, d, 0), catalog.PeriodAt(every, d, 1)
				if m, ok := have[first.Format(time.DateOnly)]; ok && m != n || n != periodNumber(every, d) || n < 0 || n >= 1<<numberBits || firstText+n > 9999999 {
					t.Fatalf("%s of %s: %d, %d", every, d.Format(time.DateOnly), n, periodNumber(every, d))
				}
				if m, ok := have[next.Format(time.DateOnly)]; ok && m != n+1 {
					t.Fatalf("%s after that of %s: %d after %d", every, d.Format(time.DateOnly), m, n)
				}
			}
			for _, x := range []string{"'infinity'", "'-infinity'", "'0044-03-15 (BC)'", "'10000-01-01'", "NULL"} {
				var n sql.NullInt64
				if err := db.QueryRow(fmt.Sprintf("SELECT %s FROM (SELECT CAST(%s AS %s) AS d)", number, x, c.store)).Scan(&n); err != nil || n.Valid {
					t.Errorf("%s of %s %s: %v, %v", every, c.store, x, n, err)
				}
			}
		}
	}
}

// TestPairsAreOneToOne: units of integers, of all widths and signs, and of texts are told apart,
// are of the period that they say, and those of integers do not overflow.
func TestPairsAreOneToOne(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := []string{"0001-01-01", "0001-01-08", "1969-12-31", "1970-01-01", "2025-06-30", "2025-07-01", "9999-12-31"}
	for kind, persons := range map[string][]string{
		"TINYINT": {"-128", "-1", "0", "1", "127"}, "INTEGER": {"-2147483648", "-1", "0", "1", "2147483647"}, "UINTEGER": {"0", "1", "4294967295"},
		"BIGINT": {"-9223372036854775808", "-4194304", "-1", "0", "1", "4194304", "9223372036854775807"}, "UBIGINT": {"0", "9223372036854775808", "18446744073709551615"},
		"VARCHAR": {"''", "' '", "'0'", "'1'", "' 1'", "'1 1'", "'é'"},
	} {
		u, ok := pairFor("day", lower.ReadColumn("p", kind), lower.ReadColumn("d", "DATE"))
		if !ok {
			t.Fatal(kind)
		}
		seen := map[string]string{}
		for _, p := range persons {
			for _, day := range at {
				d, _ := time.Parse(time.DateOnly, day)
				from, _ := periodFrom(u, "day", days.Of(d))
				_, before := periodFrom(u, "day", days.Of(d)+1)
				var name string
				var within bool
				if err := db.QueryRow(fmt.Sprintf("SELECT CAST(%s AS VARCHAR), %s AND %s FROM (SELECT CAST(%s AS %s) AS p, DATE '%s' AS d)", u.SQL, from, before, p, kind, day)).Scan(&name, &within); err != nil {
					t.Fatalf("%s %s %s: %v", kind, p, day, err)
				}
				if other, ok := seen[name]; ok || !within {
					t.Errorf("%s: %s of %s is %s, as %q; within its day: %v", kind, p, day, name, other, within)
				}
				seen[name] = p + " " + day
			}
		}
		for _, row := range []string{"NULL AS p, DATE '2025-06-01' AS d", "1 AS p, NULL AS d"} {
			var null bool
			if err := db.QueryRow(fmt.Sprintf("SELECT (%s) IS NULL FROM (SELECT CAST(p AS %s) AS p, CAST(d AS DATE) AS d FROM (SELECT %s))", u.SQL, kind, row)).Scan(&null); err != nil || !null {
				t.Errorf("%s: the unit of %s is not NULL: %v", kind, row, err)
			}
		}
	}
}

// TestPairsOfWidths: a person of two tables of an entity is one, whatever integers they are in.
func TestPairsOfWidths(t *testing.T) {
	t.Parallel()
	var first lower.Expr
	for i, kind := range []string{"BIGINT", "INTEGER", "SMALLINT", "TINYINT"} {
		u, ok := pairFor("month", lower.ReadColumn("p", kind), lower.ReadColumn("d", "DATE"))
		if i == 0 {
			first = u
		}
		if !ok || u.Type != first.Type || !strings.HasPrefix(u.SQL, "(CAST(") {
			t.Errorf("%s: %s of %v, %v", kind, u.SQL, u.Type, ok)
		}
	}
}

// label names the period of a day in another way than by its days.
func label(every string, t time.Time) string {
	switch every {
	case "week":
		y, w := t.ISOWeek()
		return fmt.Sprint(y, " ", w)
	case "month":
		return t.Format("2006-01")
	case "quarter":
		return fmt.Sprint(t.Year(), " ", (int(t.Month())+2)/3)
	case "year":
		return t.Format("2006")
	}
	return t.Format(time.DateOnly)
}

// TestPeriodsOfDays: the periods that a stretch meets begin and end where another label begins, and
// hold the stretch and no whole period more.
func TestPeriodsOfDays(t *testing.T) {
	from := days.Of(time.Date(1967, 12, 20, 0, 0, 0, 0, time.UTC))
	for _, every := range catalog.Periods {
		at := func(d days.Day) string { return label(every, d.Time()) }
		for d := from; d < from+1500; d++ {
			for _, length := range []days.Day{0, 1, 6, 7, 45} {
				on := periodsOf(every, days.Span{First: d, Last: d + length})
				if on.First > d || on.Last < d+length || at(on.First) != at(d) || at(on.Last) != at(d+length) || at(on.First-1) == at(d) || at(on.Last+1) == at(d+length) {
					t.Fatalf("%s: %v to %v is in %v", every, d.Time(), (d + length).Time(), on)
				}
			}
		}
		for d := from; d < from+1500; d += 13 {
			n, labels := catalog.CountPeriods(every, from.Time(), d.Time()), map[string]bool{}
			for x := from; x <= d; x++ {
				labels[at(x)] = true
			}
			if int(n) != len(labels) {
				t.Fatalf("%s: %d periods to %v, want %d", every, n, d.Time(), len(labels))
			}
		}
		open := days.Span{First: days.Earliest, Last: from}
		if on := periodsOf(every, open); on.First != days.Earliest || on.Last < from {
			t.Errorf("%s: %v is in %v", every, open, on)
		}
		if on := periodsOf(every, days.Span{First: 2, Last: 1}); (&on).Whole() != nil {
			t.Errorf("%s: no days are in %v", every, on)
		}
	}
}
