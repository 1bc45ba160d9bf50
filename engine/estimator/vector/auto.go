package vector

import (
	"fmt"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// auto uses the first of several cores whose least number of persons is there: an adaptive
// composition with the released number of persons, each core having the same loss.
type auto struct {
	cores []core
	least []int64 // the least number of persons of each, falling
}

// add appends a core if it gets by with fewer persons than those before.
func (a *auto) add(c core) bool {
	least := c.needs()
	if len(a.cores) > 0 && least >= a.needs() {
		return false
	}
	a.cores, a.least = append(a.cores, c), append(a.least, least)
	return true
}

// needs implements core.
func (a auto) needs() int64 { return a.least[len(a.least)-1] }

// steps implements core: those of the core for many persons.
func (a auto) steps() []estimator.Step { return a.cores[0].steps() }

// release implements core.
func (a auto) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	i := 0
	for ; i < len(a.cores)-1 && count < float64(a.least[i]); i++ {
	}
	return a.cores[i].release(n, g, count)
}

// newAuto chooses a method for dense vectors from public facts:
//
//	persons enough for a centre   dense, which decides from released numbers whether to take the middle for a centre, and, in four
//	                              dimensions and more, whether to scale coordinates (dense.choose, dense.useScales)
//	fewer, spreads and a place declared   coinpress: its rounds end far off where they begin with the whole range
//	fewer, a place declared       clipped, if bounds or the mean's norm are declared: its error is in proportion to them
//	fewer, few dimensions         each coordinate by itself, with a share of the loss (separate)
//	fewer                         too few
//
// It returns the reason for EXPLAIN.
func newAuto(p Params, count persons, rho float64) (a auto, slack float64, reason string) {
	if len(p.Sigma) > 0 {
		p.Scale = Declared
	}
	scaled := maybe
	if p.Relative {
		scaled = always
	}
	if p.Rotate {
		scaled = never
	}
	first := newDense(p, count, rho, maybe, scaled)
	a.add(first)
	reasons := []string{first.reason()}
	if p.Bounded() || p.Radius > 0 {
		if c, err := newCoinpress(p, rho); err == nil && !p.Rotate && a.add(c.counted(count)) {
			reasons = append(reasons, fmt.Sprintf("coinpress from %d, as spreads and a place are declared", c.needs()))
		}
		if c := newDense(p, count, rho, never, never); a.add(c) {
			reasons = append(reasons, fmt.Sprintf("clipped from %d, about a declared place", c.needs()))
		}
	}
	if s, ok := p.coordinates(count.apart(rho)); ok && !p.Rotate && a.add(s) {
		reasons = append(reasons, fmt.Sprintf("from %d, each coordinate alone", s.needs()))
	}
	return a, first.slack(), strings.Join(reasons, "; ")
}

// reason tells what the choices of d depend on.
func (d dense) reason() string {
	switch {
	case d.scaled == always && d.sigma != nil:
		return fmt.Sprintf("plan from %d persons, as spreads are declared", d.needs())
	case d.scaled == always:
		return fmt.Sprintf("plan from %d persons, with scales of their own for coordinates that are different things", d.needs())
	case d.scaled == never || d.p.Dim < leastScaled:
		return fmt.Sprintf("shifted from %d persons, or clipped if the middle is as good as a centre", d.needs())
	}
	return fmt.Sprintf("plan from %d persons if coordinates differ in spread; otherwise, and from %d, shifted, or clipped if the middle is as good as a centre",
		d.scalesFrom(), d.needs())
}
