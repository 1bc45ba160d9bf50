package vector

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/internal/stattest"
)

var (
	trials  = flag.Int("trials", 0, "trials of each setting of the accuracy table; 0: a short run of the small ones")
	only    = flag.String("settings", "", "settings of the accuracy table whose name contains this")
	methods = flag.String("methods", "clipped,shifted,plan,auto", "methods of the accuracy table")
)

// setting is a data set of the accuracy table with independent Gaussian coordinates.
type setting struct {
	name   string
	n, d   int
	mean   float64
	alpha  float64 // σ_j² = (d/j)^α
	rho    float64
	oursRP float64 // error of the first implementation under replace-one with a public number of persons; 0: none
	oursAR float64
}

var settings = []setting{
	{"A128", 4000, 128, 0, 0, 0.125, 0.268, 0.208},
	{"A128", 4000, 128, 0, 0, 0.5, 0.205, 0.188},
	{"A128", 4000, 128, 0, 0, 1, 0.193, 0.184},
	{"A512", 4000, 512, 0, 0, 0.125, 0.788, 0.526},
	{"A512", 4000, 512, 0, 0, 0.5, 0.500, 0.409},
	{"A512", 4000, 512, 0, 0, 1, 0.436, 0.386},
	{"A1024", 4000, 1024, 0, 0, 0.125, 0, 0},
	{"A1024", 4000, 1024, 0, 0, 0.5, 0, 0},
	{"A1024", 4000, 1024, 0, 0, 1, 0, 0},
	{"B0", 10000, 512, 10, 0, 0.125, 0.356, 0.273},
	{"B1", 10000, 512, 10, 1, 0.125, 0.866, 0.710},
	{"B1", 10000, 512, 10, 1, 1, 0.661, 0.621},
	{"B2", 10000, 512, 10, 2, 0.125, 7.23, 6.67},
	{"B2", 10000, 512, 10, 2, 1, 6.50, 6.41},
	{"C128", 10000, 128, 0, 2, 0.125, 1.78, 1.64},
}

// grid is the lattice of the generated data: 2^-16, without bounds.
var grid = estimator.Grid{Step: 0x1p-16, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

// sigma is the standard deviation of coordinate j.
func (s setting) sigma(j int) float64 { return math.Pow(float64(s.d)/float64(j+1), s.alpha/2) }

// draw returns n persons, and the means of their coordinates.
func (s setting) draw(r *rand.Rand) (*estimator.Block, []float64) {
	b, sample := &estimator.Block{Dim: s.d}, make([]float64, s.d)
	for at := 0; at < s.n; at += 1000 {
		ch := estimator.Chunk{Persons: min(1000, s.n-at), Dense: make([]int64, min(1000, s.n-at)*s.d)}
		for i := range ch.Dense {
			x := s.mean + s.sigma(i%s.d)*r.NormFloat64()
			ch.Dense[i] = int64(math.RoundToEven(x / grid.Step))
			sample[i%s.d] += x / float64(s.n)
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b, sample
}

// errors returns the l2 distances of an answer from the true mean and from the sample's.
func (s setting) errors(e estimator.Estimate, sample []float64) (toMean, toSample float64) {
	for j, v := range e.Values {
		toMean = math.Hypot(toMean, v-s.mean)
		toSample = math.Hypot(toSample, v-sample[j])
	}
	return toMean, toSample
}

func (s setting) params(relation estimator.Relation) Params {
	p := Params{Dim: s.d}
	p.Rho, p.Grid, p.Relation, p.MaxRows = s.rho, grid, relation, 1
	p.Sized = relation == estimator.ReplaceOne
	return p
}

// TestAccuracyTable prints the table of mean errors. With -trials it is the measurement behind docs/accuracy.md.
func TestAccuracyTable(t *testing.T) {
	if *trials == 0 {
		t.Skip("-trials=0")
	}
	for _, s := range settings {
		name := fmt.Sprintf("%s rho=%v", s.name, s.rho)
		if !strings.Contains(name, *only) {
			continue
		}
		for _, relation := range []estimator.Relation{estimator.ReplaceOne, estimator.AddRemove} {
			ours := s.oursRP
			if relation == estimator.AddRemove {
				ours = s.oursAR
			}
			line := fmt.Sprintf("%-14s %-11s ours %.3f", name, relation, ours)
			for _, m := range []struct {
				name   string
				method Method
			}{{"clipped", Clipped}, {"shifted", Shifted}, {"plan", Plan}, {"auto", Auto}} {
				if strings.Contains(*methods, m.name) {
					line += fmt.Sprintf(" | %s %s", m.name, measure(t, s, relation, m.method))
				}
			}
			t.Log(line)
		}
	}
}

func measure(t *testing.T, s setting, relation estimator.Relation, m Method) string {
	p := s.params(relation)
	p.Method = m
	e, err := NewMean(p)
	if err != nil {
		return err.Error()
	}
	r := rand.New(stattest.Source(t, fmt.Sprint(s.name)))
	n := stattest.Noiser(t, fmt.Sprint(s, relation))
	var a, b []float64
	few := 0
	for range *trials {
		block, sample := s.draw(r)
		est := e.Release(n, estimator.Input{Vectors: block})
		if est.Status != estimator.OK {
			few++
			continue
		}
		x, y := s.errors(est, sample)
		a, b = append(a, x), append(b, y)
	}
	if few > 0 {
		return fmt.Sprintf("too few %d of %d (%d)", few, *trials, e.MinPersons())
	}
	slices.Sort(a)
	return fmt.Sprintf("%.3f med %.3f max %.3f (%.3f)", meanOf(a), a[len(a)/2], a[len(a)-1], meanOf(b))
}

func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
