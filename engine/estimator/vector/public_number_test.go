package vector

import (
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/sized"
	scalarmean "scrim/engine/estimator/mean"
	"scrim/test/sizedtest"
	"scrim/test/stattest"
)

// sized makes the parameters those of a public number of persons.
func (p Params) sized(rho float64) Params {
	p.Rho, p.Relation, p.Sized = rho, estimator.ReplaceOne, true
	return p
}

// TestPublicNumberOfPersons: no estimator of vectors takes the length of its input for the public
// number of persons.
func TestPublicNumberOfPersons(t *testing.T) {
	const rho, dim = 20, 3
	r := rand.New(stattest.Source(t, "public"))
	normal := func(n int) *estimator.Block {
		return blockOf(dim, n, func(_, j int) int64 { return int64(1000*r.NormFloat64()) + 40*int64(j) })
	}
	check := func(name string, p Params, block func(n int) *estimator.Block, e estimator.Estimator, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sizedtest.Vectors(t, name, e, p.Params, 20, sized.Vectors, block)
	}
	for _, m := range denseMethods() {
		p := m.params(dim, rho, estimator.ReplaceOne, true)
		block := normal
		if p.MaxRows != 1 {
			block = func(n int) *estimator.Block { return severalRows(r, normal(n)) }
		}
		e, err := NewMean(p)
		check("mean, "+m.name, p, block, e, err)
		e, err = NewSum(p)
		check("sum, "+m.name, p, block, e, err)
		e, err = NewVariance(p, false, false)
		check("variance, "+m.name, p, block, e, err)
	}
	for _, v := range sparseVariants() {
		p := v.p.sized(rho)
		block := func(n int) *estimator.Block { return v.block(v.persons(r, n), p.Grid.Hi > 1) }
		e, err := NewMean(p)
		check("mean, "+v.name, p, block, e, err)
	}
	for _, s := range coinpressSounds() {
		p := s.p.sized(rho)
		e, err := s.make(p)
		check(s.name, p, normal, e, err)
	}
	grid := estimator.Grid{Step: 1, Lo: -1 << 30, Hi: 1 << 30}
	p := Params{Dim: dim, Params: estimator.Params{MaxRows: 1, Grid: grid}}.sized(rho)
	e, err := NewColumns(p, func(_ int, rho float64) (estimator.Estimator, error) {
		q := p.Params
		q.Rho = rho
		return scalarmean.NewRowMean(q)
	})
	check("columns", p, normal, e, err)
}

// severalRows gives the persons of a block one to three rows.
func severalRows(r *rand.Rand, b *estimator.Block) *estimator.Block {
	for k := range b.Chunks {
		ch := &b.Chunks[k]
		for range ch.Persons {
			ch.Rows = append(ch.Rows, 1+r.Int64N(3))
		}
	}
	return b
}
