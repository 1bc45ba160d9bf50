package cube

import (
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Dimension is a column with public values.
type Dimension struct {
	Name string // for messages
	Size int    // number of values, at least 1
	// Ranges says that the values have an order, and that sums over intervals of them are wanted:
	// the noise along the dimension is such that these have little. See strategy.
	Ranges bool `json:",omitempty"`
}

// Marginal is a table that is wanted.
type Marginal struct {
	Set    Set
	Weight float64 // 1e-6 to 1e6: how much the variance of one of its cells counts
}

// Limits on what is public. A cube of more is refused by New.
const (
	MaxDimensions = 16
	// MaxCells is the number of cells of all residuals together beyond which a cube is refused,
	// where Params.Cells does not say less. A release holds about CellBytes for each.
	MaxCells = 1 << 26
	// CellBytes is the memory for a cell while a cube is made non-negative, which takes more than
	// its release: residuals as released and as corrected, tables, two arrays of prices, and
	// copies.
	CellBytes = 72
	maxRows   = 1 << 30
	minWeight = 1e-6
	maxWeight = 1e6
)

// Params are the public facts under which a cube is built.
type Params struct {
	Dims     []Dimension
	Workload []Marginal // no set twice
	Rho      float64    // zCDP of one release of the whole cube
	Relation estimator.Relation
	// Rows is 0 where every person has one row at most. Else a person may have any number of rows
	// in any cells: vectors longer than that of this number of rows in one cell are shortened to
	// it, lengths being what a vector costs. See Tally.
	Rows int64
	// Signed says that a person's entries may be under 0, as in sums of numbers that may be. It is
	// for persons of several rows alone.
	Signed bool
	Cells  int64 // the most cells of all residuals together; 0: MaxCells
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if err := scalar.CheckPure(estimator.Params{Rho: p.Rho, Relation: p.Relation}, false); err != nil {
		return err
	}
	switch {
	case len(p.Dims) == 0 || len(p.Dims) > MaxDimensions:
		return fmt.Errorf("cube: want 1 to %d dimensions, have %d", MaxDimensions, len(p.Dims))
	case len(p.Workload) == 0:
		return fmt.Errorf("cube: want one marginal or more, have none")
	case p.Rows < 0 || p.Rows > maxRows:
		return fmt.Errorf("cube: want 0 to %d rows a person, have %d", maxRows, p.Rows)
	case p.Signed && p.Rows == 0:
		return fmt.Errorf("cube: want a number of rows where entries may be under 0")
	case p.Cells < 0 || p.Cells > MaxCells:
		return fmt.Errorf("cube: want a limit of 0 to %d cells, have %d", MaxCells, p.Cells)
	}
	for _, d := range p.Dims {
		if d.Size < 1 || d.Size > MaxCells {
			return fmt.Errorf("cube: want 1 to %d values of %s, have %d", MaxCells, d.Name, d.Size)
		}
		if d.Ranges && d.Size > MaxRanges {
			return fmt.Errorf("cube: want 1 to %d values of %s for ranges, have %d", MaxRanges, d.Name, d.Size)
		}
	}
	return p.checkWorkload()
}

func (p Params) checkWorkload() error {
	seen := map[Set]bool{}
	for _, m := range p.Workload {
		switch {
		case m.Set>>len(p.Dims) != 0:
			return fmt.Errorf("cube: want dimensions under %d, have the set %b", len(p.Dims), m.Set)
		case seen[m.Set]:
			return fmt.Errorf("cube: the marginal by (%s) is asked for twice", m.Set.names(p.Dims))
		case !(m.Weight >= minWeight && m.Weight <= maxWeight):
			return fmt.Errorf("cube: want a weight of 1e-6 to 1e6 of the marginal by (%s), have %v", m.Set.names(p.Dims), m.Weight)
		}
		seen[m.Set] = true
	}
	return nil
}
