package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator/continual"
	"scrim/engine/estimator/view"
	"scrim/engine/mysql/mysqlerr"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

// definition is a planned definition.
type definition struct {
	budget  *plan.Budget
	sets    [][]int // the marginals by places of dimensions
	ranges  []int   // the dimensions of ranges by places
	node    *plan.DPAggregate
	params  view.Params       // of a view
	series  *continual.Series // nil of a view
	columns []defined
	names   func(defined) []string // of the table's columns that a column becomes
}

// defined is one column of a definition.
type defined struct {
	name      string
	typ       sql.Type
	at        int // column of the node
	dimension int // of the cube, -1 of a measure
	measure   int
}

// define plans a definition with the rights of the session: where marginals or ranges are named,
// once to see which dimensions they are of.
func (v *Views) define(ctx *sql.Context, query string, o Options) (*definition, error) {
	d, err := v.planned(ctx, query, o.Loss, o.planned(nil, nil))
	if err != nil || o.Marginals == nil && o.Ranges == nil {
		return d, err
	}
	sets, err := o.sets(d.columns)
	if err != nil {
		return nil, err
	}
	ranges, err := o.ranges(d.columns)
	if err != nil {
		return nil, err
	}
	return v.planned(ctx, query, o.Loss, o.planned(sets, ranges))
}

// planned plans a definition at a loss.
func (v *Views) planned(ctx *sql.Context, query string, l Loss, as settings.View) (*definition, error) {
	text, err := l.statement(query)
	if err != nil {
		return nil, err
	}
	parsed, _, rest, err := v.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	sel, ok := parsed.(sqlparser.SelectStatement)
	if !ok || rest != "" || sel.GetInto() != nil {
		return nil, notDefined("The definition of a view is not one SELECT.", example)
	}
	n, err := planner.Analyze(settings.WithView(ctx, as), v.Engine, text, parsed)
	if err != nil {
		return nil, err
	}
	b, ok := n.(*plan.Budget)
	switch {
	case !ok && as.Series != nil:
		return nil, notDefined("The definition of the series reads no protected table, or reads it raw.", "SET dp_raw = OFF. "+daily)
	case !ok:
		return nil, notDefined("The definition of the view reads no protected table, or reads it raw.", "CREATE VIEW makes views of public tables; SET dp_raw = OFF.")
	}
	d := &definition{budget: b, sets: as.Sets, ranges: as.Ranges, names: (defined).ofView}
	if as.Series != nil {
		d.names = (defined).ofSeries
	}
	return d, d.read(ctx, b.Child)
}

// planned is how a definition with these marginals and dimensions of ranges is planned.
func (o Options) planned(sets [][]int, ranges []int) settings.View {
	if o.Ways == 0 {
		return settings.View{Ways: allWays, Sets: sets, Ranges: ranges}
	}
	return settings.View{Ways: o.Ways, Sets: sets, Ranges: ranges}
}

// allWays stands for the marginals of all dimensions.
const allWays = 1 << 30

const example = "For example SELECT region, DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2."

