package views

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/view"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/lists"
)

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
