package dataset

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
)

// TestLawsAreStandard checks means, variances and the tail exponent of the laws of rows.
func TestLawsAreStandard(t *testing.T) {
	const draws = 400_000
	for name, of := range laws {
		g, sum, squares, far := rand.New(rand.NewPCG(7, 8)), 0.0, 0.0, [2]int{}
		draw := of(6)
		for range draws {
			x := draw(g)
			sum, squares = sum+x, squares+x*x
			for i, at := range []float64{4, 8} {
				if math.Abs(x) > at {
					far[i]++
				}
			}
		}
		// Six standard errors; the fourth moment of the heavy laws is at most 30 here.
		if m, v := sum/draws, squares/draws; math.Abs(m) > 6/math.Sqrt(draws) || math.Abs(v-1) > 6*math.Sqrt(30./draws) {
			t.Errorf("%s: mean %v, variance %v", name, m, v)
		}
		heavy := name != "gaussian"
		// A tail exponent of 6.5 makes the share beyond 8 about 2^-6.5 of that beyond 4, and up to
		// ten times that where the tail sets in late: 0.098 for the moved density of pareto.
		if ratio := float64(far[1]) / float64(max(1, far[0])); heavy && (ratio < 0.006 || ratio > 0.11) || !heavy && far[1] > 0 {
			t.Errorf("%s: %v beyond 4 and 8", name, far)
		}
	}
}

// TestStudentByItsDistribution compares the draws with the distribution function of t with 2.5
// degrees of freedom at a few points.
func TestStudentByItsDistribution(t *testing.T) {
	const draws = 200_000
	g, draw := rand.New(rand.NewPCG(1, 2)), student(2)
	scale := math.Sqrt(0.5 / 2.5)
	for _, at := range []float64{0.5, 1, 2, 5} {
		want, over := upper(2.5, at), 0
		for range draws {
			if draw(g) > at*scale {
				over++
			}
		}
		if off := math.Abs(float64(over) - draws*want); off > 6.2*math.Sqrt(draws*want) {
			t.Errorf("beyond %v: %d of %d, want %v", at, over, draws, want)
		}
	}
}

// upper is P(T > x) for Student's t, by Simpson's rule after the substitution x = tan φ.
func upper(nu, x float64) float64 {
	a, b := math.Gamma((nu+1)/2), math.Gamma(nu/2)
	density := func(phi float64) float64 {
		y := math.Tan(phi)
		return a / (math.Sqrt(nu*math.Pi) * b) * math.Pow(1+y*y/nu, -(nu+1)/2) * (1 + y*y)
	}
	from, to, n := math.Atan(x), math.Pi/2-1e-9, 20_000
	h, sum := (to-from)/float64(n), 0.0
	for i := 0; i <= n; i++ {
		w := 2.0
		if i == 0 || i == n {
			w = 1
		} else if i%2 == 1 {
			w = 4
		}
		sum += w * density(from+float64(i)*h)
	}
	return sum * h / 3
}

// TestRowsAddUpToPersons checks that the block of rows is the same sample as that of persons.
func TestRowsAddUpToPersons(t *testing.T) {
	for _, name := range []string{"persons:n=40,m=5,d=3,law=student", "persons:n=300,m=7,d=2,uneven=1,tilt=2,between=1,law=pareto", "persons:n=5,m=1,d=1"} {
		s := open(t, name, "")
		x := draw(t, s, 3)
		rows := x.Rows()
		var flat []int64
		for _, ch := range rows.Chunks {
			flat = append(flat, ch.Dense...)
		}
		again := open(t, name, "")
		if again.both == nil {
			t.Errorf("%s: rows are drawn apart", name)
		}
		again.both = nil
		if y := draw(t, again, 3); !reflect.DeepEqual(y.Block, x.Block) || !reflect.DeepEqual(y.Rows(), rows) {
			t.Errorf("%s: drawn apart, another sample", name)
		}
		at := 0
		for _, ch := range x.Block.Chunks {
			for i, m := range ch.Rows {
				sum := make([]int64, s.Dim)
				for range m {
					for j := range sum {
						sum[j] += flat[at]
						at++
					}
				}
				if !reflect.DeepEqual(sum, ch.Dense[i*s.Dim:(i+1)*s.Dim]) || m < 1 || m > int64(s.MostRows) {
					t.Fatalf("%s: person %d of %d rows has %v, rows add up to %v", name, i, m, ch.Dense[i*s.Dim:(i+1)*s.Dim], sum)
				}
			}
		}
		if at != len(flat) || x.Block.Persons() != int64(s.Persons) {
			t.Errorf("%s: %d of %d numbers used, %d persons", name, at, len(flat), x.Block.Persons())
		}
	}
}

