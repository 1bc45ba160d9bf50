package views

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator/continual"
	"scrim/engine/mysql/session"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/plan"
)

// Continue releases the days of a series that have ended and are not released, up to one; the zero
// time stands for all.
//
//	charge  the whole loss again, in the windows of now in which it does not count yet
//	keep    sums, persons, and the noisy numbers: one transaction; nothing is shown
//	note    the ledger knows of the release
//	show    rows of the public table: one transaction
//
// What a crash leaves after the first step is gone on with, and never drawn again.
func (v *Totals) Continue(ctx *sql.Context, ref store.TableRef, last time.Time) (*Series, error) {
	r, free, err := v.series.alone(ref)
	if err != nil {
		return nil, err
	}
	defer free()
	return v.release(ctx, r, last, time.Now())
}

// release is Continue of a series that nobody else changes, at a time.
func (v *Totals) release(ctx *sql.Context, r *Series, last, now time.Time) (*Series, error) {
	ref, yesterday := r.Ref(), now.UTC().AddDate(0, 0, -1)
	switch {
	case last.IsZero():
		last = yesterday
	case last.After(yesterday):
		return nil, refuse.New(refuse.View, "The day %s has not ended, by UTC.", last.Format(time.DateOnly)).With("Release the days up to yesterday: leave the day out.")
	}
	before := r.State.Shown
	r, err := v.settle(ctx, r)
	if err != nil {
		return nil, err
	}
	ended := r.Options.upTo(last)
	switch {
	case ended > r.State.Kept:
	case before == r.Options.Days:
		return nil, refuse.New(refuse.View, "The series %s has ended: its last day, %s, is released.", ref, r.Options.day(r.Options.Days-1)).
			With("CALL dp_continual makes one of further days, for another charge.")
	default:
		return r, nil
	}
	if r, err = v.keep(ctx, r, ended); err != nil {
		return nil, err
	}
	return v.show(ctx, r)
}

// keep draws the numbers of the days from the last kept one to ended−1, and keeps them.
func (v *Totals) keep(ctx *sql.Context, r *Series, ended int) (*Series, error) {
	d, err := v.Views.defineSeries(ctx, r.Query, r.Options)
	if err != nil {
		return nil, err
	}
	if err := r.goesOn(d); err != nil {
		return nil, err
	}
	if err := plan.Verify(ctx, d.budget.Statement, d.budget); err != nil {
		return nil, err
	}
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	next := r.clone()
	next.State.Before, next.State.Last = r.State.Last, newName()
	err = v.Views.Runner.Continue(ctx, d.budget.Statement, r.Charge, func(unchanged func() error) error {
		return v.Views.within(ctx, func(s store.Session) error {
			if err := v.draw(ctx, s, next, d, ended); err != nil {
				return err
			}
			if err := unchanged(); err != nil {
				return err
			}
			return next.write(ctx, s)
		})
	})
	if err != nil {
		return nil, err
	}
	v.series.put(r.Ref(), next)
	return next, nil
}

// draw adds days to a series: their exact sums, and their noisy numbers.
func (v *Totals) draw(ctx context.Context, s store.Session, r *Series, d *definition, ended int) error {
	mechanism, err := continual.New(r.Params)
	if err != nil {
		return err
	}
	value, ok, err := s.Meta().Get(ctx, sumsBucket, r.ID)
	if err != nil || !ok {
		return fmt.Errorf("views: the sums of a series: %w, there %v", err, ok)
	}
	sums := make([][]string, len(r.Params.Measures))
	if err := json.Unmarshal(value, &sums); err != nil {
		return err
	}
	if sums == nil {
		sums = make([][]string, len(r.Params.Measures))
	}
	days, err := v.count(ctx, s, r, d, r.State.Kept, ended)
	if err != nil {
		return err
	}
	for i := range days {
		if len(sums[i]) != r.State.Kept || len(r.State.Noisy[i]) != r.State.Kept {
			return fmt.Errorf("views: a series of %d days has the sums of %d and the numbers of %d", r.State.Kept, len(sums[i]), len(r.State.Noisy[i]))
		}
		for _, x := range days[i] {
			sums[i] = append(sums[i], x.String())
		}
		exact, err := numbers(sums[i])
		if err != nil {
			return err
		}
		noisy, err := numbers(r.State.Noisy[i])
		if err != nil {
			return err
		}
		for _, y := range mechanism.Add(v.Views.Runner.NoiseAs(r.Rounded), i, exact, noisy) {
			r.State.Noisy[i] = append(r.State.Noisy[i], y.String())
		}
	}
	r.State.Kept = ended
	if value, err = json.Marshal(sums); err != nil {
		return err
	}
	return s.Meta().Put(ctx, sumsBucket, r.ID, value)
}

func numbers(texts []string) ([]*big.Int, error) {
	out := make([]*big.Int, len(texts))
	for i, text := range texts {
		x, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, fmt.Errorf("views: a number of a series cannot be read")
		}
		out[i] = x
	}
	return out, nil
}

