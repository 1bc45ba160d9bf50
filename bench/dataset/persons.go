package dataset

import (
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

var people = []Kind{
	{"persons", "n=1000,m=16,d=1,law=gaussian|student|pareto,k=4,mu=0,between=0,uneven=0,tilt=0,range=1000",
		"n persons with m rows each, coordinates independent with variance 1 and, but for gaussian, tails that leave k moments; between: spread of the persons' own means; " +
			"uneven: the logarithm of a person's rows has this spread; tilt: persons with e^uneven times the usual rows have a mean that is higher by so much", openPersons},
}

// rowsOf is how persons' rows are made.
type rowsOf struct {
	persons, rows, dim    int
	mu                    float64
	between, uneven, tilt float64
	draw                  law
	seed                  rng
}

// mostUneven bounds a person's rows where they are uneven: so many times the usual number.
const mostUneven = 64

func openPersons(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 1000, 1)
	m := n.Int("m", 16, 1, 1<<20)
	p := rowsOf{persons: s.Persons, rows: m, dim: s.Dim, mu: n.Float("mu", 0, -1e9, 1e9),
		between: n.Float("between", 0, 0, 1e9), uneven: n.Float("uneven", 0, 0, 3), tilt: n.Float("tilt", 0, -1e9, 1e9)}
	s.Moment = n.Float("k", 4, 2, 64)
	shape := n.Word("law", "gaussian", "gaussian", "student", "pareto")
	s.Rows, s.MostRows, s.RowSigma = m, m, 1
	if p.uneven > 0 {
		s.MostRows = mostUneven * m
	}
	s.Sigma = []float64{math.Sqrt(p.between*p.between + p.tilt*p.tilt + 1/float64(m))}
	s.SigmaMin, s.Radius = s.Sigma[0], 50*math.Sqrt(float64(s.Dim))
	s.symmetric(n, 1000)
	if !n.OK() {
		return nil, nil
	}
	p.draw = laws[shape](s.Moment)
	truth := constant(s.Dim, p.mu)
	s.draw = func(r rng) (*estimator.Block, []float64, error) { return s.totals(p.with(r)), truth, nil }
	s.rows = func(r rng) *estimator.Block { return s.each(p.with(r)) }
	if s.Persons*m*s.Dim <= mostKept {
		s.both = func(r rng) (persons, rows *estimator.Block, means []float64) {
			persons, rows = s.drawn(p.with(r))
			return persons, rows, truth
		}
	}
	return s, nil
}

func (p rowsOf) with(r rng) rowsOf { p.seed = r; return p }

// mostKept bounds the numbers of rows that are kept with the persons' sums: 64 MiB. More are drawn
// a second time.
const mostKept = 1 << 23

// totals is the block of one vector a person: the sum of the rows, with their number.
func (s *Set) totals(p rowsOf) *estimator.Block {
	return s.chunks(p, func(_ int, g *rand.Rand, persons int) estimator.Chunk {
		ch, _ := s.fill(p, g, persons, false)
		return ch
	})
}

// each is the block of the same rows with a vector each.
func (s *Set) each(p rowsOf) *estimator.Block {
	return s.chunks(p, func(_ int, g *rand.Rand, persons int) estimator.Chunk {
		_, ch := s.fill(p, g, persons, true)
		return ch
	})
}

// drawn is both blocks at once.
func (s *Set) drawn(p rowsOf) (persons, rows *estimator.Block) {
	rows = &estimator.Block{Dim: p.dim, Chunks: make([]estimator.Chunk, p.parts())}
	persons = s.chunks(p, func(c int, g *rand.Rand, persons int) (ch estimator.Chunk) {
		ch, rows.Chunks[c] = s.fill(p, g, persons, true)
		return ch
	})
	return persons, rows
}

// fill draws the rows of some persons; it returns their sums and, where kept, the rows themselves.
func (s *Set) fill(p rowsOf, g *rand.Rand, persons int, keep bool) (sums, rows estimator.Chunk) {
	sums = estimator.Chunk{Persons: persons, Rows: make([]int64, persons), Dense: make([]int64, persons*p.dim)}
	for i := range persons {
		sum := sums.Dense[i*p.dim : (i+1)*p.dim]
		p.person(g, func(x []float64) {
			sums.Rows[i]++
			rows.Persons++
			for j, v := range x {
				k := s.index(v)
				sum[j] += k
				if keep {
					rows.Dense = append(rows.Dense, k)
				}
			}
		})
	}
	return sums, rows
}

// part is the number of persons of a chunk, such that it draws about chunkEntries numbers.
func (p rowsOf) part() int { return max(1, chunkEntries/(p.dim*p.rows)) }

// parts is the number of chunks.
func (p rowsOf) parts() int { return (p.persons + p.part() - 1) / p.part() }

// chunks makes a block, chunk by chunk.
func (s *Set) chunks(p rowsOf, fill func(c int, g *rand.Rand, persons int) estimator.Chunk) *estimator.Block {
	b := &estimator.Block{Dim: p.dim, Chunks: make([]estimator.Chunk, p.parts())}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c := range b.Chunks {
		g.Go(func() error {
			b.Chunks[c] = fill(c, p.seed.part(c), min(p.part(), p.persons-c*p.part()))
			return nil
		})
	}
	_ = g.Wait() // no part fails
	return b
}

// person draws the rows of one person.
func (p rowsOf) person(g *rand.Rand, add func(x []float64)) {
	rows, shift := p.rows, 0.0
	if p.uneven > 0 {
		z := g.NormFloat64()
		// The expected number of rows is about p.rows.
		many := math.Round(float64(p.rows) * math.Exp(p.uneven*z-p.uneven*p.uneven/2))
		rows, shift = int(min(max(many, 1), mostUneven*float64(p.rows))), p.tilt*z
	}
	own, x := make([]float64, p.dim), make([]float64, p.dim)
	for j := range own {
		own[j] = p.mu + shift
		if p.between > 0 {
			own[j] += p.between * g.NormFloat64()
		}
	}
	for range rows {
		for j := range x {
			x[j] = own[j] + p.draw(g)
		}
		add(x)
	}
}
