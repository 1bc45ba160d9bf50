package synthetic

import (
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/scalar"
)

// Limits on what is public. More is refused by New.
const (
	MaxColumns = 32
	MaxValues  = 1 << 12 // of a column
	MaxWays    = 3
	// MaxCells is the number of cells of all tables that may be measured together beyond which a
	// release is refused, where Params.Cells does not say less.
	MaxCells = 1 << 25
	// CellBytes is about what a cell takes: exact, of the rows, twice, and where it is measured its
	// target and how far the rows are off.
	CellBytes = 40
	// CodeBytes is about what a code of a row takes: itself, as a number of the answer, as that is
	// kept, and as a value of a row of a table, twice.
	CodeBytes = 2 + 8 + 16 + 2*40
	// MostRows is the most rows that are made, and mostCodes the most values in them.
	MostRows  = 1 << 20
	mostCodes = 1 << 23
	// fitCodes is the most values in the rows that are moved; where more rows are made each of
	// these is repeated. With sweepWork it bounds the time of a round, by a second or two.
	fitCodes = 1 << 20
	// mostCells is the number of cells beyond which a table of three columns is never measured: a
	// count in it is nearly all noise, and finding out takes longer than it is worth.
	mostCells = 1 << 14
)

// Params are the public facts under which a table is made. The input is a dense block of one vector
// a person: the number of the person's value in each column.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Columns  []cube.Dimension
	// Ways is the most columns of a table that may be measured, 2 or MaxWays; the workload is all
	// tables of so many columns.
	Ways int
	// Rows is the most rows that are made; 0: as many as the limits allow. Where the noisy number
	// of persons is larger each row stands for more than one.
	Rows  int
	Cells int64 // the most cells of the tables that may be measured; 0: MaxCells
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if err := scalar.CheckPure(estimator.Params{Rho: p.Rho, Relation: p.Relation}, false); err != nil {
		return err
	}
	switch {
	case len(p.Columns) == 0 || len(p.Columns) > MaxColumns:
		return fmt.Errorf("synthetic: want 1 to %d columns, have %d", MaxColumns, len(p.Columns))
	case p.Ways < 2 || p.Ways > MaxWays:
		return fmt.Errorf("synthetic: want tables of 2 to %d columns, have %d", MaxWays, p.Ways)
	case p.Rows < 0 || p.Rows > MostRows:
		return fmt.Errorf("synthetic: want 0 to %d rows, have %d", MostRows, p.Rows)
	case p.Cells < 0 || p.Cells > MaxCells:
		return fmt.Errorf("synthetic: want a limit of 0 to %d cells, have %d", MaxCells, p.Cells)
	}
	for _, c := range p.Columns {
		if c.Size < 1 || c.Size > MaxValues {
			return fmt.Errorf("synthetic: want 1 to %d values of %s, have %d", MaxValues, c.Name, c.Size)
		}
	}
	return nil
}

// mostRows is the most rows that are made.
func (p Params) mostRows() int {
	most := min(MostRows, mostCodes/len(p.Columns))
	if p.Rows > 0 {
		most = min(most, p.Rows)
	}
	return most
}

// candidates are the tables that may be measured, those of fewer columns first.
func (p Params) candidates() ([]table, error) {
	var out []table
	total, by := 0.0, make([]float64, len(p.Columns))
	add := func(columns ...int) {
		t := newTable(p.Columns, columns)
		if len(columns) > 2 && t.cells > mostCells {
			return
		}
		total += float64(t.cells)
		for _, i := range columns {
			by[i] += float64(t.cells)
		}
		out = append(out, t)
	}
	each(len(p.Columns), p.Ways, add)
	limit := float64(p.Cells)
	if limit == 0 {
		limit = MaxCells
	}
	if total <= limit {
		return out, nil
	}
	worst := 0
	for i, n := range by {
		if n > by[worst] {
			worst = i
		}
	}
	return nil, &cube.TooLarge{Cells: total, Limit: limit, Coarsen: p.Columns[worst].Name}
}

// each calls f with all sets of one up to ways of n columns, smaller ones first; ways is 2 or 3.
func each(n, ways int, f func(columns ...int)) {
	for i := range n {
		f(i)
	}
	for i := 0; i < n; i++ {
		for j := i + 1; j < n; j++ {
			f(i, j)
		}
	}
	for i := 0; i < n && ways > 2; i++ {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				f(i, j, k)
			}
		}
	}
}
