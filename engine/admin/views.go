package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/engine/store"
	"scrim/engine/views"
	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// Views are the DP views of the server; *views.Views are them.
type Views interface {
	Create(ctx *sql.Context, ref store.TableRef, query string, o views.Options) (*views.Record, error)
	Refresh(ctx *sql.Context, ref store.TableRef) (*views.Record, error)
	Drop(ctx *sql.Context, ref store.TableRef) error
	Sums(ctx *sql.Context, query string, level float64) ([]views.Sum, error)
	List(ctx *sql.Context) ([]views.Record, error)
	Suggest(ctx *sql.Context, charges []views.Charged) (views.Suggestion, error)
	Synthesize(ctx *sql.Context, ref store.TableRef, table string, o views.SyntheticOptions) (*views.Record, error)
}

// viewColumns are those of dp.views, and of what makes a view returns.
var viewColumns = slices.Concat([]column{text("view_name"), text("definition"), count("cells"), text("dimensions"), text("measures"), count("ways"),
	real("epsilon"), real("rho"), real("delta"), text("owner"), moment("released_at"), count("age_seconds"), count("ledger_id")}, scheduleColumns)

// viewProcedures make and remove DP views, for DBAs.
var viewProcedures = []procedure{
	{Procedure: Procedure{"dp_create_view", "dp_create_view(name, query, json)",
		"Makes a DP view: a public table of noisy counts and sums by cell of public dimensions, and of all their roll-ups, for one charge. The query is SELECT dimensions, COUNT(*), SUM(x) FROM … GROUP BY dimensions; the JSON has epsilon or rho, and may have delta, and ways: for roll-ups by up to how many dimensions the noise is least, all where it is left out; or marginals, a list of lists of dimensions, in its place; ranges, a list of dimensions of dates or numbers along which sums over intervals have little noise; and refresh: daily, weekly or monthly, as dp_schedule. The charge is the calling account's. Returns the view's line in dp.views.",
		`CALL dp_create_view('shop.sales', 'SELECT region, DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2', '{"epsilon": 1}')`},
		min: 3, max: 3, result: viewColumns, run: (*Admin).createView},
	{Procedure: Procedure{"dp_refresh_view", "dp_refresh_view(name)",
		"Releases a DP view, or a synthetic table, anew from the data of now, for another charge of what it cost, and puts the rows in the place of the old ones. While the data are the same and the account is, too, it is the stored answer, and costs nothing.",
		"CALL dp_refresh_view('shop.sales')"}, min: 1, max: 1, result: viewColumns, run: ofView((*Admin).refreshView)},
	{Procedure: Procedure{"dp_drop_view", "dp_drop_view(name)",
		"Removes a DP view, or a synthetic table, with its table. What it has cost stays spent.",
		"CALL dp_drop_view('shop.sales')"}, min: 1, max: 1, run: ofView((*Admin).dropView)},
	scheduleProcedure,
	viewErrors, viewSuggestion,
}

// viewErrors documents the one that is everybody's.
var viewErrors = procedure{Procedure: Procedure{"dp_view_errors", "dp_view_errors(query [, level])",
	"Sums of cells of a DP view with their errors: SELECT dimensions, SUM(measure) FROM view WHERE … GROUP BY dimensions, by the numbers without bias. Of each sum the standard error of the noise, by its closed form, and an interval of the level, 0.95 where none is given. Free; anybody may call it who reads the view.",
	"CALL dp_view_errors('SELECT region, SUM(n) FROM shop.sales GROUP BY region')"},
	min: 1, max: 2, result: []column{text("group_of"), text("measure"), real("value"), real("std_error"), real("low"), real("high")},
	run: (*Admin).viewSums, may: everybody}

// viewSuggestion documents the one for who wonders what to make.
var viewSuggestion = procedure{Procedure: Procedure{"dp_suggest_view", "dp_suggest_view([account])",
	"Proposes the DP view that would have answered the most of what an account was charged for: tables, dimensions and measures that recur in its last 10,000 charges, read from their texts without literals. Returns the statement that makes it, NULL where there is none; how many of how many charges it would have answered; what these cost, as rho, which adds up, and as epsilon at delta 1e-8; and how many charges it could not read, or no view answers. A DBA calls it for any account, an analyst for their own. It runs nothing and is free.",
	"CALL dp_suggest_view('ann@%')"},
	min: 0, max: 1, result: []column{text("statement"), count("answered"), count("charges"), real("rho"), real("epsilon"), count("unread")},
	run: (*Admin).suggestView, may: everybody}