// read finds the columns: keys and aggregates under their names, with nothing made of them.
func (d *definition) read(ctx *sql.Context, n sql.Node) error {
	plain := notDefined("The definition of a view is more than columns, COUNT and SUM over a GROUP BY.",
		"Leave out HAVING, ORDER BY, LIMIT, and what is computed from aggregates: "+example)
	p, ok := n.(*gmsplan.Project)
	if !ok {
		return plain
	}
	if d.node, ok = p.Child.(*plan.DPAggregate); !ok || len(d.budget.Statement.Releases) != 1 {
		return plain
	}
	r := d.node.Release
	if len(r.Aggregates) != 1 {
		return plain
	}
	if d.series, ok = continual.Of(r.Aggregates[0].Estimator); !ok {
		if d.params, ok = view.ParamsOf(r.Aggregates[0].Estimator); !ok {
			return plain
		}
	}
	seen := map[string]bool{}
	dimensions := 0
	for i, e := range p.Projections {
		f, ok := fieldOf(e)
		if !ok {
			return plain
		}
		c := defined{name: p.Schema(ctx)[i].Name, at: -1, dimension: -1, measure: -1}
		for k, x := range d.node.Exprs {
			if x, ok := x.(*expression.GetField); ok && x.Id() == f.Id() {
				c.at, c.typ = k, d.node.Shown[k].Type
			}
		}
		if c.at < 0 {
			return plain
		}
		o := r.Output[d.node.Columns[c.at]]
		switch {
		case o.Key >= 0:
			c.dimension = o.Key
			dimensions++
		case o.Aggregate == 0:
			c.measure, c.typ = o.Part, types.Float64
		default:
			return plain
		}
		for _, name := range d.names(c) {
			if seen[strings.ToLower(name)] {
				return notDefined("The view has two columns "+name+".", "Give them names: SELECT … AS name.")
			}
			seen[strings.ToLower(name)] = true
		}
		d.columns = append(d.columns, c)
	}
	if dimensions != len(r.Keys) || dimensions == len(d.columns) {
		return notDefined("The definition of a view has every column of its GROUP BY once, and COUNT or SUM beside them.", example)
	}
	return nil
}

// fieldOf is the column that an expression shows as it is.
func fieldOf(e sql.Expression) (*expression.GetField, bool) {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	f, ok := e.(*expression.GetField)
	return f, ok
}

// ofView are the columns of a view that a column of the definition becomes.
func (c defined) ofView() []string {
	if c.dimension >= 0 {
		return []string{c.name}
	}
	return ofMeasure(c.name)
}

// ofSeries are those of the table of a series.
func (c defined) ofSeries() []string {
	if c.dimension >= 0 {
		return []string{c.name}
	}
	return ofTotals(c.name)
}

// schema is that of the table.
func (d *definition) schema() sql.Schema {
	var out sql.Schema
	for _, c := range d.columns {
		for _, name := range d.names(c) {
			out = append(out, &sql.Column{Name: name, Type: c.typ, Nullable: true})
		}
	}
	return out
}

// rows are the view's rows of what was released; ok is false where persons were too few.
func (d *definition) rows(released []sql.Row) (rows []sql.Row, ok bool) {
	for _, from := range released {
		var row sql.Row
		for _, c := range d.columns {
			if c.dimension >= 0 {
				row = append(row, from[c.at])
				continue
			}
			cell, ok := from[c.at].(view.Cell)
			if !ok {
				return nil, false
			}
			row = append(row, cell.Fit, cell.Raw, cell.StdErr)
		}
		rows = append(rows, row)
	}
	return rows, len(rows) > 0
}

// Loss is what a definition may cost.
type Loss struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Rho     float64 `json:"rho,omitempty"` // in place of Epsilon
	Delta   float64 `json:"delta,omitempty"`
}

// check refuses a loss that is not one; of says what it is the loss of.
func (l Loss) check(of string) error {
	switch {
	case (l.Epsilon == 0) == (l.Rho == 0):
		return refuse.New(refuse.View, "The options of %s want either epsilon or rho.", of)
	case !within(l.Epsilon, params.Epsilon) || !within(l.Rho, params.Rho) || !within(l.Delta, params.Delta):
		return refuse.New(refuse.View, "The options of %s want an %s, %s or %s within its range.", of, params.Epsilon.Name, params.Rho.Name, params.Delta.Name)
	}
	return nil
}

// Options say what a view may cost and which marginals it is for.
type Options struct {
	Loss
	Ways int `json:"ways,omitempty"` // marginals of up to so many dimensions; 0: of all
	// Marginals are those that are asked for, in the place of Ways, by the names of dimensions.
	Marginals [][]string `json:"marginals,omitempty"`
	// Ranges names dimensions along which sums over intervals have little noise.
	Ranges  []string `json:"ranges,omitempty"`
	Refresh Every    `json:"refresh,omitempty"` // "": only when somebody asks for it
}

