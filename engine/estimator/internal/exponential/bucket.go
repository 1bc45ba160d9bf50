package exponential

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Fullest chooses a bucket that holds nearly as many persons as any, of a finite public number of
// buckets with each person in one of them: P[b] ∝ e^{rate·count_b}.
//
//	add-remove    one count moves by 1, all in one direction: range 1, rate = √(8ρ)
//	replace-one   one count falls and one grows: range 2, rate = √(2ρ)
//
// The count of the chosen bucket is at least the largest less ln(buckets/β)/rate, with probability
// 1−β.
type Fullest struct {
	buckets uint64
	loss    loss
	span    int
	rate    float64
	powers  powers
}

// NewFullest returns the choice among 1 to 2^62 buckets at loss rho and slack Slack.
func NewFullest(buckets uint64, rho float64, relation estimator.Relation) Fullest {
	checkBuckets(buckets, rho)
	span := int(relation.Factor())
	rate := math.Sqrt(8*rho) / float64(span) * (1 - 0x1p-50)
	return Fullest{buckets, loss{rho: rho}, span, rate, newPowers(rate)}
}

func checkBuckets(buckets uint64, loss float64) {
	if buckets < 1 || buckets > maxPoints || !(loss > 0) {
		panic(fmt.Sprintf("exponential: %d buckets at loss %v", buckets, loss))
	}
}

// Step describes the choice.
func (f Fullest) Step(name string) estimator.Step {
	return f.loss.of(1, estimator.Step{Name: name, Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%d", f.span)})
}

// Choose returns a bucket, given the number of each person's. sorted is in ascending order and
// below the number of buckets. m is for what it makes of them.
func (f Fullest) Choose(n noise.Noiser, m estimator.Memory, sorted []uint64) uint64 {
	w := f.wheel(m, sorted)
	defer w.done()
	return w.draw(n)
}

// wheel returns the choice for the buckets of the persons, in ascending order.
func (f *Fullest) wheel(m estimator.Memory, sorted []uint64) *wheel {
	data := runs(m, nil, sorted)
	defer estimator.Free(m, data)
	largest := int64(0)
	for _, r := range data {
		largest = max(largest, r.count)
	}
	w, next := &wheel{memory: m}, uint64(0)
	gap := func(end uint64) { // empty buckets from next to end−1
		if end > next {
			w.add(next, end-next, f.powers.at(uint64(largest)))
		}
	}
	for _, r := range data {
		gap(r.cell)
		w.add(r.cell, 1, f.powers.at(uint64(largest-r.count)))
		next = r.cell + 1
	}
	gap(f.buckets)
	return w
}
