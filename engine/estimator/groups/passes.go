package groups

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
)

// The block is read once for all that looks and the sum need, and prepared entries are kept
// nowhere: they are made as they are read. What is kept is the sum of the vectors as they are, and
// for each person the squares of each column, from which norms by any weights of columns come. The
// sum of clipped vectors is then the first sum less what clipping takes away, and only persons
// beyond the radius are read again.

// measured is what one reading of all persons tells.
type measured struct {
	*estimator.Block
	centres []centring
	whole   *block.Exact // Σ_i y_i
	squares []float64    // person i's Σ_g y² of column c at i·width + c
}

// vectors are persons' prepared entries with weights of the coordinates and the norms by them.
type vectors struct {
	measured
	weights, norms []float64
}

// reading makes the prepared entries of one person at a time, for one core.
type reading struct {
	*layout
	centres []centring
	x, y    []int64
	visit   func(at int, y []int64) // with the entries of a group and the first one's index
	each    func(g int, x []int64)  // group, made once
}

func (l *layout) reading(centres []centring, visit func(at int, y []int64)) *reading {
	r := &reading{layout: l, centres: centres, x: make([]int64, l.width), y: make([]int64, l.width), visit: visit}
	r.each = r.group
	return r
}

func (r *reading) person(p block.Person) { r.groups(p, r.x, r.each) }

func (r *reading) group(g int, x []int64) {
	r.prepare(r.y, x, r.centres)
	r.visit(g*r.width, r.y)
}

// measure reads a block with the centres of the parts that are means.
func (l *layout) measure(b *estimator.Block, centres []centring) measured {
	m := measured{b, centres, block.NewExact(l.dim), estimator.Make[float64](b.Memory, int(b.Persons())*l.width)}
	block.EachPerson(b, func() (func(int, block.Person), func()) {
		own, squares := block.NewExact(l.dim), []float64(nil)
		r := l.reading(centres, func(at int, y []int64) {
			for c, v := range y {
				squares[c] += float64(float64(v) * float64(v))
			}
			own.AddAt(at, y)
		})
		return func(i int, p block.Person) {
			squares = m.squares[i*l.width : (i+1)*l.width : (i+1)*l.width]
			r.person(p)
		}, func() { m.whole.AddAll(own) }
	})
	return m
}

// norms returns ‖y‖_w of each person for weights of the columns, rounded up; +Inf where it is not
// finite. It is a function of one person at a time.
//
// With half unit u = 2^-53 the square of an entry is off by at most 3u of itself (integers above
// 2^53 are rounded too), a column's sum by as many u as there are groups, and the products, their
// sum and the root by 2 + width more: together less than the (dim+16)·2^-50 = 8(dim+16)u that is
// added.
func (l *layout) norms(m estimator.Memory, squares, weights []float64) []float64 {
	out, slack := estimator.Make[float64](m, len(squares)/l.width), l.slack()
	for i := range out {
		q := 0.0
		for c, s := range squares[i*l.width : (i+1)*l.width] {
			q += float64(weights[c] * s)
		}
		out[i] = root(float64(q * slack))
	}
	return out
}

// normsBy is norms for weights of the coordinates: the block is read again. The error is that of
// norms, with the products inside the sum.
func (m measured) normsBy(l *layout, weights []float64) []float64 {
	out, slack := estimator.Make[float64](m.Memory, int(m.Persons())), l.slack()
	block.EachPerson(m.Block, func() (func(int, block.Person), func()) {
		q := 0.0
		r := l.reading(m.centres, func(at int, y []int64) {
			for c, v := range y {
				q += float64(weights[at+c] * float64(float64(v)*float64(v)))
			}
		})
		return func(i int, p block.Person) {
			q = 0
			r.person(p)
			out[i] = root(float64(q * slack))
		}, func() {}
	})
	return out
}

func (l *layout) slack() float64 { return 1 + float64(l.dim+16)*0x1p-50 }

// root is √q, +Inf for what is not a number.
func root(q float64) float64 {
	if q = math.Sqrt(q); q != q {
		return math.Inf(1)
	}
	return q
}

// clipSum returns Σ_i a_i·y_i for every coordinate, exactly, with the factors a_i of block.ClipSum,
// in units of 2^-ClipBits:
//
//	2^ClipBits·Σ_i y_i − Σ_i (2^ClipBits − a_i)·y_i
//
// where the second sum has only those who are shortened. The integers are those of block.ClipSum on
// the prepared entries, and so is the bound: a_i/2^ClipBits·‖y_i‖_w ≤ radius, as norms are never
// under the true ones.
func (v vectors) clipSum(l *layout, radius float64) []*big.Int {
	less := block.NewExact(l.dim)
	block.EachPerson(v.Block, func() (func(int, block.Person), func()) {
		own, short := block.NewExact(l.dim), int64(0)
		r := l.reading(v.centres, func(at int, y []int64) {
			for c, x := range y {
				own.AddTimes(at+c, x, short)
			}
		})
		return func(i int, p block.Person) {
			if short = block.Shortening(v.norms[i], radius); short > 0 {
				r.person(p)
			}
		}, func() { less.AddAll(own) }
	})
	return v.whole.Less(less)
}
