package local

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
)

// directionUnit is the number of steps of a unit vector's coordinate in sums: 2^30, so that 2^32
// reports sum within an int64.
const directionUnit = 1 << 30

// seedBytes is the length of a seed; the byte of a bit follows it.
const seedBytes = len(geometry.Seed{})

// sphere sums the directions of LDP_SCM3's round 3: a report is a seed and a bit, and stands for
// the unit vector of the seed, or for its opposite if the bit is 0. The sums are integers, so they
// do not depend on the order of the reports, or on who added which. Nothing is allocated for a
// report.
type sphere struct {
	cell       collect.Cell
	directions *geometry.Sphere
	unit       []float64
	sums       []int64 // in 1/directionUnit
}

func newSphere(p *collect.Params, c collect.Cell) accumulator {
	return &sphere{c, geometry.NewSphere(p.Fingerprint()), make([]float64, c.Domain), make([]int64, c.Domain)}
}

func (s *sphere) add(payload []byte, times uint64) error {
	if len(payload) != seedBytes+1 || payload[seedBytes] > 1 {
		return malformed(s.cell)
	}
	s.directions.DirectionTo(s.unit, geometry.Seed(payload[:seedBytes]))
	sign := (2*int64(payload[seedBytes]) - 1) * int64(times)
	for j, x := range s.unit {
		s.sums[j] += sign * int64(math.RoundToEven(x*directionUnit))
	}
	return nil
}

func (s *sphere) merge(other accumulator) { addTo(s.sums, other.(*sphere).sums) }
