package flow

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// sign is the part of signed weights that a flow is about.
type sign int64

const (
	positive sign = 1
	negative sign = -1
)

// curve is Q(τ)·parts by τ, for ascending τ:
//
//	Q(τ) = max Σ x    0 <= x <= weight for each pair, at most τ for all pairs of one person
type curve struct {
	net   *network
	fixed int64 // the cap of what is on the right, where it is not τ
}

// newCurve returns the curve of the weights of one sign.
func newCurve(s Shape, p *estimator.Pairs, of sign) curve {
	in, fixed := entries{lefts: p.Lefts, rights: p.Rights}, int64(0)
	weight := func(i int) int64 {
		w := int64(1)
		if p.Weights != nil {
			w = p.Weights[i]
		}
		return max(min(max(w, -estimator.MaxUnits), estimator.MaxUnits)*int64(of), 0)
	}
	in.each = func(edge func(left, right uint32, w int64)) {
		for i, u := range p.Left {
			if w := weight(i); w > 0 {
				edge(u, p.Right[i], w)
			}
		}
	}
	switch s {
	case Self:
		in.lefts = max(p.Lefts, p.Rights)
		in.rights = in.lefts
		in.loop = estimator.Make[int64](p.Memory, in.lefts)
		for i, u := range p.Left {
			if u == p.Right[i] {
				in.loop[u] = plus(in.loop[u], weight(i))
			}
		}
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				if w := weight(i); w > 0 && u != p.Right[i] {
					edge(u, p.Right[i], w)
					edge(p.Right[i], u, w)
				}
			}
		}
	case Distinct:
		fixed = 1
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				edge(u, p.Right[i], 1)
			}
		}
	case One:
		fixed, in.rights = saturated, 1
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				if w := weight(i); w > 0 {
					edge(u, 0, w)
				}
			}
		}
	}
	return curve{newNetwork(p.Memory, in, fixed), fixed}
}

// at returns Q(limit)·parts. Limits ascend from one call to the next.
func (c curve) at(limit int64, stop func()) scalar.Sum { return c.net.at(limit, c.fixed, stop) }

// restart lets limits begin anew.
func (c curve) restart() { c.net.restart(c.fixed) }

func (c curve) done() { c.net.done() }
