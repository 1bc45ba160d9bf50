package groups

import (
	"math/bits"
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// layout says what the columns of a group are.
type layout struct {
	parts   []part
	width   int
	dim     int
	maxRows int64 // of a person in one group
}

// part is one aggregate in the layout.
type part struct {
	Aggregate
	first int          // its first column
	means scalar.Means // of a mean's argument
	total span         // of a sum: the public range of a person's total in one group
}

// span is a range that holds 0.
type span struct{ lo, hi int64 }

func (s span) of(x int64) int64 { return min(max(x, s.lo), s.hi) }

// farthest is the largest size of a number in the range.
func (s span) farthest() int64 { return max(s.hi, -s.lo) }

func newLayout(p Params) layout {
	l := layout{width: p.Width(), dim: p.Groups * p.Width(), maxRows: estimator.MaxUnits}
	if p.MaxRows > 0 {
		l.maxRows = min(p.MaxRows, l.maxRows)
	}
	at := 0
	for _, a := range p.Aggregates {
		part := part{Aggregate: a, first: at}
		q := p.scalar(a, p.Rho)
		switch {
		case a.Measure.mean():
			part.means = scalar.NewMeans(q)
		case a.Measure == Sum:
			lo, hi := scalar.Range(q)
			part.total = span{times(min(lo, 0), l.maxRows), times(max(hi, 0), l.maxRows)}
		}
		l.parts = append(l.parts, part)
		at += a.Measure.Columns()
	}
	return l
}

// times returns x·rows within ±2^50, for rows >= 1 and |x| <= 2^50.
func times(x, rows int64) int64 {
	over, c := bits.Mul64(uint64(max(x, -x)), uint64(rows))
	if over > 0 || c > estimator.MaxUnits {
		c = estimator.MaxUnits
	}
	if x < 0 {
		return -int64(c)
	}
	return int64(c)
}

// nonNegative reports whether no prepared entry can be negative.
func (l layout) nonNegative() bool {
	for _, p := range l.parts {
		if p.Measure.mean() || p.total.lo < 0 {
			return false
		}
	}
	return true
}

// declared reports whether the bounds of a mean's argument are declared.
func (p part) declared() bool { return p.Lower != nil }

// rows returns the number of rows of a person in a group, within its public range.
func (l layout) rows(m int64) int64 { return min(max(m, 0), l.maxRows) }

// centring says from where the differences of a mean's two columns are measured, and how far they reach.
type centring struct {
	centre int64 // in units of the part's means
	reach  int64 // of one row's difference; 0 where it is not declared
}

// maxDifference bounds the prepared entries, so that block's passes have room for them: ±2^60.
const maxDifference = 1 << 60

// put sets the prepared entries of a part from those of one person in one group.
//
//	Persons      1 or 0
//	Rows         m                within [0, MaxRows]
//	Sum          T                within its public range
//	RowMean      T − c·m, m       in units of 2^-Shift steps, the difference within ±κm where bounds are declared
//	PersonMean   T/m − c, 1       in the same units
func (l layout) put(to, x []int64, p part, c centring) {
	to, x = to[p.first:], x[p.first:]
	switch p.Measure {
	case Persons:
		to[0] = min(max(x[0], 0), 1)
	case Rows:
		to[0] = l.rows(x[0])
	case Sum:
		to[0] = p.total.of(x[0])
	default:
		to[0], to[1] = 0, 0
		m := l.rows(x[1])
		if m == 0 {
			return
		}
		if p.Measure == PersonMean {
			to[0], to[1] = p.means.Of(m, x[0])-c.centre, 1
			return
		}
		to[0], to[1] = p.difference(m, x[0], c), m
	}
}

// difference returns T − c·m within its range.
func (p part) difference(m, total int64, c centring) int64 {
	total = min(max(total, -estimator.MaxUnits), estimator.MaxUnits) << p.means.Shift
	most := int64(maxDifference)
	if c.reach > 0 {
		if over, r := bits.Mul64(uint64(c.reach), uint64(m)); over == 0 && r < maxDifference {
			most = int64(r)
		}
	}
	over, away := bits.Mul64(uint64(max(c.centre, -c.centre)), uint64(m))
	if over > 0 || away > 1<<61 {
		away = 1 << 61
	}
	d := total - int64(away)
	if c.centre < 0 {
		d = total + int64(away)
	}
	return min(max(d, -most), most)
}

// prepare returns the block of prepared entries: a map of one person at a time. centres are those of the parts that are means.
// Entries whose index does not rise are left out, as are those out of range.
func (l layout) prepare(b *estimator.Block, centres []centring) *estimator.Block {
	out := &estimator.Block{Dim: l.dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks))}
	l.each(b, func(i int, ch *estimator.Chunk, _ int) {
		w := writer{chunk: &out.Chunks[i]}
		w.begin(ch)
		to := make([]int64, l.width)
		l.persons(ch, func(_ int, g int, x []int64) {
			for k, p := range l.parts {
				l.put(to, x, p, centres[k])
			}
			w.add(g*l.width, to)
		}, w.end)
	})
	return out
}

// each calls work for each chunk, several at a time, with the number of its first person.
func (l layout) each(b *estimator.Block, work func(i int, ch *estimator.Chunk, at int)) {
	var all sync.WaitGroup
	at := 0
	for i := range b.Chunks {
		ch, from := &b.Chunks[i], at
		all.Go(func() { work(i, ch, from) })
		at += ch.Persons
	}
	all.Wait()
}

// persons calls visit for each group of each person, with the columns of the group, and done after each person. x is the same
// memory each time.
func (l layout) persons(ch *estimator.Chunk, visit func(i, g int, x []int64), done func()) {
	x := make([]int64, l.width)
	width := int32(l.width)
	for i := range ch.Persons {
		last, group := int32(-1), int32(-1)
		for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
			j := ch.Index[e]
			if j <= last || int(j) >= l.dim {
				continue
			}
			last = j
			if g := j / width; g != group {
				if group >= 0 {
					visit(i, int(group), x)
					clear(x)
				}
				group = g
			}
			x[j%width] = value(ch, e)
		}
		if group >= 0 {
			visit(i, int(group), x)
			clear(x)
		}
		done()
	}
}

func value(ch *estimator.Chunk, e int) int64 {
	if ch.Values == nil {
		return 1
	}
	return ch.Values[e]
}

// writer fills a chunk person by person.
type writer struct{ chunk *estimator.Chunk }

func (w writer) begin(from *estimator.Chunk) {
	size := len(from.Index)
	*w.chunk = estimator.Chunk{
		Persons: from.Persons, Starts: make([]int, 1, from.Persons+1),
		Index: make([]int32, 0, size), Values: make([]int64, 0, size),
	}
}

// add adds the entries of one group that are not 0.
func (w writer) add(at int, x []int64) {
	for c, v := range x {
		if v != 0 {
			w.chunk.Index = append(w.chunk.Index, int32(at+c))
			w.chunk.Values = append(w.chunk.Values, v)
		}
	}
}

func (w writer) end() { w.chunk.Starts = append(w.chunk.Starts, len(w.chunk.Index)) }
