package friendly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// cloud draws persons in few dimensions whose distances are about λ = 1000: clusters, lines,
// bridges.
func cloud(r *rand.Rand, n, dim int) [][]int64 {
	rows, kind := make([][]int64, n), r.IntN(4)
	for i := range rows {
		rows[i] = make([]int64, dim)
		for j := range dim {
			switch {
			case kind == 0:
				rows[i][j] = r.Int64N(1500)
			case kind == 1 && j == 0:
				rows[i][j] = 1000 * r.Int64N(3) // two ends and a bridge
			case kind == 2 && j == 0:
				rows[i][j] = 1000 * min(1, r.Int64N(5))
			case kind == 3 && j == 0:
				rows[i][j] = 1000 + 1000*int64(r.NormFloat64()/1.5)
			}
		}
	}
	return rows
}

func blockOf(rows [][]int64) *estimator.Block {
	ch := estimator.Chunk{Persons: len(rows)}
	for _, x := range rows {
		ch.Dense = append(ch.Dense, x...)
	}
	return &estimator.Block{Dim: len(rows[0]), Chunks: []estimator.Chunk{ch}}
}

// meanOf is the mean of some.
func meanOf(rows [][]int64, kept []bool) []float64 {
	sum, n := make([]float64, len(rows[0])), 0.0
	for i, x := range rows {
		if kept[i] {
			n++
			for j, v := range x {
				sum[j] += float64(v)
			}
		}
	}
	for j := range sum {
		sum[j] /= n
	}
	return sum
}

func distanceOf(x, y, w []float64) float64 {
	q := 0.0
	for j := range x {
		q += w[j] * (x[j] - y[j]) * (x[j] - y[j])
	}
	return math.Sqrt(q)
}

// moved draws neighbours, keeps some who are not bad, and returns by how much the last person moves
// the mean, in parts of the bound: at the largest κ that the proof allows.
func moved(r *rand.Rand, relation estimator.Relation, margin int64) (moved, bound float64) {
	const lambda = 1000
	n, dim := 3+r.IntN(9), 1+r.IntN(3)
	rows := cloud(r, n, dim)
	other := append([][]int64{}, rows[:n-1]...)
	exchanged := relation == estimator.ReplaceOne
	if exchanged {
		other = append(other, cloud(r, n, dim)[n-1])
	}
	w := make([]float64, dim)
	for j := range w {
		w[j] = []float64{1, 1, 3.5}[r.IntN(3)]
	}
	f, g := newMetric(w, lambda).points(blockOf(rows)).counts(), newMetric(w, lambda).points(blockOf(other)).counts()
	z := func(f []int32, i int) int64 { return 2*int64(f[i]) - int64(len(f)) }
	kept, keptOther, k := make([]bool, n), make([]bool, len(other)), int64(0)
	for i := range n - 1 {
		if min(z(f, i), z(g, i)) > margin && r.IntN(4) > 0 {
			kept[i], keptOther[i] = true, true
			k++
		}
	}
	kept[n-1] = z(f, n-1) > margin
	if exchanged {
		keptOther[n-1] = z(g, n-1) > margin && r.IntN(3) > 0
	}
	if k == 0 {
		return 0, 1
	}
	reach := Kept{AtLeast: k + 1, atMost: int64(n), margin: margin, factor: float64(relation.Factor())}.Reach()
	return distanceOf(meanOf(rows, kept), meanOf(other, keptOther), w), reach * lambda
}

func TestOnePersonMovesTheMeanWithinReach(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		r := rand.New(stattest.Source(t, fmt.Sprint("geometry", relation)))
		worst, broken := 0.0, false
		for range 15000 {
			margin := relation.Factor() - 1
			if relation == estimator.AddRemove {
				margin += int64(r.IntN(4))
			}
			m, bound := moved(r, relation, margin)
			worst = max(worst, m/bound)
			m, bound = moved(r, relation, margin-2)
			broken = broken || m > bound*(1+1e-9)
		}
		t.Logf("%v: moved by %.4f of the bound at most", relation, worst)
		if worst > 1+1e-9 || worst < 0.9 {
			t.Errorf("%v: the mean moves by %v of the bound, want up to 1", relation, worst)
		}
		if !broken {
			t.Errorf("%v: a margin smaller by two passed", relation)
		}
	}
}

// TestFriendsAreTheSumsFriends compares the fast decisions with the plain sum in the metric's
// order, for head and rest, near the limit and far from the origin.
func TestFriendsAreTheSumsFriends(t *testing.T) {
	r := rand.New(stattest.Source(t, "friends"))
	for _, dim := range []int{1, 5, headSize, headSize + 1, 300, 1000} {
		for _, origin := range []int64{0, 1 << 59} {
			rows, w := make([][]int64, 70), make([]float64, dim)
			for j := range w {
				w[j] = 1 + 10*r.Float64()
			}
			for i := range rows {
				rows[i] = make([]int64, dim)
				for j := range dim {
					rows[i][j] = origin + r.Int64N(2000)/(1+int64(j%7)*int64(i%2))
				}
			}
			pair := newMetric(w, 1).points(blockOf(rows[:2]))
			exact := pair.sum(0, 1)
			m := newMetric(w, 1)
			m.limit2 = exact // the first two are friends, just
			p := m.points(blockOf(rows))
			counts := p.counts()
			for i := range rows {
				want := int32(0)
				for k := range rows {
					if p.sum(i, k) <= m.limit2 {
						want++
					}
					if p.friends(i, k) != p.friends(k, i) {
						t.Errorf("dimension %d: friendship of %d and %d depends on their order", dim, i, k)
					}
				}
				if counts[i] != want {
					t.Errorf("dimension %d: person %d has %d friends, want %d", dim, i, counts[i], want)
				}
			}
			m.limit2 = math.Nextafter(exact, 0)
			if !p.friends(1, 0) == p.friends(0, 1) || p.friends(0, 1) {
				t.Errorf("dimension %d: friends just beyond the limit", dim)
			}
		}
	}
}

// sum is the squared distance in doubles, in full.
func (p *points) sum(i, k int) float64 {
	return distance2(math.Inf(1), p.rows[i], p.rows[k], p.weights)
}
