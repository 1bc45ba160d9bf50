package exec

import (
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner"
)

// arrays makes dense blocks of a column of arrays. Rows that are NULL or hold a number that is NULL, NaN or
// infinite are absent.
//
// A person of several rows gets the sum of their grid indexes, formed modulo 2^64 as the rows arrive and clamped to
// ±MaxUnits in the end. Rows arrive in an order that other persons' rows may decide; addition modulo 2^64 does not
// depend on it, so the result is a function of this person's rows alone, which is all that the
// sensitivities ask for. It is the true sum, clamped, for every person of fewer than 8192 rows: each index is at
// most 2^50, and 2^13 of them make 2^63.
type arrays struct {
	column int
	dim    int
	onto   lattice
	sums   bool // several rows a person
	groups []summed
	space  *room
}

// summed is one group: its block and, with several rows a person, each person's place in it.
type summed struct {
	dense
	places []place // by the person's number, plus 1; 0 while the person has no row that is present
}

func newArrays(column int, v *planner.Vector, sums bool, space *room) (*arrays, error) {
	onto, err := newLattice(v.Grid)
	return &arrays{column: column, dim: v.Dim, onto: onto, sums: sums, space: space}, err
}

func (a *arrays) resize(groups int) {
	for len(a.groups) < groups {
		a.groups = append(a.groups, summed{dense: dense{dim: a.dim, counts: a.sums, space: a.space}})
	}
}

func (a *arrays) add(ch store.Chunk, of origin) error {
	v := &ch.Columns[a.column]
	if v.Width != a.dim {
		return fmt.Errorf("exec: arrays of %d numbers, want %d", v.Width, a.dim)
	}
	for i := range ch.Len {
		if v.Null != nil && v.Null[i] {
			continue
		}
		row, err := v.Floats[i*a.dim:(i+1)*a.dim], error(nil)
		if g := &a.groups[of.groups[i]]; a.sums {
			err = g.sum(a.onto, row, of.persons[i])
		} else {
			_, _, err = g.new(a.onto, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// new appends a person with one row. ok is false where the row is absent.
func (g *summed) new(onto lattice, row []float64) (at place, ok bool, err error) {
	if at, err = g.next(); err != nil {
		return 0, false, err
	}
	if ok = onto.add(g.vector(at), row); ok {
		g.keep(at, 1)
	}
	return at, ok, nil
}

// sum adds a row to a person's; a row of nobody is absent.
func (g *summed) sum(onto lattice, row []float64, person int32) error {
	if person < 0 {
		return nil
	}
	if n := int(person) + 1 - len(g.places); n > 0 {
		g.places = append(g.places, make([]place, n)...)
	}
	if at := g.places[person]; at > 0 {
		if onto.add(g.vector(at-1), row) {
			g.again(at - 1)
		}
		return nil
	}
	at, ok, err := g.new(onto, row)
	if ok {
		g.places[person] = at + 1
	}
	return err
}

func (a *arrays) block(group int) *estimator.Block { return a.groups[group].block(a.onto.reach()) }