// mostCharges is how many charges a suggestion is made of, the last ones.
const mostCharges = 10000

func (a *Admin) suggestView(ctx *sql.Context, args []string) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if len(args) > 0 {
		own := who
		if who = strings.TrimSpace(args[0]); !strings.Contains(who, "@") {
			who += "@%"
		}
		if who != own && !a.o.IsDBA(ctx) {
			return nil, refuse.New(refuse.NotDBA, "What another account was charged for is told to a DBA.").With("CALL dp_suggest_view() is about your own charges.")
		}
	}
	charges, losses, err := a.charged(ctx, who)
	if err != nil {
		return nil, err
	}
	s, err := a.o.Views.Suggest(ctx, charges)
	if err != nil {
		return nil, err
	}
	total := privacy.Loss{}
	for _, i := range s.Answered {
		total.Rho = total.Add(losses[i]).Rho
	}
	return []sql.Row{{orNull(s.Statement), int64(len(s.Answered)), int64(len(charges)), total.Rho.Float(),
		finite(float64(privacy.EpsilonOf(total, params.DefaultDelta))), int64(s.Unread)}}, nil
}

// charged lists what an account was charged for, but for views, and what that has cost on the
// dearest of its tables.
func (a *Admin) charged(ctx *sql.Context, who string) (charges []views.Charged, losses []privacy.Loss, err error) {
	entries, err := a.o.Ledger.Entries(ctx, accounting.Filter{Principal: who, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: mostCharges})
	for _, e := range entries {
		if views.Makes(e.Statement) {
			continue
		}
		c, worst := views.Charged{Statement: e.Statement}, privacy.Loss{}
		for _, x := range e.Charges {
			if !x.Entity {
				c.Tables = append(c.Tables, x.Table)
			}
			if x.Loss.Rho >= worst.Rho {
				worst = x.Loss
			}
		}
		c.Rho = worst.Rho.Float()
		charges, losses = append(charges, c), append(losses, worst)
	}
	return charges, losses, err
}

func (a *Admin) viewSums(ctx *sql.Context, args []string) ([]sql.Row, error) {
	level := 0.95
	if len(args) > 1 {
		x, err := strconv.ParseFloat(strings.TrimSpace(args[1]), 64)
		if err != nil || !(x > 0 && x < 1) {
			return nil, refuse.New(refuse.View, "The level of an interval is a number between 0 and 1.").With("For example 0.95.")
		}
		level = x
	}
	list, err := a.o.Views.Sums(ctx, args[0], level)
	return lists.Map(list, func(s views.Sum) sql.Row { return sql.Row{s.Group, s.Column, s.Value, s.StdErr, s.Low, s.High} }), err
}

// ofView makes a procedure of a function of the view that its first argument names.
func ofView(f func(a *Admin, ctx *sql.Context, ref store.TableRef, more []string) ([]sql.Row, error)) func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error) {
	return func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error) {
		ref, err := tableRef(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return f(a, ctx, ref, args[1:])
	}
}

// newRef reads the name of what is to be made, which no table had that was protected.
func (a *Admin) newRef(ctx *sql.Context, text string) (store.TableRef, error) {
	ref, err := tableRef(ctx, text)
	if err != nil {
		return ref, err
	}
	if t := a.o.Catalog.Snapshot().Table(ref.String()); t.Account != "" {
		return ref, refuse.New(refuse.View, "The name %s belongs to a table that was protected.", ref).With("Choose another name.")
	}
	return ref, nil
}

func (a *Admin) createView(ctx *sql.Context, args []string) ([]sql.Row, error) {
	ref, err := a.newRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	o, err := views.ParseOptions(args[2])
	if err != nil {
		return nil, err
	}
	r, err := a.o.Views.Create(ctx, ref, args[1], o)
	if err != nil {
		return nil, err
	}
	if err := a.declareMade(ctx, ref, a.o.Views.Drop); err != nil {
		return nil, err
	}
	row, err := a.viewRow(ctx, *r)
	return []sql.Row{row}, err
}

