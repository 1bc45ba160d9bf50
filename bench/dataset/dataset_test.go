package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

func open(t *testing.T, name, dir string) *Set {
	t.Helper()
	s, err := Open(name, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func draw(t *testing.T, s *Set, seed uint64) Sample {
	t.Helper()
	x, err := s.Draw(seed)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// covariance returns the sample covariance of coordinates i and j in values.
func covariance(s *Set, x Sample, i, j int) float64 {
	sum := 0.0
	for _, ch := range Dense(x.Block).Chunks {
		for p := range ch.Persons {
			row := ch.Dense[p*s.Dim : (p+1)*s.Dim]
			sum += (float64(row[i])*s.Grid.Step - x.Mean[i]) * (float64(row[j])*s.Grid.Step - x.Mean[j])
		}
	}
	return sum / float64(s.Persons)
}

// TestMoments compares means and covariances with those that the sets promise, to five standard
// errors.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		name string
		i, j int
		want float64 // covariance
	}{
		{"gaussian:n=20000,d=8,mu=5,sd=2", 3, 3, 4},
		{"gaussian:n=20000,d=8,mu=5,sd=2", 3, 4, 0},
		{"gaussian-a:n=20000,d=8", 0, 0, 1},
		{"gaussian-b:n=20000,d=8,alpha=1", 0, 0, 1},
		{"gaussian-b:n=20000,d=8,alpha=1", 7, 7, 8},
		{"gaussian-c:n=20000,d=8", 7, 7, 64},
		{"gaussian-c:n=20000,d=8", 6, 7, 0},
		{"gaussian-c2:n=20000,d=8", 7, 7, 64},
		{"gaussian-c2:n=20000,d=8", 6, 7, 0.5 * 4 * 8},
		{"anywhere:n=20000,sd=3,span=50", 0, 0, 9},
		{"anywhere:n=20000,sd=3,span=50,law=exponential", 0, 0, 9},
		{"unit:n=20000,d=3", 1, 1, 2. / 63},
		{"unit:n=20000,d=3", 1, 2, 0},
		{"binary:n=20000,d=8,alpha=0.5,low=0.1", 0, 0, 0.25},
		{"binary:n=20000,d=8,alpha=0.5,low=0.1", 7, 7, 0.09},
	} {
		s := open(t, c.name, "")
		x := draw(t, s, 1)
		vi, vj := s.Variances[c.i], s.Variances[c.j]
		if got, se := covariance(s, x, c.i, c.j), math.Sqrt(2*vi*vj/float64(s.Persons)); math.Abs(got-c.want) > 5*se {
			t.Errorf("%s: covariance of %d and %d is %v, want %v", c.name, c.i, c.j, got, c.want)
		}
		if got, se := x.Mean[c.i], math.Sqrt(vi/float64(s.Persons)); math.Abs(got-x.Truth[c.i]) > 5*se {
			t.Errorf("%s: mean %v, want %v", c.name, got, x.Truth[c.i])
		}
	}
}

// TestRotatedSpectrum checks that Σ(kappa) has the trace of its variances and is not diagonal.
func TestRotatedSpectrum(t *testing.T) {
	s := open(t, "gaussian-kappa:n=4000,d=8,kappa=9", "")
	x := draw(t, s, 3)
	trace, off := 0.0, 0.0
	for i := range s.Dim {
		trace += covariance(s, x, i, i)
		off = max(off, math.Abs(covariance(s, x, i, (i+1)%s.Dim)))
	}
	if trace < 8 || trace > 72 || off < 0.3 {
		t.Errorf("trace %v, largest covariance %v", trace, off)
	}
	a2 := open(t, "gaussian-a2:n=4000,d=16", "")
	y := draw(t, a2, 3)
	if v := covariance(a2, y, 0, 0); v < 1 || v > 2.2 {
		t.Errorf("Gaussian A′: variance %v", v)
	}
	if v := covariance(a2, y, 0, 1); v < 0.05 {
		t.Errorf("Gaussian A′: covariance %v", v)
	}
}

func TestSamplesDependOnNameAndSeedAlone(t *testing.T) {
	for _, name := range []string{"gaussian-a:n=3000,d=100", "anywhere:n=300", "unit:n=300", "gaussian-kappa:n=300,d=10", "binary:n=300,d=10", "clicks:n=300,d=100,nnz=5"} {
		a, b := draw(t, open(t, name, ""), 1), draw(t, open(t, name, ""), 1)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: one seed, two samples", name)
		}
		if c := draw(t, open(t, name, ""), 2); reflect.DeepEqual(a.Block, c.Block) {
			t.Errorf("%s: two seeds, one sample", name)
		}
	}
	a, b := draw(t, open(t, "gaussian-b:n=50,d=4,alpha=0", ""), 1), draw(t, open(t, "gaussian-b:n=50,d=4,alpha=0.1", ""), 1)
	if reflect.DeepEqual(a.Block, b.Block) {
		t.Error("two names, one sample")
	}
}

