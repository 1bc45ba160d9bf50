package groups

import (
	"math/bits"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
)

// layout says what the columns of a group are.
type layout struct {
	parts   []part
	sums    []part // without columns
	values  int    // of a group
	width   int
	dim     int
	maxRows int64 // of a person in one group
}

// part is one aggregate in the layout.
type part struct {
	Aggregate
	first int          // its first column, of a sum without columns that of its mean
	at    int          // its place among the aggregates
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
	l.values = len(p.Aggregates)
	for i, a := range p.Aggregates {
		part := part{Aggregate: a, first: at, at: i}
		q := p.scalar(a, p.Rho)
		switch {
		case a.Measure.mean():
			part.means = scalar.NewMeans(q)
		case a.Measure == Sum:
			lo, hi := scalar.Range(q)
			part.total = span{scalar.Times(min(lo, 0), l.maxRows), scalar.Times(max(hi, 0), l.maxRows)}
		}
		if a.Mean > 0 {
			l.sums = append(l.sums, part)
			continue
		}
		l.parts = append(l.parts, part)
		at += a.Measure.Columns()
	}
	return l
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
func (l *layout) rows(m int64) int64 { return min(max(m, 0), l.maxRows) }

// centring says from where the differences of a mean's two columns are measured, and how far they
// reach.
type centring struct {
	centre int64   // in units of the part's means
	reach  int64   // of one row's difference; 0 where it is not declared
	kappa  float64 // how far a row's difference reaches about
	weight float64 // of a row, as a difference: κ or more
}

// maxDifference bounds the prepared entries, so that sums (block.Exact) have room for them: ±2^60.
const maxDifference = 1 << 60

// put sets the prepared entries of a part from those of one person in one group.
//
//	Persons      1 or 0
//	Rows         m                within [0, MaxRows]
//	Sum          T                within its public range
//	RowMean      T − c·m, m       in units of 2^-Shift steps, the difference within ±κm where bounds are declared
//	PersonMean   T/m − c, 1       in the same units
func (l *layout) put(to, x []int64, p *part, c centring) {
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
func (p *part) difference(m, total int64, c centring) int64 {
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

// prepare sets the prepared entries of all columns of one group.
func (l *layout) prepare(to, x []int64, centres []centring) {
	for k := range l.parts {
		l.put(to, x, &l.parts[k], centres[k])
	}
}

// groups calls visit for each group of one person, in order, with the columns of the group. x is
// memory for them: 0 before and after. Entries whose index does not rise are left out, as are those
// out of range.
func (l *layout) groups(p block.Person, x []int64, visit func(g int, x []int64)) {
	if p.Packed != nil {
		p.EachGroup(p.I, x, visit)
		clear(x)
		return
	}
	index, values := p.Entries()
	width, dim := int32(l.width), int32(l.dim)
	last := int32(-1)
	for e := 0; e < len(index); {
		j := index[e]
		if j <= last || j >= dim {
			e++
			continue
		}
		group := j / width
		from := group * width
		if values != nil && follow(index[e:], from, l.width) {
			visit(int(group), values[e:e+l.width])
			last, e = from+width-1, e+l.width
			continue
		}
		for ; e < len(index) && index[e] < from+width; e++ {
			if j = index[e]; j <= last {
				continue
			}
			last = j
			if x[j-from] = 1; values != nil {
				x[j-from] = values[e]
			}
		}
		visit(int(group), x)
		clear(x)
	}
}

// follow reports whether an index begins with from, from + 1, …, n of them.
func follow(index []int32, from int32, n int) bool {
	if len(index) < n {
		return false
	}
	for k, j := range index[:n] {
		if j != from+int32(k) {
			return false
		}
	}
	return true
}