// Declare makes the table of a view or a series public, if it is not.
func (a *Admin) Declare(ctx *sql.Context, ref store.TableRef) error {
	return a.o.Catalog.Public(a.o.Schema(ctx), ref.String())
}

// declareMade is Declare of a new table. It removes a release whose policy could not be recorded.
// The release stays where it is in doubt whether the policy was, or removing it fails: the next
// start records the policy.
func (a *Admin) declareMade(ctx *sql.Context, ref store.TableRef, drop func(*sql.Context, store.TableRef) error) error {
	err := a.Declare(ctx, ref)
	var doubt *durable.InDoubt
	if err == nil || errors.As(err, &doubt) {
		return err
	}
	if undo := drop(ctx, ref); undo != nil {
		return fmt.Errorf("%w, after: %v", undo, err)
	}
	return err
}

func (a *Admin) refreshView(ctx *sql.Context, ref store.TableRef, _ []string) ([]sql.Row, error) {
	r, err := a.o.Views.Refresh(ctx, ref)
	if err != nil {
		return nil, err
	}
	if r.Synthetic != nil {
		return nil, nil // whose line is of another kind: dp.synthetic has it
	}
	row, err := a.viewRow(ctx, *r)
	return []sql.Row{row}, err
}

func (a *Admin) dropView(ctx *sql.Context, ref store.TableRef, _ []string) ([]sql.Row, error) {
	return nil, a.o.Catalog.Leaving(ref.String(), func() error { return a.o.Views.Drop(ctx, ref) })
}

// viewRows makes dp.views: those that the account may see the tables of.
func (a *Admin) viewRows(ctx *sql.Context) ([]sql.Row, error) {
	return a.seenViews(ctx, false, func(r views.Record) (sql.Row, error) { return a.viewRow(ctx, r) })
}