// TestPersonMeans checks that the mean is that of the persons' means, around the truth where rows
// are tilted.
func TestPersonMeans(t *testing.T) {
	b := &estimator.Block{Dim: 1, Chunks: []estimator.Chunk{{Persons: 2, Rows: []int64{1, 3}, Dense: []int64{4, 6}}}}
	if got := MeanOf(b, 0.5); got[0] != 1.5 {
		t.Errorf("got %v, want 1.5", got)
	}
	s := open(t, "persons:n=4000,m=20,d=2,mu=3,uneven=1,tilt=1", "")
	x := draw(t, s, 1)
	for j, m := range x.Mean {
		if math.Abs(m-3) > 6*s.Sigma[0]/math.Sqrt(4000) {
			t.Errorf("coordinate %d: mean of persons %v, want 3", j, m)
		}
	}
	// Weighted by rows the mean is higher by about tilt·uneven.
	if m := MeanOf(x.Rows(), s.Grid.Step)[0]; m < 3.6 || m > 4.4 {
		t.Errorf("mean of rows %v, want about 4", m)
	}
}

func TestAnisotropicSpreads(t *testing.T) {
	s := open(t, "anisotropic:n=4000,d=300,floor=1e-4", "")
	x := draw(t, s, 1)
	for _, j := range []int{0, 10, 40} {
		if got, want := covariance(s, x, j, j), math.Pow(0.81, float64(j+1)); math.Abs(got/want-1) > 6*math.Sqrt(2./4000) {
			t.Errorf("coordinate %d: variance %v, want %v", j, got, want)
		}
	}
	if s.SigmaMin != 1e-4 || s.Sigma[0] != 0.9 || s.Sigma[299] != 1e-4 || s.Grid.Step > 1e-6 {
		t.Errorf("declared %v … %v, step %v", s.Sigma[0], s.Sigma[299], s.Grid.Step)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSales(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "shop.dat", "1 2 3\n2 3 4\n4\n")
	s := open(t, "sales:file=shop,departments=2", dir)
	x := draw(t, s, 1)
	if s.Groups != 2 || s.Measure != groups.Rows || !reflect.DeepEqual(x.Mean, []float64{1, 4. / 3}) {
		t.Errorf("%d groups of %v, mean %v", s.Groups, s.Measure, x.Mean)
	}
	if ch := x.Block.Chunks[0]; !reflect.DeepEqual(ch.Values, []int64{2, 1, 1, 2, 1}) || !reflect.DeepEqual(ch.Starts, []int{0, 2, 4, 5}) {
		t.Errorf("%+v", ch)
	}
	prices := madeUp(4)
	y := draw(t, open(t, "sales:file=shop,measure=sum", dir), 1)
	for j, times := range []int64{1, 2, 2, 2} {
		if want := float64(times*prices[j]) / 300; math.Abs(y.Mean[j]-want) > 1e-12 {
			t.Errorf("item %d: mean %v, want %v", j, y.Mean[j], want)
		}
	}
}

func TestRatings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "movies.csv", "movieId,title,genres\n1,\"A, or B\",War|Drama\n7,C,Drama\n")
	write(t, dir, "ratings.csv", "userId,movieId,rating,timestamp\n5,1,3.5,0\n5,7,4.0,0\n9,7,0.5,0\n")
	s := open(t, "ratings:by=genre,measure=sum", dir)
	if x := draw(t, s, 1); s.Persons != 2 || s.Groups != 2 || math.Abs(x.Mean[0]-1.75) > 1e-12 || math.Abs(x.Mean[1]-4) > 1e-12 {
		t.Errorf("%d persons, %d groups, mean %v", s.Persons, s.Groups, x.Mean)
	}
	if x := draw(t, open(t, "ratings:by=movie", dir), 1); !reflect.DeepEqual(x.Mean, []float64{0.5, 1}) {
		t.Errorf("rows by movie: mean %v", x.Mean)
	}
}
