package groups

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// packed returns a sparse block with its persons packed by groups of width columns.
func packed(b *estimator.Block, width int) *estimator.Block {
	packing := &estimator.Packing{Numbers: width}
	for c := range width {
		packing.Of = append(packing.Of, c)
	}
	out := &estimator.Block{Dim: b.Dim, Sparse: true}
	for _, ch := range b.Chunks {
		to := estimator.Chunk{Persons: ch.Persons, Packed: []byte{}, Packing: packing, Starts: []int{0}}
		for i := range ch.Persons {
			at, last := ch.Starts[i], int64(-1)
			for at < ch.Starts[i+1] {
				g, own := int(ch.Index[at])/width, make([]int64, width)
				for ; at < ch.Starts[i+1] && int(ch.Index[at])/width == g; at++ {
					if own[int(ch.Index[at])%width] = 1; ch.Values != nil {
						own[int(ch.Index[at])%width] = ch.Values[at]
					}
				}
				to.Packed = estimator.AppendNumber(to.Packed, int64(g)-last)
				for _, v := range own {
					to.Packed = estimator.AppendNumber(to.Packed, v)
				}
				last = int64(g)
			}
			to.Starts = append(to.Starts, len(to.Packed))
		}
		out.Chunks = append(out.Chunks, to)
	}
	return out
}

// TestPackedPersonsAnswerAlike: packed or not, the same persons and the same noise give the same
// answers, of few persons and of many, whose centres are those of a sample.
func TestPackedPersonsAnswerAlike(t *testing.T) {
	for _, v := range variants() {
		for _, persons := range []int{0, 3, 200, 4000} {
			r := rand.New(stattest.Source(t, v.name+fmt.Sprint(persons)))
			e, b := v.at(t, 1, estimator.AddRemove), layOut(v.p.Groups*v.p.Width(), v.tiny(r, persons))
			if persons == 4000 {
				e.looked = min(e.looked, 500)
			}
			want := e.Release(stattest.Noiser(t, v.name), estimator.Input{Vectors: b})
			got := e.Release(stattest.Noiser(t, v.name), estimator.Input{Vectors: packed(b, v.p.Width())})
			if fmt.Sprint(got.Values, got.StdErr, got.Status) != fmt.Sprint(want.Values, want.StdErr, want.Status) {
				t.Errorf("%s, %d persons: got %v, want %v", v.name, persons, got, want)
			}
		}
	}
}
