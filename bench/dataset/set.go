package dataset

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
)

// Set is a named data set with the facts about it that are public in the experiments.
type Set struct {
	Name    string // canonical: the kind with all parameters
	Persons int
	Dim     int
	Sparse  bool
	Entries int // numbers of one sample that are stored
	// Grid is the lattice of the values; Bounded says that its range is a declared one, otherwise
	// it is that of numbers nobody declares anything about.
	Grid    estimator.Grid
	Bounded bool
	P       float64 // the error's norm in the paper: 2 or 1
	Fixed   bool    // every sample is the same: a file, or a set without chance

	// What methods that need declarations are told, in values.
	Radius float64 // bound on the norm of the mean; 0: none
	// bounds on the spread of each coordinate, one for all where there is one; nil: none
	Sigma    []float64
	SigmaMin float64 // smallest spread of a coordinate; 0: none

	// Persons with several rows: a block then has the sums of their rows, with the numbers of them.
	Rows     int     // usual number of rows of a person; 0: one, and each person has it
	MostRows int     // most rows of a person
	Moment   float64 // the order of the moments that a row has; 0: not told
	RowSigma float64 // spread of a row's coordinate; 0: not told

	// A set of GROUP BY: a coordinate is a group, and what is estimated are the groups' totals.
	Groups  int            // 0: none
	Measure groups.Measure // what the totals are of: persons, rows, a sum

	Variances []float64 // true variances of the coordinates, where known
	Observed  bool      // there is no distribution behind it: samples have no Truth

	draw func(r rng) (*estimator.Block, []float64, error)
	// the same sample, one vector a row; nil where a person has one
	rows func(r rng) *estimator.Block
	// both is draw with the rows in the same pass, where they are few enough to be kept; nil
	// elsewhere.
	both func(r rng) (persons, rows *estimator.Block, truth []float64)
	once sync.Once
	kept Sample
	err  error
}

// Sample is one draw of a set.
type Sample struct {
	Block *estimator.Block
	// mean of the block's vectors, of the persons' means where they have several rows, in values
	Mean  []float64
	Truth []float64 // mean of the distribution; nil where there is none
	// Rows makes the block of the sample's rows with a vector each; nil where a person has one row.
	Rows func() *estimator.Block
}

// rng gives independent generators for parts of one sample.
type rng struct{ hi, lo uint64 }

// part returns the generator of part i.
func (r rng) part(i int) *rand.Rand {
	return rand.New(rand.NewPCG(r.hi, r.lo+uint64(i)*0x9e3779b97f4a7c15))
}

// Open returns the set of a name. Files are looked for in dir.
func Open(text, dir string) (*Set, error) {
	n, err := named.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	for _, k := range kinds {
		if k.Name != n.Kind {
			continue
		}
		s, err := k.open(n, dir)
		if err := n.Check(); err != nil {
			return nil, fmt.Errorf("dataset: %w", err)
		}
		if err != nil {
			return nil, fmt.Errorf("dataset: %s: %w", text, err)
		}
		s.Name = n.String()
		return s, nil
	}
	return nil, fmt.Errorf("dataset: no data set %q; there are %s", n.Kind, strings.Join(names(), ", "))
}

// Kind describes a kind of data set.
type Kind struct {
	Name   string
	Params string // its parameters with defaults, for a list
	Text   string
	open   func(n *named.Name, dir string) (*Set, error)
}

var kinds = slices.Concat(gaussians, scalars, people, anisotropics, binaries, files, grouped)

// Kinds lists what Open knows.
func Kinds() []Kind { return slices.Clone(kinds) }

func names() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Name)
	}
	return out
}

// Draw makes the sample of a seed.
func (s *Set) Draw(seed uint64) (Sample, error) {
	if !s.Fixed {
		return s.sample(seed)
	}
	s.once.Do(func() { s.kept, s.err = s.sample(0) })
	return s.kept, s.err
}

func (s *Set) sample(seed uint64) (Sample, error) {
	h := fnv.New64a()
	h.Write([]byte(s.Name))
	if s.both != nil {
		b, rows, truth := s.both(rng{seed, h.Sum64()})
		return Sample{b, MeanOf(b, s.Grid.Step), truth, func() *estimator.Block { return rows }}, nil
	}
	b, truth, err := s.draw(rng{seed, h.Sum64()})
	if err != nil {
		return Sample{}, fmt.Errorf("dataset: %s: %w", s.Name, err)
	}
	out := Sample{Block: b, Mean: MeanOf(b, s.Grid.Step), Truth: truth}
	if s.rows != nil {
		out.Rows = sync.OnceValue(func() *estimator.Block { return s.rows(rng{seed, h.Sum64()}) })
	}
	return out, nil
}

// Params are the public facts as the estimators take them, without what must be declared: one row a
// person, or any number where persons have several.
func (s *Set) Params() estimator.Params {
	p := estimator.Params{Grid: s.Grid, MaxRows: 1}
	if s.MostRows > 1 {
		p.MaxRows = 0
	}
	if s.Bounded {
		lo, hi := s.Grid.Lo, s.Grid.Hi
		p.Lower, p.Upper = &lo, &hi
	}
	return p
}

// undeclared is the grid of numbers of which nothing is declared: the planner's.
var undeclared = estimator.Grid{Step: 0x1p-20, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

// setRange declares the range [lo, hi] for every coordinate: the grid is then the smallest power of
// two that cuts it into at most 2^32 steps. lo = hi declares nothing.
func (s *Set) setRange(lo, hi float64) {
	s.Grid, s.Bounded = undeclared, lo < hi
	if !s.Bounded {
		return
	}
	need := max((hi-lo)/(1<<32), math.Abs(lo)/estimator.MaxUnits, math.Abs(hi)/estimator.MaxUnits)
	frac, exp := math.Frexp(need)
	if frac == 0.5 {
		exp--
	}
	step := math.Ldexp(1, exp)
	s.Grid = estimator.Grid{Step: step, Lo: int64(math.Round(lo / step)), Hi: int64(math.Round(hi / step))}
}
