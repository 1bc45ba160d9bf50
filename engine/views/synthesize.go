package views

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator"
	"scrim/engine/estimator/synthetic"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

// SyntheticOptions say what a synthetic table may cost and what is in it.
type SyntheticOptions struct {
	Loss
	// Columns are those of the table that are made; nil: all but those that say whose a row is.
	Columns []string `json:"columns,omitempty"`
	Bins    int      `json:"bins,omitempty"` // the most of a range of numbers or moments
	Ways    int      `json:"ways,omitempty"` // the most columns of a table of counts that is measured
	Rows    int      `json:"rows,omitempty"` // the most that are made; 0: as many as the limits allow
}

// Limits and defaults of SyntheticOptions.
const (
	defaultBins = 32
	mostBins    = 1000
	defaultWays = 2
)

// ParseSyntheticOptions reads options as JSON.
func ParseSyntheticOptions(text string) (SyntheticOptions, error) {
	o := SyntheticOptions{Bins: defaultBins, Ways: defaultWays}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	no := func(cause string) (SyntheticOptions, error) {
		return o, notSynthetic(cause, `For example '{"epsilon": 1}', or '{"epsilon": 1, "columns": ["age", "city"], "bins": 16}'.`)
	}
	switch {
	case err != nil || d.More():
		return no("The options of a synthetic table are no JSON object of epsilon, rho, delta, columns, bins, ways and rows.")
	case o.Bins < 1 || o.Bins > mostBins:
		return no("The options of a synthetic table want 1 to 1000 bins.")
	case o.Ways < 2 || o.Ways > synthetic.MaxWays:
		return no("The options of a synthetic table want ways of 2 or 3.")
	case o.Rows < 0 || o.Rows > synthetic.MostRows:
		return no("The options of a synthetic table want at most 1048576 rows.")
	case o.Columns != nil && len(o.Columns) == 0:
		return no("The options of a synthetic table want one of the columns or more.")
	}
	return o, o.Loss.check("a synthetic table")
}

// Synthetic is what is kept of a synthetic table beside its rows. All of it is public.
type Synthetic struct {
	Table   string // that it was made of
	Options SyntheticOptions
	Columns []string
	Rounds  int
	Total   float64 // noisy number of persons
	Pairs   []PairError
}

// PairError is how far the rows are off in a pair of columns: half of the sum of the differences
// between the shares of the persons and of the rows, with noise of a standard deviation.
type PairError struct {
	First, Second     string
	Variation, StdErr float64
}

// Synthesize makes a synthetic table: it charges for it, and makes a table of what is released.
func (v *Views) Synthesize(ctx *sql.Context, ref store.TableRef, table string, o SyntheticOptions) (*Record, error) {
	free, err := v.take(ctx, v.st, v.Tables, ref)
	if err != nil {
		return nil, err
	}
	defer free()
	return v.synthesize(ctx, ref, table, o, false)
}

// synthesize charges for a synthetic table, and makes or replaces it.
func (v *Views) synthesize(ctx *sql.Context, ref store.TableRef, table string, o SyntheticOptions, replaces bool) (*Record, error) {
	columns, err := v.codes(ctx, table, o)
	if err != nil {
		return nil, err
	}
	made := tables.Made{Ref: ref, Comment: syntheticComment}
	for _, c := range columns {
		made.Columns = append(made.Columns, &sql.Column{Name: c.name, Type: c.typ, Nullable: true})
	}
	if err := made.Check(ctx); err != nil {
		return nil, err
	}
	budget, node, err := v.planRows(ctx, table, columns, o)
	if err != nil {
		return nil, err
	}
	st := budget.Statement
	st.Text = syntheticText + ref.String() + " OF " + table
	if err := plan.Verify(ctx, st, budget); err != nil {
		return nil, err
	}
	rows, err := v.perform(ctx, st, *node)
	if err != nil {
		return nil, err
	}
	e, ok := rows[0][0].(estimator.Estimate)
	if !ok {
		return nil, refuse.New(refuse.View, "The table %s is not made.", ref).With("Ask again.")
	}
	result := synthetic.ResultOf(e, len(columns))
	made.Rows = decoded(columns, result.Rows)
	return v.keep(ctx, made, newSyntheticRecord(table, o, columns, result), st, replaces)
}

// planRows plans the release with the rights of the session.
func (v *Views) planRows(ctx *sql.Context, table string, columns []coded, o SyntheticOptions) (*plan.Budget, *plan.DPAggregate, error) {
	schema, name, _ := strings.Cut(table, ".")
	y := settings.Synthetic{Ways: o.Ways, Rows: o.Rows}
	var codes []string
	for _, c := range columns {
		y.Columns = append(y.Columns, settings.Coded{Name: c.name, Size: len(c.cases)})
		codes = append(codes, c.expression())
	}
	query := "SELECT DP_MEAN(DP_VECTOR(" + sqltext.List(codes) + "), 'method=clipped') FROM " + sqltext.Name(schema) + "." + sqltext.Name(name)
	text, err := o.Loss.statement(query)
	if err != nil {
		return nil, nil, err
	}
	parsed, _, _, err := v.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, nil, mysqlerr.OfParser(err)
	}
	n, err := planner.Analyze(settings.WithSynthetic(ctx, y), v.Engine, text, parsed.(sqlparser.SelectStatement))
	if err != nil {
		return nil, nil, err
	}
	b, ok := n.(*plan.Budget)
	if !ok {
		return nil, nil, notSynthetic("The table "+table+" is read raw.", "SET dp_raw = OFF.")
	}
	return b, aggregateOf(b.Child), nil
}

// aggregateOf finds the release under what only shows it.
func aggregateOf(n sql.Node) *plan.DPAggregate {
	for {
		if a, ok := n.(*plan.DPAggregate); ok {
			return a
		}
		n = n.Children()[0]
	}
}

// decoded are the rows in values. What is drawn within bins follows from the rows, so that an
// answer that is kept makes the same table again.
func decoded(columns []coded, rows [][]uint16) []sql.Row {
	h := fnv.New64a()
	for _, r := range rows {
		for _, code := range r {
			_, _ = h.Write([]byte{byte(code), byte(code >> 8)})
		}
	}
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(len(rows))))
	out := make([]sql.Row, len(rows))
	for i, codes := range rows {
		out[i] = make(sql.Row, len(columns))
		for k, c := range columns {
			out[i][k] = c.value(int(codes[k]), r)
		}
	}
	return out
}

// newSyntheticRecord is that of what was released.
func newSyntheticRecord(table string, o SyntheticOptions, columns []coded, result synthetic.Result) *Record {
	y := &Synthetic{Table: table, Options: o, Rounds: len(result.Rounds), Total: result.Total}
	y.Columns = append(y.Columns, lists.Map(columns, func(c coded) string { return c.name })...)
	for _, p := range result.Pairs {
		y.Pairs = append(y.Pairs, PairError{columns[p.Columns[0]].name, columns[p.Columns[1]].name, p.Variation, p.StdErr})
	}
	return &Record{Cells: len(result.Rows), Synthetic: y}
}