// ParseOptions reads options as JSON.
func ParseOptions(text string) (Options, error) {
	var o Options
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	switch {
	case err != nil || d.More():
		return o, notOptions("The options of a view are no JSON object of epsilon, rho, delta, refresh, ranges, and ways or marginals.")
	case o.Ways < 0 || o.Ways > 0 && o.Marginals != nil:
		return o, notOptions("The options of a view want ways of 1 or more, or marginals, and not both.")
	case o.Ranges != nil && len(o.Ranges) == 0:
		return o, notOptions("The options of a view want one dimension in ranges or more.")
	case o.Marginals != nil && len(o.Marginals) == 0:
		return o, notOptions("The options of a view want one of the marginals or more.")
	}
	if err := o.Refresh.check(); err != nil {
		return o, err
	}
	return o, o.Loss.check("a view")
}

// sets are the marginals by places of dimensions.
func (o Options) sets(columns []defined) ([][]int, error) {
	var out [][]int
	seen := map[string]bool{}
	for _, names := range o.Marginals {
		set, ok := placesOf(names, columns)
		if !ok {
			return nil, notOptions("The marginal (%.200s) does not name dimensions of the view, each once.", strings.Join(names, ", "))
		}
		text := fmt.Sprint(set)
		if len(set) == 0 || seen[text] {
			return nil, notOptions("The marginal (%.200s) is empty, or there twice.", strings.Join(names, ", "))
		}
		seen[text] = true
		out = append(out, set)
	}
	return out, nil
}

// ranges are the dimensions of ranges, by places.
func (o Options) ranges(columns []defined) ([]int, error) {
	places, ok := placesOf(o.Ranges, columns)
	if !ok {
		return nil, notOptions("The ranges (%.200s) do not name dimensions of the view, each once.", strings.Join(o.Ranges, ", "))
	}
	return places, nil
}

// placesOf are the places of dimensions by their names, in rising order; ok is false where a name
// is of none, or there twice.
func placesOf(names []string, columns []defined) (places []int, ok bool) {
	for _, name := range names {
		at := slices.IndexFunc(columns, func(c defined) bool { return c.dimension >= 0 && strings.EqualFold(c.name, name) })
		if at < 0 || slices.Contains(places, columns[at].dimension) {
			return nil, false
		}
		places = append(places, columns[at].dimension)
	}
	slices.Sort(places)
	return places, true
}

// within reports whether a number that is given is in the range of its parameter.
func within(x float64, p *params.Parameter) bool {
	return x == 0 || x >= p.Min && x <= p.Max && !math.IsNaN(x)
}

func notOptions(format string, args ...any) error {
	return refuse.New(refuse.View, format, args...).With(`For example '{"epsilon": 1, "ways": 2}'.`)
}

// selects finds the word that a definition begins with.
var selects = regexp.MustCompile(`(?i)^\s*SELECT\b`)

// statement is the definition with the loss.
func (o Loss) statement(query string) (string, error) {
	at := selects.FindStringIndex(query)
	if at == nil || strings.HasPrefix(strings.TrimSpace(query[at[1]:]), "/*") {
		return "", notDefined("The definition of a view is no plain SELECT.", "It begins with SELECT, without hints: the options say what it may cost.")
	}
	var hints []string
	for _, h := range []struct {
		p *params.Parameter
		x float64
	}{{params.Epsilon, o.Epsilon}, {params.Rho, o.Rho}, {params.Delta, o.Delta}} {
		if h.x != 0 {
			hints = append(hints, fmt.Sprintf("SET_VAR(%s=%s)", h.p.Name, strconv.FormatFloat(h.x, 'g', -1, 64)))
		}
	}
	return query[:at[1]] + " /*+ " + strings.Join(hints, " ") + " */" + query[at[1]:], nil
}

func notDefined(cause, remedy string) error {
	return refuse.New(refuse.View, "%s", cause).With("%s", remedy)
}
