package issue

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestApportionStaysClose: after every single token, no seat is off its exact share by one or more
// when quotas are equal, and the counts never depend on how the tokens were split over calls.
func TestApportionStaysClose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		seats := make([]Seat[int], 1+r.IntN(12))
		total := uint64(0)
		for i := range seats {
			seats[i].Quota = r.Uint64N(50)
			total += seats[i].Quota
		}
		whole := slices.Clone(seats)
		if total == 0 {
			continue
		}
		n := r.Uint64N(3*total) + 1
		Apportion(whole, n)
		steps := slices.Clone(seats)
		for left := n; left > 0; {
			k := min(left, 1+r.Uint64N(5))
			Apportion(steps, k)
			left -= k
		}
		for i := range seats {
			if steps[i].Taken != whole[i].Taken {
				t.Errorf("seat %d has %d in steps and %d at once", i, steps[i].Taken, whole[i].Taken)
			}
			if seats[i].Quota == 0 && whole[i].Taken > 0 {
				t.Error("a token for a cell without a quota")
			}
		}
		Apportion(whole, (total-n%total)%total) // to a multiple of all quotas
		for i, s := range whole {
			if s.Taken%max(1, s.Quota) != 0 {
				t.Errorf("seat %d of quota %d has %d", i, s.Quota, s.Taken)
			}
		}
	}
}
