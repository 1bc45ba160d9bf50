package admin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/views"
	"scrim/internal/refuse"
)

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
	run: (*Admin).syntheticErrors, may: func(*Admin, *sql.Context) error { return nil }}

func (a *Admin) synthesize(ctx *sql.Context, args []string) ([]sql.Row, error) {
	of, err := viewRef(ctx, args[0])
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
	if err := a.DeclareView(ctx, *r); err != nil {
		return nil, errors.Join(err, a.o.Views.Drop(ctx, ref))
	}
	row, err := syntheticRow(*r)
	return []sql.Row{row}, err
}

// syntheticRows makes dp.synthetic: those that the account may see the tables of.
func (a *Admin) syntheticRows(ctx *sql.Context) ([]sql.Row, error) {
	list, err := a.seenViews(ctx, true)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for _, r := range list {
		row, err := syntheticRow(r)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// syntheticRow is the line of a synthetic table.
func syntheticRow(r views.Record) (sql.Row, error) {
	made, err := time.Parse(time.DateTime, r.Made)
	if err != nil {
		return nil, fmt.Errorf("admin: synthetic table %s: %w", r.Ref(), err)
	}
	y := r.Synthetic
	row := sql.Row{r.Ref().String(), y.Table, strings.Join(y.Columns, ", "), int64(r.Cells), y.Total, nil, int64(y.Rounds),
		positive(y.Options.Epsilon), positive(y.Options.Rho), positive(y.Options.Delta), r.Owner, made, int64(time.Since(made) / time.Second), nil}
	if len(y.Pairs) > 0 {
		sum := 0.0
		for _, p := range y.Pairs {
			sum += p.Variation
		}
		row[5] = sum / float64(len(y.Pairs))
	}
	if r.Charge > 0 {
		row[13] = int64(r.Charge)
	}
	return row, nil
}

// syntheticErrors is the report of a synthetic table that the account sees.
func (a *Admin) syntheticErrors(ctx *sql.Context, args []string) ([]sql.Row, error) {
	ref, err := viewRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	list, err := a.seenViews(ctx, true)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(r views.Record) bool { return r.Ref() == ref })
	if at < 0 {
		return nil, refuse.New(refuse.View, "There is no synthetic table %.140s.", ref.String()).With("SELECT table_name FROM dp.synthetic lists those that there are.")
	}
	var out []sql.Row
	for _, p := range list[at].Synthetic.Pairs {
		out = append(out, sql.Row{p.First, p.Second, p.Variation, p.StdErr})
	}
	return out, nil
}
