package flow

import (
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// profile is Q by cap, as far as it has been asked for.
type profile struct {
	shape  Shape
	signs  []sign
	pairs  *estimator.Pairs
	curves []curve // of the signs, once one was asked for
	last   int64   // the cap that they were last asked for
	caps   []int64
	known  []bool
	all    []*big.Int // Q·parts, with signed weights Q⁺ + Q⁻
	signed []*big.Int // Q·parts, with signed weights Q⁺ − Q⁻
}

func newProfile(s Shape, signed bool, caps []int64, p *estimator.Pairs) *profile {
	q := &profile{shape: s, signs: []sign{positive}, pairs: p, caps: caps, known: make([]bool, len(caps)), all: make([]*big.Int, len(caps)), signed: make([]*big.Int, len(caps))}
	if signed {
		q.signs = append(q.signs, negative)
	}
	return q
}

// fill makes Q known at caps, whose numbers ascend.
func (q *profile) fill(numbers []int) {
	missing := make([]int, 0, len(numbers))
	for _, i := range numbers {
		if !q.known[i] {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return
	}
	if q.curves == nil {
		for _, of := range q.signs {
			q.curves = append(q.curves, newCurve(q.shape, q.pairs, of))
		}
	}
	again := q.caps[missing[0]] < q.last
	for k, c := range q.curves {
		if again {
			c.restart()
		}
		for _, i := range missing {
			q.stop()
			q.put(k, i, c.at(q.caps[i], q.stop))
		}
	}
	q.last = q.caps[missing[len(missing)-1]]
	for _, i := range missing {
		q.known[i] = true
	}
}

// done gives the memory back.
func (q *profile) done() {
	for _, c := range q.curves {
		c.done()
	}
	q.curves = nil
}

// put notes the flow of a sign.
func (q *profile) put(k, i int, flow scalar.Sum) {
	if k == 0 {
		q.all[i], q.signed[i] = flow.Big(), flow.Big()
		return
	}
	q.all[i].Add(q.all[i], flow.Big())
	q.signed[i].Sub(q.signed[i], flow.Big())
}

// from makes Q known at the caps from number low on.
func (q *profile) from(low int) {
	numbers := make([]int, len(q.caps)-low)
	for k := range numbers {
		numbers[k] = low + k
	}
	q.fill(numbers)
}

// stop ends the work where its context has ended.
func (q *profile) stop() {
	if ctx := q.pairs.Context; ctx != nil && ctx.Err() != nil {
		panic(ctx.Err())
	}
}

// excess is (Q(2τ) − Q(τ))·parts at cap number i.
func (q *profile) excess(i int) *big.Int {
	return new(big.Int).Sub(q.all[double(i)], q.all[i])
}

// unit is the number of parts that a score counts in.
const unit = 1 << 8

// score is the largest of ⌊unit·(Q(2^j·τ) − Q(τ))/(2^j·τ)⌋ over j >= 1 where the shape looks far,
// else ⌊unit·(Q(2τ) − Q(τ))/τ⌋. Only what is known counts: which caps are known has to be public,
// or not to matter.
func (q *profile) score(i int) int64 {
	best := int64(0)
	for j := double(i); j < len(q.caps); j = double(j) {
		if !q.known[j] {
			continue
		}
		over := q.caps[i]
		if q.shape.far() {
			over = q.caps[j]
		}
		d := new(big.Int).Sub(q.all[j], q.all[i])
		d.Mul(d, big.NewInt(unit)).Quo(d, new(big.Int).Mul(big.NewInt(over), big.NewInt(q.shape.parts())))
		best = max(best, d.Int64())
		if !q.shape.far() {
			break
		}
	}
	return best
}
