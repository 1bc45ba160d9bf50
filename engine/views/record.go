package views

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/view"
	"scrim/engine/store"
	"scrim/engine/tables"
)

// Record is what is kept of a view beside its rows. All of it is public.
type Record struct {
	Schema, Name string
	Query        string
	Options      Options
	Owner        string // who pays: the account that made or refreshed it
	Made         string // UTC, in seconds: when it was made or refreshed
	Charge       uint64 // in the ledger; 0: not known
	Cells        int
	Params       view.Params
	Dimensions   []Dimension
	Measures     []Measure
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

// comment is that of the table of a view.
const comment = "DP view"

// describes reports whether a table is the view's, and not another one of its name.
func (r *Record) describes(t store.Table) bool {
	has := map[string]bool{}
	for _, c := range t.Columns {
		has[strings.ToLower(c.Name)] = true
	}
	var names []string
	for _, d := range r.Dimensions {
		names = append(names, d.Column)
	}
	for _, m := range r.Measures {
		names = append(names, ofMeasure(m.Column)...)
	}
	for _, name := range names {
		if !has[strings.ToLower(name)] {
			return false
		}
	}
	return tables.CommentOf(t) == comment && len(names) == len(t.Columns)
}

// ofMeasure are the columns of a measure: its numbers, those without bias, and their errors.
func ofMeasure(name string) []string { return []string{name, name + "_noisy", name + "_stderr"} }

// newRecord is that of a definition and what was released of it.
func newRecord(ref store.TableRef, query string, o Options, d *definition, released []sql.Row) *Record {
	r := &Record{Schema: ref.Schema, Name: ref.Name, Query: strings.TrimSpace(query), Options: o, Cells: len(released), Params: d.params}
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