// TestBlocksAreInForm checks what the estimators rely on.
func TestBlocksAreInForm(t *testing.T) {
	for _, name := range []string{"gaussian-c:n=5000,d=300", "binary:n=1000,d=300", "clicks:n=3000,d=500,nnz=48", "ladder:n=20,d=3,power=2", "gaussian:n=0,d=3", "binary:n=0,d=3"} {
		s := open(t, name, "")
		b := draw(t, s, 1).Block
		if b.Persons() != int64(s.Persons) || b.Dim != s.Dim || b.Sparse != s.Sparse {
			t.Errorf("%s: %d persons, dim %d, sparse %v", name, b.Persons(), b.Dim, b.Sparse)
		}
		for _, ch := range b.Chunks {
			if !s.Sparse && len(ch.Dense) != ch.Persons*s.Dim {
				t.Errorf("%s: %d numbers for %d persons", name, len(ch.Dense), ch.Persons)
			}
			for _, v := range ch.Dense {
				if v < s.Grid.Lo || v > s.Grid.Hi {
					t.Fatalf("%s: index %d outside the range", name, v)
				}
			}
			checkSparse(t, name, s, ch)
		}
	}
}

func checkSparse(t *testing.T, name string, s *Set, ch estimator.Chunk) {
	if !s.Sparse {
		return
	}
	if len(ch.Starts) != ch.Persons+1 || ch.Starts[ch.Persons] != len(ch.Index) {
		t.Fatalf("%s: starts do not match", name)
	}
	for i := range ch.Persons {
		row := ch.Index[ch.Starts[i]:ch.Starts[i+1]]
		for e, j := range row {
			if j < 0 || int(j) >= s.Dim || e > 0 && row[e-1] >= j {
				t.Fatalf("%s: row %v", name, row)
			}
		}
		if strings.HasPrefix(name, "clicks") && len(row) != 48 {
			t.Fatalf("%s: %d items", name, len(row))
		}
	}
}

func TestClicksAreSkewed(t *testing.T) {
	x := draw(t, open(t, "clicks:n=20000,d=1000,nnz=10,zipf=1", ""), 1)
	if x.Mean[0] < 3*x.Mean[9] || x.Mean[9] < 3*x.Mean[99] {
		t.Errorf("means of ranks 1, 10, 100: %v, %v, %v", x.Mean[0], x.Mean[9], x.Mean[99])
	}
}

func TestRanges(t *testing.T) {
	for name, want := range map[string]float64{ // half the range
		"gaussian-a:d=64": 200, "gaussian:d=16": 200, "gaussian-b:d=512,alpha=0": 25600, "gaussian-c:d=16": 50 * 16 * 4,
	} {
		s := open(t, name, "")
		if got := float64(s.Grid.Hi) * s.Grid.Step; got != want || s.Grid.Lo != -s.Grid.Hi || !s.Bounded {
			t.Errorf("%s: range ±%v, want ±%v", name, got, want)
		}
		if steps := s.Grid.Hi - s.Grid.Lo; steps > 1<<32 || steps <= 1<<31 {
			t.Errorf("%s: %d steps", name, steps)
		}
	}
	if s := open(t, "gaussian-a:range=0", ""); s.Bounded || s.Grid != undeclared || s.Params().Bounded() {
		t.Errorf("no range: %+v", s.Grid)
	}
}

