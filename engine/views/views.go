package views

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/estimator/view"
	"scrim/engine/exec"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/planner/keys"
	"scrim/planner/plan"
)

// bucket is that of the store's entries of views, by store.TableKey.
const bucket = "dp views"

// Views are the views of one store. They are safe for concurrent use.
type Views struct {
	Engine *sqle.Engine // plans definitions
	Runner *exec.Executor
	Tables *tables.Provider
	// Policy tells what a table is declared to be, and Domains what values a public column has.
	Policy  func(table string) catalog.Table
	Domains keys.DomainSource
	// Life is that of the data directory (datadir.Directory.Life): schedules of another one rest.
	Life string

	st store.Store
	shelf[Record]
}

// viewWords are how refusals name a view.
var viewWords = words{"view", "refreshed or dropped", "CALL dp_refresh_view('%s') releases a view anew, and CALL dp_drop_view('%s') removes it."}

// Open reads the views of a store. One that has gone with its database is forgotten: a table that
// has its name now is not a view's, and nobody has said that it is public.
func Open(ctx context.Context, st store.Store) (*Views, error) {
	s, err := st.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	held, err := described(ctx, st, s, bucket, (*Record).Ref, (*Record).describes)
	if err != nil {
		return nil, err
	}
	return &Views{st: st, shelf: newShelf(held, viewWords)}, nil
}

// List returns the views in the order of their names. What has gone with its database is left out.
func (v *Views) List(ctx *sql.Context) ([]Record, error) { return v.list(ctx, v.st) }

// Create makes a view: it charges for its definition, and makes a table of what is released.
func (v *Views) Create(ctx *sql.Context, ref store.TableRef, query string, o Options) (*Record, error) {
	free, err := v.take(ctx, v.st, v.Tables, ref)
	if err != nil {
		return nil, err
	}
	defer free()
	return v.make(ctx, ref, query, o, making{schedule: v.scheduled(ctx, o.Refresh, time.Now())})
}

// Statement plans what makes a view, and makes nothing.
func (v *Views) Statement(ctx *sql.Context, query, options string) (*plan.Statement, error) {
	o, err := ParseOptions(options)
	if err != nil {
		return nil, err
	}
	d, err := v.define(ctx, query, o)
	if err != nil {
		return nil, err
	}
	return d.budget.Statement, nil
}

// making is how a table is made.
type making struct {
	replaces bool
	kept     bool // of the answer that is kept only, for nothing
	schedule *Schedule
}

// make charges for a definition, and makes or replaces the table.
func (v *Views) make(ctx *sql.Context, ref store.TableRef, query string, o Options, how making) (*Record, error) {
	d, err := v.define(ctx, query, o)
	if err != nil {
		return nil, err
	}
	made := tables.Made{Ref: ref, Comment: comment, Columns: d.schema()}
	if err := made.Check(ctx); err != nil {
		return nil, err
	}
	st := d.budget.Statement
	st.Text = viewText + ref.String() + " AS " + strings.TrimSpace(query)
	if err := plan.Verify(ctx, st, d.budget); err != nil {
		return nil, err
	}
	if how.kept && !v.answered(ctx, st) {
		return nil, refuse.New(refuse.View, "The view %s was charged for before the server ended, and its answer was not kept, or is not of the data of now.", ref).
			With("It is not charged again for the same time. CALL dp_refresh_view('%s') releases the data of now, for a charge.", ref)
	}
	node := *d.node
	node.Feasible = nil // the cells that no row can be in have a part of the noise
	released, err := v.perform(ctx, st, node)
	if err != nil {
		return nil, err
	}
	rows, ok := d.rows(released)
	if !ok {
		return nil, refuse.New(refuse.View, "The view %s is not made: by noisy numbers there are too few persons for cells at this loss. The charge stands.", ref).
			With("Define it with a larger epsilon, or on more persons.")
	}
	made.Rows = rows
	r := newRecord(query, o, d, released)
	r.Schedule = how.schedule
	r, err = v.keep(ctx, made, r, st, how.replaces)
	if partial := d.node.Release.Partial; err == nil && len(partial) > 0 {
		remark.Add(ctx, remark.New(remark.InNoCell, "Rows on which one of %s is NULL, or made of NULL, if there are any, are in none of the cells of %s, and statements that count them are not answered from it.",
			strings.Join(partial, ", "), ref))
	}
	return r, err
}

// answered reports whether a statement has an answer that is kept, so that it costs nothing.
func (v *Views) answered(ctx *sql.Context, st *plan.Statement) bool {
	charge, _ := v.Runner.Paid(ctx, st)
	return charge != 0
}

// keep makes or replaces the table of what a statement released, with its record.
func (v *Views) keep(ctx *sql.Context, made tables.Made, r *Record, st *plan.Statement, replaces bool) (*Record, error) {
	r.Schema, r.Name = made.Ref.Schema, made.Ref.Name
	r.Owner, r.Made, r.Database = session.Principal(ctx), time.Now().UTC().Format(time.DateTime), ctx.GetCurrentDatabase()
	r.Charge, r.Versions = v.Runner.Paid(ctx, st)
	err := v.Tables.Make(ctx, made, replaces, func(s store.Session) error { return r.write(ctx, s) })
	if err != nil {
		return nil, err
	}
	v.put(made.Ref, r)
	return r, nil
}

// perform runs a statement of one release: charged first, and all cells in the order of its keys.
func (v *Views) perform(ctx *sql.Context, st *plan.Statement, node plan.DPAggregate) ([]sql.Row, error) {
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	e, err := v.Runner.Begin(ctx, st)
	if err != nil {
		return nil, err
	}
	ctx = plan.Reserved(ctx, st, e)
	iter, err := node.RowIter(ctx, nil)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, iter)
}

