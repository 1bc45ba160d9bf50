package views

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/view"
	"scrim/engine/store"
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
