package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// movedDivergence is the Rényi divergence of order α of discrete Gaussian noise of parameter sigma
// from itself moved by a whole number, summed up.
func movedDivergence(sigma float64, moved int, alpha float64) float64 {
	reach := moved + int(40*sigma) + 40
	weight := func(x int) float64 { return -float64(x*x) / (2 * sigma * sigma) }
	norm, sum := 0.0, 0.0
	for x := -reach; x <= reach; x++ {
		norm += math.Exp(weight(x))
	}
	for x := -int(alpha)*reach - reach; x <= int(alpha)*reach+reach; x++ {
		sum += math.Exp(alpha*weight(x) + (1-alpha)*weight(x-moved))
	}
	return math.Log(sum/norm) / (alpha - 1)
}

// TestLossOfAPersonByEnumeration computes what somebody loses by noisy counts over stretches of
// periods, exactly, for every set of periods that they may have rows in. It is never more than what
// OfUnits adds up, and as much for somebody who is in all periods. Adding up the losses of blocks,
// each of which is one's that an account of blocks keeps, is too little; the square of the sum of
// the roots of the blocks' losses is never less than what OfUnits adds up.
func TestLossOfAPersonByEnumeration(t *testing.T) {
	t.Parallel()
	const periods, alpha = 4, 3.0
	r, worse := rand.New(rand.NewPCG(1, 2)), 0
	for range 40 {
		type statement struct {
			first, last int
			sigma       float64
		}
		var list []statement
		charged, roots := Loss{}, 0.0
		var block [periods]float64
		for range 1 + r.IntN(4) {
			s := statement{first: r.IntN(periods), sigma: 2 + 3*r.Float64()}
			s.last = s.first + r.IntN(periods-s.first)
			list = append(list, s)
			rho := 1 / (2 * s.sigma * s.sigma)
			charged = charged.Add(Loss{Rho: RhoOf(rho)}.OfUnits(int64(s.last - s.first + 1)))
			for k := s.first; k <= s.last; k++ {
				block[k] += rho
			}
		}
		naive := 0.0
		for _, rho := range block {
			naive, roots = naive+rho, roots+math.Sqrt(rho)
		}
		most := 0.0
		for in := 1; in < 1<<periods; in++ {
			lost := 0.0
			for _, s := range list {
				moved := 0
				for k := s.first; k <= s.last; k++ {
					moved += in >> k & 1
				}
				if moved > 0 {
					lost += movedDivergence(s.sigma, moved, alpha)
				}
			}
			if most = max(most, lost); lost > alpha*charged.Rho.Float() {
				t.Errorf("%v: somebody in %04b loses %v, and %v is charged", list, in, lost, alpha*charged.Rho.Float())
			}
		}
		if most < alpha*charged.Rho.Float()*(1-1e-6) {
			t.Errorf("%v: the most that is lost is %v, and %v is charged", list, most, alpha*charged.Rho.Float())
		}
		if charged.Rho.Float() > roots*roots*(1+1e-9) {
			t.Errorf("%v: %v is charged, and the blocks bound it by %v", list, charged.Rho.Float(), roots*roots)
		}
		if most > alpha*naive*(1+1e-9) {
			worse++
		}
	}
	if worse < 20 {
		t.Errorf("adding blocks up is too little in %d dialogues only: the test says little", worse)
	}
}

// TestPureLossOfAPerson: of discrete Laplace noise on a count over n periods the likelihoods differ
// by what OfUnits says for somebody who is in all of them, which is more than the ε of a period.
func TestPureLossOfAPerson(t *testing.T) {
	t.Parallel()
	const eps = 0.5
	for n := 1; n <= 6; n++ {
		most := 0.0
		for x := -50; x <= 50; x++ {
			most = max(most, eps*(math.Abs(float64(x-n))-math.Abs(float64(x))))
		}
		l := PureLoss(eps).OfUnits(int64(n))
		if l.Pure.Float() < most || l.Pure.Float() > most+1e-9 || l.Rho.Float() < most*most/2 || l.Check() != nil {
			t.Errorf("%d units lose %v: %+v", n, most, l)
		}
	}
}

// TestGroupsWithoutABound: what holds for pairs of neighbours alone, and what is too large,
// promises a group nothing.
func TestGroupsWithoutABound(t *testing.T) {
	t.Parallel()
	one := Loss{Rho: RhoOf(0.5)}
	for name, c := range map[string]struct {
		loss Loss
		n    int64
		want Loss
	}{
		"one unit":             {Loss{Rho: 7, DeltaEvent: 1e-6, DeltaTV: 1e-9}, 1, Loss{Rho: 7, DeltaEvent: 1e-6, DeltaTV: 1e-9}},
		"no loss":              {Loss{}, 1 << 40, Loss{}},
		"twelve":               {one, 12, Loss{Rho: 144 * one.Rho}},
		"the slack of draws":   {Loss{Rho: 5, DeltaTV: 0x1p-90}, 3, Loss{Rho: 45, DeltaTV: 0x1p-90}},
		"selected keys":        {Loss{Rho: 5, DeltaEvent: 1e-12}, 2, NoBound()},
		"a method that fails":  {Loss{Rho: 5, DeltaTV: LeastFailure}, 2, NoBound()},
		"too large":            {Loss{Rho: MaxRho / 3}, 2, NoBound()},
		"the largest":          {Loss{Rho: MaxRho / 4}, 2, Loss{Rho: MaxRho / 4 * 4}},
		"beyond all numbers":   {one, math.MaxInt64, NoBound()},
		"squares beyond words": {Loss{Rho: 1}, 1 << 33, NoBound()},
		"pure and too large":   {Loss{Rho: 1, Pure: MaxPure / 2}, 3, NoBound()},
	} {
		if got := c.loss.OfUnits(c.n); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if l := NoBound(); l.Check() != nil || !(l.DeltaEvent >= 1) {
		t.Errorf("%+v", l)
	}
}
