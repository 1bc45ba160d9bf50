package admin

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/engine/views"
	"scrim/internal/refuse"
)

// Totals are the series of running totals of the server; *views.Totals are them.
type Totals interface {
	Create(ctx *sql.Context, ref store.TableRef, query string, o views.SeriesOptions) (*views.Series, error)
	// Continue releases the days that have ended, up to one; the zero time stands for all.
	Continue(ctx *sql.Context, ref store.TableRef, last time.Time) (*views.Series, error)
	Drop(ctx *sql.Context, ref store.TableRef) error
	List(ctx *sql.Context) ([]views.Series, error)
}

// seriesColumns are those of dp.continual, and of what makes or continues a series returns.
var seriesColumns = slices.Concat([]column{text("series_name"), text("definition"), text("state"), text("first_day"), text("last_day"), count("days"),
	count("days_released"), text("next_day"), count("per_person"), text("measures"), real("epsilon"), real("rho"), real("delta"),
	text("owner"), moment("made_at"), count("ledger_id")}, scheduleColumns)

// seriesProcedures make, continue and remove series of running totals, for DBAs.
var seriesProcedures = []procedure{
	{Procedure: Procedure{"dp_continual", "dp_continual(name, query, json)",
		"Makes a series of running totals: a public table that gets a row for each day of a span, with the day's counts and sums, the running totals and their errors. All days are charged together, to the calling account and its roles of now, at once and again in each window of a budget in which days are released, see dp_continue; nothing is read before that. The query is SELECT day, COUNT(*), SUM(x) FROM … GROUP BY day; the JSON has epsilon or rho, from: the first day, days: how many, and per_person: for how many rows one person counts over all days together; it may have delta, and clip: what one person's values in a sum add up to at most, per_person times the largest value where it is left out; and schedule: daily, weekly or monthly, as dp_schedule. Returns the series' line in dp.continual.",
		`CALL dp_continual('shop.daily', 'SELECT DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1', '{"epsilon": 1, "from": "2025-01-01", "days": 365, "per_person": 30}')`},
		min: 3, max: 3, result: seriesColumns, run: (*Admin).createSeries},
	{Procedure: Procedure{"dp_continue", "dp_continue(name [, last_day])",
		"Releases the days of a series that have ended, by UTC, and are not released, up to a day where one is named. Each day is released once; rows that came later count on the next day. Before the first release in a window of a budget the loss of the whole series is charged in that window, to the account that made the series: with a monthly budget once in each month with releases, with one that is never refilled only when the series was made. If it does not fit, nothing is released or charged, and the days come later at no other cost.",
		"CALL dp_continue('shop.daily')"}, min: 1, max: 2, result: seriesColumns, run: ofView((*Admin).continueSeries)},
	{Procedure: Procedure{"dp_drop_continual", "dp_drop_continual(name)",
		"Removes a series of running totals with its table. What it has cost stays spent.",
		"CALL dp_drop_continual('shop.daily')"}, min: 1, max: 1, run: ofView((*Admin).dropSeries)},
}

func (a *Admin) createSeries(ctx *sql.Context, args []string) ([]sql.Row, error) {
	ref, err := a.newRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	o, err := views.ParseSeriesOptions(args[2])
	if err != nil {
		return nil, err
	}
	r, err := a.o.Totals.Create(ctx, ref, args[1], o)
	if err != nil {
		return nil, err
	}
	if err := a.declareMade(ctx, ref, a.o.Totals.Drop); err != nil {
		return nil, err
	}
	return a.seriesLine(ctx, r)
}

func (a *Admin) continueSeries(ctx *sql.Context, ref store.TableRef, more []string) ([]sql.Row, error) {
	var last time.Time
	if len(more) > 0 {
		var err error
		if last, err = time.Parse(time.DateOnly, more[0]); err != nil {
			return nil, refuse.New(refuse.View, "The last day is no day.").With("It has the form 2025-01-31.")
		}
	}
	r, err := a.o.Totals.Continue(ctx, ref, last)
	if err != nil {
		return nil, err
	}
	return a.seriesLine(ctx, r)
}

func (a *Admin) dropSeries(ctx *sql.Context, ref store.TableRef, _ []string) ([]sql.Row, error) {
	return nil, a.o.Catalog.Leaving(ref.String(), func() error { return a.o.Totals.Drop(ctx, ref) })
}

// seriesRows makes dp.continual: those that the account may see the tables of.
func (a *Admin) seriesRows(ctx *sql.Context) ([]sql.Row, error) {
	if a.o.Totals == nil {
		return nil, nil
	}
	list, err := a.o.Totals.List(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := a.o.StoredTables(ctx, a.seesAll(ctx))
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for _, r := range list {
		if !slices.Contains(seen, r.Ref().String()) {
			continue
		}
		row, err := a.seriesLine(ctx, &r)
		if err != nil {
			return nil, err
		}
		out = append(out, row...)
	}
	return out, nil
}

// seriesLine is the line of a series in dp.continual.
func (a *Admin) seriesLine(ctx *sql.Context, r *views.Series) ([]sql.Row, error) {
	type told struct {
		Column string  `json:"column"`
		Bound  float64 `json:"per_person"` // in the measure's units
		Last   float64 `json:"last_total_stderr"`
	}
	var measures []told
	errors, err := r.LastErrors()
	if err != nil {
		return nil, err
	}
	for _, c := range r.Columns {
		if c.Measure >= 0 {
			m := r.Params.Measures[c.Measure]
			measures = append(measures, told{c.Name, m.Value(float64(m.Bound)), errors[c.Name]})
		}
	}
	list, err := json.Marshal(measures)
	if err != nil {
		return nil, err
	}
	made, err := time.Parse(time.DateTime, r.Made)
	if err != nil {
		return nil, fmt.Errorf("admin: series %s: %w", r.Ref(), err)
	}
	state, next := "going on", any(nil)
	switch day := r.NextDay(); {
	case r.State.Ended != "":
		state = "ended: " + r.State.Ended
	case day == "":
		state = "complete"
	default:
		next = day
	}
	first, last := r.Span()
	o := r.Options
	cells := a.scheduleCells(ctx, r.Schedule, r.NextRelease(a.o.Schedules.Life()))
	return []sql.Row{append(sql.Row{r.Ref().String(), r.Query, state, first, last, int64(o.Days), int64(r.State.Shown), next, o.PerPerson, string(list),
		orNull(o.Epsilon), orNull(o.Rho), orNull(o.Delta), r.Owner, made, int64(r.Charge)}, cells...)}, nil
}