// show notes the last release of a series in the ledger, and puts its days into the table.
func (v *Totals) show(ctx *sql.Context, r *Series) (*Series, error) {
	before := v.Ledger.Position().String()
	if err := v.Ledger.Note(session.Principal(ctx), noteKind, r.note()); err != nil {
		return nil, err
	}
	return v.shown(ctx, r, before)
}

// shown puts the days that are kept and not shown into the table, where the ledger has noted them.
func (v *Totals) shown(ctx *sql.Context, r *Series, before string) (*Series, error) {
	rows, err := r.rows(r.State.Shown, r.State.Kept)
	if err != nil {
		return nil, err
	}
	next := r.clone()
	next.State.Shown, next.State.Ledger = r.State.Kept, before
	err = v.Views.within(ctx, func(s store.Session) error {
		f, ok := s.(store.Filler)
		if !ok {
			return fmt.Errorf("views: the store takes no rows of the server's")
		}
		if err := f.Fill(ctx, r.Ref(), rows); err != nil {
			return err
		}
		return next.write(ctx, s)
	})
	if err != nil {
		return nil, err
	}
	v.series.put(r.Ref(), next)
	return next, nil
}

// rows are those of days from, … to−1.
func (r *Series) rows(from, to int) ([][]any, error) {
	mechanism, err := continual.New(r.Params)
	if err != nil {
		return nil, err
	}
	days := make([][]continual.Day, len(r.Params.Measures))
	for i := range days {
		noisy, err := numbers(r.State.Noisy[i])
		if err != nil {
			return nil, err
		}
		days[i] = mechanism.Days(i, noisy)
	}
	var rows [][]any
	for t := from; t < to; t++ {
		var row []any
		for _, c := range r.Columns {
			if c.Measure < 0 {
				row = append(row, r.Options.date(t))
				continue
			}
			x := days[c.Measure][t]
			row = append(row, x.Value, x.StdErr, x.Total, x.TotalStdErr)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// A day that were released twice, with other noise, would cost again. The store knows which days
// are released; but a store may be put back as it was before. So the ledger notes every release
// under a random name, and nothing is released unless the last one that it has noted is the last
// one that the store knows of.

// noteKind is the kind of these notes.
const noteKind = "totals"

// note is the text of that of the last release.
func (r *Series) note() string {
	return fmt.Sprintf("%s %s: %s up to %s", r.ID, r.State.Last, r.Ref(), r.Options.day(r.State.Kept-1))
}

// settle compares a series with the ledger, and shows what is kept and not shown, as a crash leaves
// it.
func (v *Totals) settle(ctx *sql.Context, r *Series) (*Series, error) {
	if r.State.Ended != "" {
		return nil, r.over()
	}
	noted, why, err := v.noted(ctx, r)
	if err != nil {
		return nil, err
	}
	pending := r.State.Shown < r.State.Kept
	switch {
	case why != "":
	case noted == r.State.Last && pending:
		return v.shown(ctx, r, r.State.Ledger)
	case noted == r.State.Last:
		return r, nil
	case noted == r.State.Before && pending:
		return v.show(ctx, r)
	default:
		why = "the ledger knows of another last release than the data: the data are of another time"
	}
	next := r.clone()
	next.State.Ended = why
	if err := v.Views.within(ctx, func(s store.Session) error { return next.write(ctx, s) }); err != nil {
		return nil, err
	}
	v.series.put(r.Ref(), next)
	return nil, next.over()
}

// over refuses to go on with a series.
func (r *Series) over() error {
	return refuse.New(refuse.View, "The series %s has ended: %s. Days that were released would be released again, with other noise.", r.Ref(), r.State.Ended).
		With("What is in its table stays. CALL dp_continual makes another series, for another charge.")
}

// noted is the name of the last release of a series that the ledger has noted, "" for none; why
// says that it may not go on, whatever is noted.
func (v *Totals) noted(ctx *sql.Context, r *Series) (name, why string, err error) {
	known, err := accounting.ParsePosition(r.State.Ledger)
	if err != nil {
		return "", "", err
	}
	if ok, err := v.Ledger.Continues(known); err != nil {
		return "", "", err
	} else if !ok {
		return "", "the ledger is older than its last release", nil
	}
	list, err := v.Ledger.Entries(ctx, accounting.Filter{Kinds: []accounting.EntryKind{accounting.NoteEntry}, AfterID: known.Record})
	for _, e := range list {
		switch {
		case e.NoteKind == accounting.RestoreNote && !strings.HasSuffix(e.Text, accounting.LedgerStays):
			why = "an older ledger was accepted since, which may not know of its last release"
		case e.NoteKind == noteKind:
			if id, rest, _ := strings.Cut(e.Text, " "); id == r.ID {
				name, _, _ = strings.Cut(rest, ":")
			}
		}
	}
	return name, why, err
}

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
