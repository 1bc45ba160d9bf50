package views

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator/continual"
	"scrim/engine/mysql/session"
	"scrim/engine/store"
	"scrim/internal/refuse"
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
