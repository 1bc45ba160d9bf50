package accuracy

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator/noise"
)

// gaboardiMethods are the estimators of [GRS19], which [HLY21] and [JKMW19] compare with. They are
// no part of the product, and their floating-point noise releases nothing.
func gaboardiMethods() []MethodKind {
	const common = "split=users|budget, told=0|1, published=0|1"
	return []MethodKind{
		{"known-var", common, "KnownVar [GRS19], (ε, 1e-9), told the spread. published=1 refuses below the paper's number of persons for the histogram, otherwise a quarter of all will do; " +
			"told=1 knows the centre: its noise alone. A person reports one coordinate, or all at a share of ε", openGaboardi(true)},
		{"unk-var", "split=users|budget, sigma-min=0.1", "UnkVar [GRS19]: median and 0.841 quantile by noisy binary search, a quarter of all for each, then the same", openGaboardi(false)},
	}
}

// gaboardi is what one coordinate's estimate is made with.
type gaboardi struct {
	eps, delta       float64
	radius, sd       float64 // |mean| is at most radius; the spread, or the smallest that it may be
	known, published bool
	told             *float64 // the centre, where it is known
	persons          float64  // of all coordinates, for the width of the clip
	r                *rand.Rand
}

// gaboardiBeta is the failure probability that the paper's constants are for.
const gaboardiBeta = 0.1

var errPersons = errors.New("too few persons for the published constants")

func openGaboardi(known bool) func(*named.Name) Method {
	return func(n *named.Name) Method {
		users := n.Word("split", "users", "users", "budget") == "users"
		told, published, least := false, false, 0.0
		if known {
			told, published = n.Int("told", 0, 0, 1) == 1, n.Int("published", 0, 0, 1) == 1
		} else {
			least = n.Float("sigma-min", 0.1, 1e-6, 1e6)
		}
		return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
			if s.Sparse || s.Radius == 0 || s.SigmaMin == 0 {
				return nil, errors.New("works on dense sets with a radius and a spread only")
			}
			g := gaboardi{eps: c.Rho, delta: shuffledDelta, radius: s.Radius, sd: s.SigmaMin, known: known, published: published, persons: float64(s.Persons)}
			if !known {
				g.sd = least
			}
			if !users && s.Dim > 1 {
				g.eps, g.delta = composed(c.Rho, shuffledDelta, s.Dim)
			}
			if known && published && g.histogramPersons() > g.rows(s, users)/4 {
				return nil, errPersons
			}
			return func(n noise.Noiser, x dataset.Sample) Answer { return g.run(n, s, x, users, told) }, nil
		}}
	}
}

// rows is how many persons report one coordinate.
func (g gaboardi) rows(s *dataset.Set, users bool) float64 {
	if users {
		return g.persons / float64(s.Dim)
	}
	return g.persons
}

// composed returns what each of d reports may lose for (ε, δ) in all by advanced composition: half
// of δ for the composition, half for the reports.
func composed(eps, delta float64, d int) (float64, float64) {
	k := float64(d)
	lo, hi := 0.0, eps
	for range 60 {
		e := (lo + hi) / 2
		if e*math.Sqrt(2*k*math.Log(2/delta))+k*e*math.Expm1(e) <= eps {
			lo = e
		} else {
			hi = e
		}
	}
	return lo, delta / (2 * k)
}

func (g gaboardi) run(n noise.Noiser, s *dataset.Set, x dataset.Sample, users, told bool) Answer {
	g.r = rand.New(words{n})
	columns := make([][]float64, s.Dim)
	for i, row := range floats(x.Block, s.Grid.Step) {
		for j, v := range row {
			if !users || i%s.Dim == j {
				columns[j] = append(columns[j], v)
			}
		}
	}
	out := make([]float64, s.Dim)
	for j, c := range columns {
		if told {
			g.told = &x.Truth[j]
		}
		out[j] = g.mean(c)
	}
	return Answer{Values: out}
}

// mean finds where the mean is with a quarter of the persons, and the spread with another; the rest
// clip to a window about it and add Gaussian noise.
func (g gaboardi) mean(x []float64) float64 {
	var centre float64
	sd, rest := g.sd, x
	switch {
	case g.told != nil:
		centre = *g.told
	case g.known:
		first := int(min(g.histogramPersons(), float64(len(x)/4)))
		centre, rest = g.heaviest(x[:first]), x[first:]
	default:
		quarter := len(x) / 4
		centre = g.search(x[:quarter], 0.5)
		sd, rest = max(g.search(x[quarter:2*quarter], 0.841)-centre, g.sd), x[2*quarter:]
	}
	width := sd * (2 + math.Sqrt(2*math.Log(8*g.persons/gaboardiBeta)))
	sum := 0.0
	for _, v := range rest {
		sum += min(max(v, centre-width), centre+width)
	}
	k := float64(len(rest))
	// The persons' noise is drawn at once.
	return sum/k + width*math.Sqrt(8*math.Log(2/g.delta)/k)/g.eps*g.r.NormFloat64()
}

// bins is how many bins of the spread's width the range has.
func (g gaboardi) bins() int { return int(math.Ceil(2 * g.radius / g.sd)) }

// histogramPersons is the number of persons that the paper asks for to find the heaviest bin.
func (g gaboardi) histogramPersons() float64 {
	a := 1 / math.Tanh(g.eps/4)
	return math.Ceil(800 * a * a * math.Log(8*float64(g.bins())/gaboardiBeta))
}

// heaviest returns the middle of the bin with the largest noisy count. Each bit of a person's row
// is flipped on its own with half of ε.
func (g gaboardi) heaviest(x []float64) float64 {
	counts := make([]float64, g.bins())
	for _, v := range x {
		counts[min(max(int((v+g.radius)/g.sd), 0), len(counts)-1)]++
	}
	keep := 1 / (1 + math.Exp(-g.eps/2))
	for i, c := range counts {
		counts[i] = g.binomial(c, keep) + g.binomial(float64(len(x))-c, 1-keep)
	}
	return (float64(slices.Index(counts, slices.Max(counts)))+0.5)*g.sd - g.radius
}

func (g gaboardi) binomial(n, p float64) float64 {
	if n == 0 {
		return 0
	}
	return distuv.Binomial{N: n, P: p, Src: g.r}.Rand()
}

// search finds a quantile by halving, down to the smallest spread. Every step asks other persons on
// which side they are.
func (g gaboardi) search(x []float64, q float64) float64 {
	lo, hi := -g.radius, g.radius
	steps := max(1, int(math.Ceil(math.Log2((hi-lo)/g.sd))))
	keep := 1 / (1 + math.Exp(-g.eps))
	for i := range steps {
		part, middle, below := x[i*len(x)/steps:(i+1)*len(x)/steps], (lo+hi)/2, 0.0
		for _, v := range part {
			if (v < middle) == (g.r.Float64() < keep) {
				below++
			}
		}
		if share := (below/float64(len(part)) - (1 - keep)) / (2*keep - 1); share < q {
			lo = middle
		} else {
			hi = middle
		}
	}
	return (lo + hi) / 2
}