func TestMeanOfIsExact(t *testing.T) {
	b := &estimator.Block{Dim: 2, Chunks: []estimator.Chunk{{Persons: 2, Dense: []int64{1 << 50, -1, -1 << 50, -2}}, {Persons: 1, Dense: []int64{3, 0}}}}
	if got := MeanOf(b, 2); got[0] != 2 || got[1] != -2 {
		t.Errorf("got %v, want [2 -2]", got)
	}
	sparse := &estimator.Block{Dim: 3, Sparse: true, Chunks: []estimator.Chunk{{Persons: 2, Starts: []int{0, 2, 3}, Index: []int32{0, 2, 2}, Values: []int64{4, 1, 1}}}}
	if got := MeanOf(sparse, 1); !reflect.DeepEqual(got, []float64{2, 0, 1}) || !reflect.DeepEqual(MeanOf(Dense(sparse), 1), got) {
		t.Errorf("got %v", got)
	}
	if MeanOf(&estimator.Block{Dim: 2}, 1) != nil {
		t.Error("a mean of no persons")
	}
}

func TestTransactions(t *testing.T) {
	dir := t.TempDir()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("7 3 3 \n\n9\n 3 9\n"))
	w.Close()
	if err := os.WriteFile(filepath.Join(dir, "shop.dat.gz"), z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "transactions:file=shop", dir)
	if x := draw(t, s, 9); s.Persons != 3 || s.Dim != 3 || !s.Fixed || !reflect.DeepEqual(x.Mean, []float64{2. / 3, 1. / 3, 2. / 3}) {
		t.Errorf("%d persons, %d items, mean %v", s.Persons, s.Dim, x.Mean)
	}
	if s := open(t, "transactions:file=shop,min-items=2", dir); s.Persons != 2 || s.Dim != 3 {
		t.Errorf("with two items: %d persons, %d items", s.Persons, s.Dim)
	}
	os.WriteFile(filepath.Join(dir, "bad.dat"), []byte("1 x\n"), 0o600)
	for name, want := range map[string]string{"transactions:file=bad": "line 1", "transactions:file=none": "no none.dat", "transactions": "want a word", "transactions:file=a/b": "want a word"} {
		if _, err := Open(name, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, err := Open("transactions:file=none", dir); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
}

func TestMNIST(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, dims []uint32, data []byte) {
		b := []byte{0, 0, 8, byte(len(dims))}
		for _, d := range dims {
			b = binary.BigEndian.AppendUint32(b, d)
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(b, data...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("train-images-idx3-ubyte", []uint32{3, 1, 2}, []byte{0, 255, 10, 20, 255, 255})
	file("train-labels-idx1-ubyte", []uint32{3}, []byte{4, 5, 4})
	s := open(t, "mnist:digit=4", dir)
	x := draw(t, s, 1)
	if s.Persons != 2 || s.Dim != 2 || math.Abs(x.Mean[0]-0.5) > s.Grid.Step || x.Mean[1] != 1 {
		t.Errorf("%d persons, dim %d, mean %v", s.Persons, s.Dim, x.Mean)
	}
	file("t10k-labels-idx1-ubyte", []uint32{3}, []byte{1})
	file("t10k-images-idx3-ubyte", []uint32{1, 1, 2}, []byte{1, 2})
	if _, err := Open("mnist:part=t10k", dir); err == nil || !strings.Contains(err.Error(), "bytes, want") {
		t.Errorf("a file cut short: %v", err)
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"gauss", "gaussian:dim=3", "gaussian:d=0", "gaussian:d=1.5", "clicks:d=10,nnz=6", ""} {
		if _, err := Open(name, ""); err == nil {
			t.Errorf("%q: no error", name)
		}
	}
}

// Dense returns a block of the same vectors in dense form.
func Dense(b *estimator.Block) *estimator.Block {
	if !b.Sparse {
		return b
	}
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks))}
	for c, ch := range b.Chunks {
		x := make([]int64, ch.Persons*b.Dim)
		for i := range ch.Persons {
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				x[i*b.Dim+int(ch.Index[e])] = value(ch, e)
			}
		}
		out.Chunks[c] = estimator.Chunk{Persons: ch.Persons, Rows: ch.Rows, Dense: x}
	}
	return out
}
