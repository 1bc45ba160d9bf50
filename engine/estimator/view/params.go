package view

import (
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/scalar"
)

// Measure is what is told of each cell.
type Measure struct {
	Sum          bool           // of k(x) over rows; else the number of rows
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
}

// Params are the public facts of a release. Its input is a sparse block of cells times
// len(Measures) entries: entry c·len(Measures) + m of a person is measure m in cell c, cells in
// row-major order of the dimensions, the last one fastest; what is 0 may be left out.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Dims     []cube.Dimension // in their order, where they are for ranges
	// Sets are the marginals that are asked for; those of up to Ways dimensions where it is nil.
	Sets     []cube.Set
	Ways     int
	Measures []Measure
	OneRow   bool  // a person has one row at most
	Cells    int64 // the most cells of all residuals together; 0: cube.MaxCells
}

// aside is the weight of marginals that are not asked for, against 1: they are measured with a few
// hundredths of the loss, so that all cells together are one table.
const aside = 1e-4

// marginals is the workload of the cubes.
func (p Params) marginals() []cube.Marginal {
	asked := map[cube.Set]bool{}
	for _, s := range p.Sets {
		asked[s] = true
	}
	all := cube.Ways(len(p.Dims), len(p.Dims))
	for i, m := range all {
		if !asked[m.Set] && (p.Sets != nil || m.Set.Len() > p.Ways) {
			all[i].Weight = aside
		}
	}
	return all
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if len(p.Measures) == 0 {
		return fmt.Errorf("view: want a measure")
	}
	for _, m := range p.Measures {
		if err := scalar.Check(p.scalar(m), m.Sum); err != nil {
			return err
		}
	}
	return nil
}

func (p Params) scalar(m Measure) estimator.Params {
	out := estimator.Params{Rho: p.Rho, Relation: p.Relation}
	if m.Sum {
		out.Grid, out.Lower, out.Upper = m.Grid, m.Lower, m.Upper
	}
	return out
}

// Signed reports whether measure at may be under 0.
func (p Params) Signed(at int) bool { return p.signed(p.Measures[at]) }

// signed reports whether a measure may be under 0.
func (p Params) signed(m Measure) bool {
	if !m.Sum {
		return false
	}
	lo, _ := scalar.Range(p.scalar(m))
	return lo < 0
}
