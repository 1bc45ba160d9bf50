package person

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/partition"
)

// stability is the (ε, δ) histogram of [AKM25] Lemma 2.8 in its zCDP form, for ranges without
// bounds: noise is added to the counts of the buckets that somebody is in, those under a threshold
// are dropped, and the fullest of the others is taken. If none is left there is no answer, and the
// middle of the public range stands for it.
//
//	σ² = ⌈s/(2ρ')⌉, s = 1 under add-remove and 2 under replace-one, ρ' = ρ/d;  keep b ⇔ c_b + N_Z(0, σ²) ≥ threshold
//
// Loss: that of partition.Selection with one key a person, whose threshold is used: counts of
// buckets that both neighbours have cost ρ', one that only one of them has holds one person and
// passes with probability δ' = δ/d at most. That is δ'-approximate ρ'-zCDP of [BS16] Definition
// 8.1, also where the noisy counts of the kept buckets are shown, as the argument does not look at
// what is done with them. d coordinates add up to ρ and δ. How many draws are made depends on data,
// which that definition allows; they come in the order of buckets, not in that of persons.
type stability struct {
	sigma2    noise.Variance
	threshold int64
}

func newStability(p Params, loss float64) stability {
	rho := loss / float64(p.Dim) * (1 - 1e-12)
	moved := p.Relation.Factor()
	s := stability{sigma2: scalar.SmallSigma2(1, moved, rho), threshold: 1 << 62}
	selection, err := partition.New(partition.Params{Rho: rho, Delta: p.Delta / float64(p.Dim) * (1 - 1e-12), MaxGroups: 1, Relation: p.Relation})
	if err == nil { // else no number of persons passes
		s.threshold = selection.Threshold()
	}
	return s
}

func (s stability) choose(n noise.Noiser, _ estimator.Memory, sorted []uint64) (bucket uint64, ok bool) {
	best := s.threshold - 1
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if c := n.GaussianInt(int64(j-i), s.sigma2); c > best {
			best, bucket, ok = c, sorted[i], true
		}
		i = j
	}
	return bucket, ok
}