// seenViews are the lines of the views, or the synthetic tables, whose tables the account may see.
func (a *Admin) seenViews(ctx *sql.Context, synthetic bool, line func(views.Record) (sql.Row, error)) (out []sql.Row, err error) {
	if a.o.Views == nil {
		return nil, nil
	}
	list, err := a.o.Views.List(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := a.o.StoredTables(ctx, a.seesAll(ctx))
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if (r.Synthetic != nil) != synthetic || !slices.Contains(seen, r.Ref().String()) {
			continue
		}
		row, err := line(r)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// viewRow is the line of a view: its age is told, and not whether the data have changed.
func (a *Admin) viewRow(ctx *sql.Context, r views.Record) (sql.Row, error) {
	var dimensions []string
	for _, d := range r.Dimensions {
		name := d.Column
		if slices.Contains(r.Ranges, d.At) {
			name += " (ranges)"
		}
		dimensions = append(dimensions, name)
	}
	type told struct {
		Column string   `json:"column"`
		Clip   *float64 `json:"clip"`
		Cut    float64  `json:"cut_share"`
		More   float64  `json:"cut_more"`
	}
	var measures []told
	for _, m := range r.Measures {
		t := told{Column: m.Column, Cut: m.Near, More: m.Wide}
		if m.Clip > 0 {
			t.Clip = &m.Clip
		}
		measures = append(measures, t)
	}
	text, err := json.Marshal(measures)
	if err != nil {
		return nil, err
	}
	made, err := time.Parse(time.DateTime, r.Made)
	if err != nil {
		return nil, fmt.Errorf("admin: view %s: %w", r.Ref(), err)
	}
	row := sql.Row{r.Ref().String(), r.Query, int64(r.Cells), strings.Join(dimensions, ", "), string(text), orNull(int64(r.Options.Ways)),
		orNull(r.Options.Epsilon), orNull(r.Options.Rho), orNull(r.Options.Delta), r.Owner, made, int64(time.Since(made) / time.Second), orNull(int64(r.Charge))}
	return append(row, a.scheduleCells(ctx, r.Schedule, r.Schedule.Next(a.o.Schedules.Life()))...), nil
}

// syntheticColumns are those of dp.synthetic, and of what makes a synthetic table returns.
var syntheticColumns = []column{text("table_name"), text("made_of"), text("columns"), count("synthetic_rows"), real("persons"), real("mean_error"), count("rounds"),
	real("epsilon"), real("rho"), real("delta"), text("owner"), moment("released_at"), count("age_seconds"), count("ledger_id")}

// syntheticProcedures make synthetic tables, for DBAs.
var syntheticProcedures = []procedure{
	{Procedure: Procedure{"dp_synthesize", "dp_synthesize(table, name, json)",
		"Makes a synthetic table: rows like those of a protected table, of which each person there has one, for one charge; public afterwards. The JSON has epsilon or rho, and may have delta; columns, the names of those that are made, all but those that say whose a row is where it is left out; bins, of a range of numbers or moments, 32 where it is left out; ways, the most columns of a table of counts that is measured, 2 or 3; and rows, the most that are made. Each column needs a public domain. The charge is the calling account's. Returns the table's line in dp.synthetic. dp_refresh_view makes it anew, dp_drop_view removes it.",
		`CALL dp_synthesize('shop.people', 'shop.people_syn', '{"epsilon": 1}')`},
		min: 3, max: 3, result: syntheticColumns, run: (*Admin).synthesize},
	syntheticReport,
}

// syntheticReport documents the one that is everybody's.
var syntheticReport = procedure{Procedure: Procedure{"dp_synthetic_report", "dp_synthetic_report(name)",
	"How far the rows of a synthetic table are off in each pair of columns: half of the sum of the differences between the shares of the persons and of the rows, with the standard error of its noise. It was measured with a part of the table's charge. Free; anybody may call it who sees the table.",
	"CALL dp_synthetic_report('shop.people_syn')"},
	min: 1, max: 1, result: []column{text("first_column"), text("second_column"), real("error"), real("std_error")},
	run: ofView((*Admin).syntheticErrors), may: everybody}

func (a *Admin) synthesize(ctx *sql.Context, args []string) ([]sql.Row, error) {
	of, err := tableRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	ref, err := a.newRef(ctx, args[1])
	if err != nil {
		return nil, err
	}
	o, err := views.ParseSyntheticOptions(args[2])
	if err != nil {
		return nil, err
	}
	r, err := a.o.Views.Synthesize(ctx, ref, of.String(), o)
	if err != nil {
		return nil, err
	}
	if err := a.declareMade(ctx, ref, a.o.Views.Drop); err != nil {
		return nil, err
	}
	row, err := syntheticRow(*r)
	return []sql.Row{row}, err
}

// syntheticRows makes dp.synthetic: those that the account may see the tables of.
func (a *Admin) syntheticRows(ctx *sql.Context) ([]sql.Row, error) {
	return a.seenViews(ctx, true, syntheticRow)
}

// syntheticRow is the line of a synthetic table.
func syntheticRow(r views.Record) (sql.Row, error) {
	made, err := time.Parse(time.DateTime, r.Made)
	if err != nil {
		return nil, fmt.Errorf("admin: synthetic table %s: %w", r.Ref(), err)
	}
	y := r.Synthetic
	row := sql.Row{r.Ref().String(), y.Table, strings.Join(y.Columns, ", "), int64(r.Cells), y.Total, nil, int64(y.Rounds),
		orNull(y.Options.Epsilon), orNull(y.Options.Rho), orNull(y.Options.Delta), r.Owner, made, int64(time.Since(made) / time.Second), orNull(int64(r.Charge))}
	if len(y.Pairs) > 0 {
		sum := lists.Sum(y.Pairs, func(p views.PairError) float64 { return p.Variation })
		row[5] = sum / float64(len(y.Pairs))
	}
	return row, nil
}

// syntheticErrors is the report of a synthetic table that the account sees.
func (a *Admin) syntheticErrors(ctx *sql.Context, ref store.TableRef, _ []string) ([]sql.Row, error) {
	var pairs []views.PairError
	found := false
	_, err := a.seenViews(ctx, true, func(r views.Record) (sql.Row, error) {
		if r.Ref() == ref {
			pairs, found = r.Synthetic.Pairs, true
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, refuse.New(refuse.View, "There is no synthetic table %.140s.", ref.String()).With("SELECT table_name FROM dp.synthetic lists those that there are.")
	}
	return lists.Map(pairs, func(p views.PairError) sql.Row { return sql.Row{p.First, p.Second, p.Variation, p.StdErr} }), nil
}