// Refresh releases a view anew from the data of now, for another charge of the session's account.
// While the data are the same that is the answer that is kept, for nothing.
func (v *Views) Refresh(ctx *sql.Context, ref store.TableRef) (*Record, error) {
	r, free, err := v.alone(ref)
	if err != nil {
		return nil, err
	}
	defer free()
	if y := r.Synthetic; y != nil {
		return v.synthesize(ctx, ref, y.Table, y.Options, true)
	}
	return v.make(ctx, ref, r.Query, r.Options, making{replaces: true, schedule: r.Schedule})
}

// Drop removes a view with its table. What it has cost stays spent.
func (v *Views) Drop(ctx *sql.Context, ref store.TableRef) error {
	_, free, err := v.alone(ref)
	if err != nil {
		return err
	}
	defer free()
	err = v.Tables.DropMade(ctx, ref, func(s store.Session) error {
		return s.Meta().Delete(ctx, bucket, store.TableKey(ref))
	})
	if err == nil {
		v.remove(ref)
	}
	return err
}

// within runs a change in one transaction of a session of its own.
func (v *Views) within(ctx context.Context, change func(store.Session) error) error {
	s, err := v.st.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close() // rolls back what did not commit
	if err := s.Begin(ctx); err != nil {
		return err
	}
	if err := change(s); err != nil {
		return err
	}
	return s.Commit(ctx)
}

// What the ledger's statements of charges for tables begin with.
const (
	viewText      = "VIEW "
	totalsText    = "TOTALS "
	syntheticText = "SYNTHETIC TABLE "
)

// Makes reports whether a statement of the ledger made a public table of what it released.
func Makes(statement string) bool {
	return slices.ContainsFunc([]string{viewText, totalsText, syntheticText}, func(begin string) bool { return strings.HasPrefix(statement, begin) })
}

// Record is what is kept of a view beside its rows. All of it is public.
type Record struct {
	Schema, Name string
	Query        string
	Options      Options
	Owner        string // who pays: the account that made or refreshed it
	Made         string // UTC, in seconds: when it was made or refreshed
	Charge       uint64 // in the ledger; 0: not known
	// Database was the current one of the session that made it. Asked is the digest of what was
	// asked (plan.Release.Asked), Reads the tables and Versions their versions as it was released;
	// nil: not known. Sets are the marginals by places of dimensions.
	Database string
	Asked    string
	Reads    []store.TableRef
	Versions []string
	Sets     [][]int
	// Ranges are the dimensions of ranges by places, and Orders the names of their values in their
	// order, by places; nil of others.
	Ranges     []int      `json:",omitempty"`
	Orders     [][]string `json:",omitempty"`
	Cells      int        // or rows
	Params     view.Params
	Dimensions []Dimension
	Measures   []Measure
	// Synthetic is set of a synthetic table, of which Query, Options, Params, Dimensions and
	// Measures say nothing.
	Synthetic *Synthetic `json:",omitempty"`
	Schedule  *Schedule  `json:",omitempty"` // nil: nobody refreshes it but who asks for it
}

// Dimension is a column of a view by which its cells are told apart.
type Dimension struct {
	Column string
	At     int // among Params.Dims
}

// Measure is what a view tells of each cell.
type Measure struct {
	Column string
	At     int     // among Params.Measures
	Clip   float64 // see view.Cell; 0: none was needed
	Near   float64
	Wide   float64
}

// Ref is the view's table.
func (r *Record) Ref() store.TableRef { return store.TableRef{Schema: r.Schema, Name: r.Name} }

// write keeps the record, in the session's transaction.
func (r *Record) write(ctx context.Context, s store.Session) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.Meta().Put(ctx, bucket, store.TableKey(r.Ref()), value)
}

// comment is that of the table of a view.
const comment = "DP view"

// syntheticComment is that of a synthetic table.
const syntheticComment = "DP synthetic table"

// describes reports whether a table is the view's, and not another one of its name.
func (r *Record) describes(t store.Table) bool {
	has := lists.Set(lists.Map(t.Columns, func(c store.Column) string { return strings.ToLower(c.Name) }))
	var names []string
	as := comment
	if r.Synthetic != nil {
		as, names = syntheticComment, r.Synthetic.Columns
	}
	names = append(names, lists.Map(r.Dimensions, func(d Dimension) string { return d.Column })...)
	for _, m := range r.Measures {
		names = append(names, ofMeasure(m.Column)...)
	}
	if slices.ContainsFunc(names, func(name string) bool { return !has[strings.ToLower(name)] }) {
		return false
	}
	return tables.CommentOf(t) == as && len(names) == len(t.Columns)
}

// ofMeasure are the columns of a measure: its numbers, those without bias, and their errors.
func ofMeasure(name string) []string { return []string{name, name + "_noisy", name + "_stderr"} }

// newRecord is that of a definition and what was released of it.
func newRecord(query string, o Options, d *definition, released []sql.Row) *Record {
	r := &Record{Query: strings.TrimSpace(query), Options: o, Cells: len(released), Params: d.params,
		Asked: d.node.Release.Asked, Reads: d.node.Release.Reads, Sets: d.sets, Ranges: d.ranges}
	r.Orders = d.orders(released)
	for _, c := range d.columns {
		if c.dimension >= 0 {
			r.Dimensions = append(r.Dimensions, Dimension{c.name, c.dimension})
			continue
		}
		cell, _ := released[0][c.at].(view.Cell)
		m := Measure{Column: c.name, At: c.measure, Clip: cell.Clip, Near: cell.Near, Wide: cell.Wide}
		if math.IsNaN(m.Clip) {
			m.Clip = 0
		}
		r.Measures = append(r.Measures, m)
	}
	return r
}
