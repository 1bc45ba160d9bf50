package local

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
)

// sides are the cells of LDP_KV1 that report on which side of the nearest point of the lattice
// {o+8b} a value lies, by binary response; positions are in standard deviations. A value of N(t, 1)
// is above with probability
//
//	q_o(t) = Σ_{m even} Φ(o+4(m+1)−t) − Φ(o+4m−t)
//
// and its report is 1 with probability y_o = (1−p) + (2p−1)·q_o.
//
// Source: [JKMW19] section 3.2, with four offsets whose reports are all used.
type sides []side

type side struct {
	coin
	offset float64
}

func newSides(t *Tally) (s sides) {
	for _, c := range t.of(collect.BRR) {
		s = append(s, side{newCoin(c), float64(c.Offset)})
	}
	return s
}

// at returns the log-likelihood of the mean t.
func (s sides) at(t float64) float64 {
	sum := 0.0
	for _, c := range s {
		y, _ := c.reported(t)
		sum += c.ones*math.Log(y) + (c.n-c.ones)*math.Log(1-y)
	}
	return sum
}

// information returns the Fisher information about the mean at t: Σ n·y′²/(y(1−y)).
func (s sides) information(t float64) float64 {
	sum := 0.0
	for _, c := range s {
		y, slope := c.reported(t)
		sum += c.n * slope * slope / (y * (1 - y))
	}
	return sum
}

// reported returns the probability y of a 1, and its derivative by t.
func (c side) reported(t float64) (y, slope float64) {
	above, gain := 0.0, 2*c.keep-1
	for _, e := range c.edges(t) {
		above += e.sign * normal(e.z)
		slope -= e.sign * density(e.z)
	}
	return 1 - c.keep + gain*above, gain * slope
}

// edge is where being above ends, or begins, with sign −1, in standard deviations from the mean.
type edge struct{ z, sign float64 }

// edges lists those that matter to a mean t.
func (c side) edges(t float64) (all []edge) {
	m := math.Floor((t - reach - c.offset) / geometry.Lattice)
	for ; c.offset+geometry.Lattice*m < t+reach; m++ {
		if math.Mod(m, 2) == 0 {
			at := c.offset + geometry.Lattice*m - t
			all = append(all, edge{at, -1}, edge{at + geometry.Lattice, 1})
		}
	}
	return all
}
