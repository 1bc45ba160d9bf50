package person

import (
	"math"
	"math/big"
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// clipAndNoise is Clip-and-Noise [AKM25, Algorithm 2] about an integer centre c at a loss: S/n̂
// with S the noisy sum of the x_i − c, clipped to a radius P, all in units. It returns S/n̂ and the
// standard deviation of the noise in every coordinate of it.
//
//	zCDP   ℓ2 ball; the sum moves by s·P in ℓ2, and each coordinate gets N_Z(0, ⌈(s·P)²·2^48/(2ρ)⌉) in units of 2^-24 [CKS20, Theorem 14]
//	pure   interval of each coordinate (section 3.4); each sum moves by s·P and gets Lap_Z(s·P·d/ε)
//
// s is 1 under add-remove, where a person's vector comes or goes, and 2 under replace-one, where it
// is exchanged; a person who starts or stops to match under replace-one moves the sum by P at most.
// The paper divides by a public n and has 2P/n; here the sum is centred, so that it does not move
// by more when a person comes.
func (l law) clipAndNoise(n noise.Noiser, b *estimator.Block, centre []int64, radius int64, count, loss float64) (shift []float64, sigma float64) {
	var sums []*big.Int
	unit := 1.0 // of the sums
	if l.pure {
		sums = clampedSums(b, centre, radius)
		l.addLaplace(n, sums, radius, loss)
	} else {
		sums = block.ClipSum(b, centre, block.Norms(b, centre, nil), float64(radius))
		l.addGaussian(n, sums, radius, loss)
		unit = 0x1p-24
	}
	shift = make([]float64, b.Dim)
	for j, s := range sums {
		f, _ := new(big.Float).SetInt(s).Float64()
		shift[j] = f * unit / count
	}
	return shift, float64(radius) * l.unit(loss) / count
}

// addGaussian replaces exact sums by noisy ones.
func (l law) addGaussian(n noise.Noiser, sums []*big.Int, radius int64, loss float64) {
	moved := scalar.Square(l.relation.Factor() * radius)
	sigma2 := scalar.Sigma2(moved.Lsh(moved, 2*block.ClipBits), 1, loss)
	for j, s := range sums {
		sums[j] = n.Gaussian(s, sigma2)
	}
}

// addLaplace is addGaussian for a pure law. The scale is exact.
func (l law) addLaplace(n noise.Noiser, sums []*big.Int, radius int64, loss float64) {
	moved := big.NewInt(l.relation.Factor() * radius)
	t := laplaceScale(moved.Mul(moved, big.NewInt(int64(l.dim))), loss)
	for j, s := range sums {
		sums[j] = n.Laplace(s, t.Num(), t.Denom())
	}
}

// clampedSums returns Σ_i min(max(x_ij − c_j, −P), P), exactly. Entries and centre are within
// ±2^60, P is at most 2^61.
func clampedSums(b *estimator.Block, centre []int64, radius int64) []*big.Int {
	sums := make([]*big.Int, b.Dim)
	for j := range sums {
		sums[j] = new(big.Int)
	}
	var all fork.Group
	var mu sync.Mutex
	for i := range b.Chunks {
		all.Go(func() {
			own := make([]scalar.Sum, b.Dim)
			for x := b.Chunks[i].Dense; len(x) > 0; x = x[b.Dim:] {
				for j, v := range x[:b.Dim] {
					own[j].Add(min(max(v-centre[j], -radius), radius))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for j, s := range own {
				sums[j].Add(sums[j], s.Big())
			}
		})
	}
	all.Wait()
	return sums
}

// moved returns a centre moved by a released shift, rounded to units and kept within the public
// range.
func moved(centre []int64, shift []float64, lo, hi int64) []int64 {
	out := make([]int64, len(centre))
	for j, c := range centre {
		out[j] = int64(math.RoundToEven(min(max(float64(c)+shift[j], float64(lo)), float64(hi))))
	}
	return out
}
