package views

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// What each person has counted for lies in a table of the server's own: unit, u0, u1, …, one number
// a measure. It only grows, and never beyond the measure's bound, so that all days together have no
// more of one person than that, whatever becomes of the data between two releases.

// persons is the table of a series, as it is written in SQL.
func (v *Totals) persons(id string) string {
	return v.own.OwnSchema() + "." + sqltext.StoreName("totals_"+id)
}

// persons are the columns of that table.
func (d *definition) persons() string {
	unit := "VARCHAR"
	if d.scan().Types[1] == store.ScanInt64 {
		unit = "BIGINT"
	}
	columns := "unit " + unit
	for i := range d.series.Params().Measures {
		columns += fmt.Sprintf(", u%d BIGINT", i)
	}
	return columns
}

// step is a temporary table of the session.
const step = "temp.main.scrim_step"

// counting is the SELECT of what persons add to the days from kept to ended−1, by unit and day: t0
// is what the person has counted for when the day ends, and p0 what the day adds.
//
// A row of a day that is kept already counts on the first of these days. With c the person's total
// up to a day, u what the person has counted for before, and L the bound:
//
//	t = greatest(u, least(L, c))    p = t − the t of the day before, u on the first one
//
// So no p is under 0, and all that are ever kept of a person add up to L at most.
func (v *Totals) counting(r *Series, d *definition, kept, ended int) string {
	scan, measures := d.scan(), r.Params.Measures
	list := func(f func(i int, n string) string) string {
		parts := lists.Make(len(measures), func(i int) string { return f(i, strconv.Itoa(i)) })
		return strings.Join(parts, ", ")
	}
	names := []string{"g", "unit"}
	for i := range scan.Types[2:] {
		names = append(names, "a"+strconv.Itoa(i))
	}
	columns := d.node.Release.Aggregates[0].Columns
	rows := "SELECT unit, greatest(g, " + strconv.Itoa(kept) + ") AS d, " +
		list(func(i int, n string) string {
			return fmt.Sprintf("sum(CAST(greatest(coalesce(a%d, 0), 0) AS HUGEINT)) AS n%s", columns[i]-2, n)
		}) + " FROM (" + scan.SQL + ") AS q(" + sqltext.List(names) + ") WHERE g < " + strconv.Itoa(ended) + " GROUP BY 1, 2"
	totals := "SELECT unit, d, " + list(func(_ int, n string) string { return "sum(n" + n + ") OVER days AS c" + n }) +
		" FROM (" + rows + ") AS r WINDOW days AS (PARTITION BY unit ORDER BY d)"
	counted := "SELECT c.unit, c.d, " + list(func(i int, n string) string {
		return fmt.Sprintf("coalesce(u%s, 0) AS b%s, greatest(coalesce(u%s, 0), CAST(least(c%s, %d) AS BIGINT)) AS t%s", n, n, n, n, measures[i].Bound, n)
	}) + " FROM (" + totals + ") AS c LEFT JOIN " + v.persons(r.ID) + " AS s ON s.unit = c.unit"
	return "SELECT unit, d, " + list(func(_ int, n string) string {
		return "t" + n + ", t" + n + " - lag(t" + n + ", 1, b" + n + ") OVER (PARTITION BY unit ORDER BY d) AS p" + n
	}) + " FROM (" + counted + ") AS t"
}

// count adds the days from kept to ended−1 up, by measure, and keeps what their persons have
// counted for, in the transaction of s.
func (v *Totals) count(ctx context.Context, s store.Session, r *Series, d *definition, kept, ended int) ([][]*big.Int, error) {
	if _, err := s.Write(ctx, nil, "CREATE TEMP TABLE "+step+" AS "+v.counting(r, d, kept, ended), d.scan().Args...); err != nil {
		return nil, err
	}
	sums, all, some := "", "", ""
	for i := range r.Params.Measures {
		sums += fmt.Sprintf(", CAST(sum(p%d) AS VARCHAR)", i)
		all += fmt.Sprintf(", max(t%d)", i)
		some += fmt.Sprintf(" OR max(p%d) > 0", i)
	}
	some = strings.TrimPrefix(some, " OR ")
	days, err := v.sums(ctx, s, "SELECT d"+sums+" FROM "+step+" GROUP BY d", len(r.Params.Measures), kept, ended)
	if err != nil {
		return nil, err
	}
	changed := " FROM " + step + " GROUP BY unit HAVING " + some
	for _, statement := range []string{
		"DELETE FROM " + v.persons(r.ID) + " WHERE unit IN (SELECT unit" + changed + ")",
		"INSERT INTO " + v.persons(r.ID) + " SELECT unit" + all + changed,
	} {
		if _, err := s.Write(ctx, nil, statement); err != nil {
			return nil, err
		}
	}
	return days, nil
}

// sums reads the sums of days, by measure; a day without rows has 0.
func (v *Totals) sums(ctx context.Context, s store.Session, query string, measures, kept, ended int) ([][]*big.Int, error) {
	out := make([][]*big.Int, measures)
	for i := range out {
		for range ended - kept {
			out[i] = append(out[i], new(big.Int))
		}
	}
	rows, err := s.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return out, store.Each(rows, func(row []any) error {
		day, ok := row[0].(int64)
		if !ok || day < int64(kept) || day >= int64(ended) {
			return fmt.Errorf("views: a sum of a day outside of the release")
		}
		for i := range out {
			text, _ := row[1+i].(string)
			if _, ok := out[i][day-int64(kept)].SetString(text, 10); !ok {
				return fmt.Errorf("views: a sum of a day is no number")
			}
		}
		return nil
	})
}
