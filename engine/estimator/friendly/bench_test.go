package friendly

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// BenchmarkFriends counts friends where the head tells most pairs apart (0.9^j), and where all of a
// distance is needed (equal spreads), at the distance of 19 pairs in 20.
func BenchmarkFriends(b *testing.B) {
	for _, c := range []struct{ persons, dim int }{{1000, 4096}, {5000, 100}} {
		equal := make([]float64, c.dim)
		for j := range equal {
			equal[j] = 1
		}
		for name, sigma := range map[string][]float64{"decaying": decaying(c.dim), "equal": equal} {
			b.Run(fmt.Sprintf("%s/n=%d,d=%d", name, c.persons, c.dim), func(b *testing.B) {
				data := normal(rand.New(rand.NewPCG(1, 2)), c.persons, sigma)
				weights := inverse(floored(sigma))
				lambda := distance(sigma, weights, declaredTail) * 0x1p20
				start := processor()
				for b.Loop() {
					newMetric(weights, lambda).points(data).counts()
				}
				b.ReportMetric((processor()-start)/float64(b.N), "cpu-s/op")
				b.ReportMetric(float64(c.persons)*float64(c.persons)*float64(c.dim)/2/1e9, "Gterms/op")
			})
		}
	}
}

// processor is the time that the process has had, in seconds: the machine may have other work.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
