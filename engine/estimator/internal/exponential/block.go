package exponential

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// Search returns, for every coordinate, the cell of a quantile of the values x_ij, or of the
// distances |x_ij − centre_j| where centre is not nil. Each coordinate is one draw: q's loss,
// Dim times.
//
// Cost: a sort of each column, O(n log n), by all cores; the draws are made one after another in
// the order of the coordinates. Of a sparse block only the entries are sorted.
func (q Quantile) Search(n noise.Noiser, b *estimator.Block, axis block.Axis, centre []int64) []uint32 {
	out := make([]uint32, b.Dim)
	c := newColumns(b, axis, centre)
	wheels := make([]wheel, min(max(batchValues/max(c.persons, 1), 2), 64))
	for i := range wheels {
		wheels[i].memory = b.Memory
	}
	defer func() {
		for i := range wheels {
			wheels[i].done()
		}
		c.done()
	}()
	for from := 0; from < b.Dim; from += len(wheels) {
		wheels = wheels[:min(len(wheels), b.Dim-from)]
		c.fill(wheels, from, &q)
		for i := range wheels {
			out[from+i] = uint32(wheels[i].draw(n))
		}
	}
	return out
}

// batchValues bounds the values of the coordinates that are sorted at a time, as far as two
// coordinates allow it: they take up to 100 bytes each.
const batchValues = 1 << 22

// columns reads a block by coordinates.
type columns struct {
	b       *estimator.Block
	axis    block.Axis
	centre  []int64
	persons int64
	starts  []int // sparse: the entries of coordinate j are values[starts[j]:starts[j+1]]
	values  []int64
}

func newColumns(b *estimator.Block, axis block.Axis, centre []int64) *columns {
	c := &columns{b: b, axis: axis, centre: centre, persons: b.Persons()}
	if b.Sparse {
		c.transpose()
	}
	return c
}

// cell returns the cell of a value of coordinate j.
func (c *columns) cell(j int, v int64) uint32 {
	if c.centre != nil {
		v -= c.centre[j]
		v = max(v, -v)
	}
	return c.axis.Cell(v)
}

// transpose collects the entries of a sparse block by coordinate.
func (c *columns) transpose() {
	c.starts = make([]int, c.b.Dim+1)
	for _, ch := range c.b.Chunks {
		for _, j := range ch.Index[:ch.Starts[ch.Persons]] {
			c.starts[j+1]++
		}
	}
	for j := range c.b.Dim {
		c.starts[j+1] += c.starts[j]
	}
	c.values = estimator.Make[int64](c.b.Memory, c.starts[c.b.Dim])
	next := slices.Clone(c.starts)
	for _, ch := range c.b.Chunks {
		for e, j := range ch.Index[:ch.Starts[ch.Persons]] {
			v := int64(1)
			if ch.Values != nil {
				v = ch.Values[e]
			}
			c.values[next[j]] = v
			next[j]++
		}
	}
}

// done gives the entries' memory back.
func (c *columns) done() { estimator.Free(c.b.Memory, c.values) }

// fill makes the choices of the coordinates from, from+1, …
func (c *columns) fill(wheels []wheel, from int, q *Quantile) {
	var wg fork.Group
	workers := max(1, min(runtime.GOMAXPROCS(0), len(wheels)))
	for k := range workers {
		lo, hi := k*len(wheels)/workers, (k+1)*len(wheels)/workers
		wg.Go(func() {
			var data []run
			for i, cells := range c.cells(from+lo, hi-lo) {
				slices.Sort(cells)
				data = runs(c.b.Memory, data[:0], cells)
				if c.b.Sparse {
					data = insert(estimator.Grow(c.b.Memory, data, 1), uint64(c.cell(from+lo+i, 0)), c.persons-int64(len(cells)))
				}
				q.fill(&wheels[lo+i], data, 0, uint64(c.axis.Cells()-1))
				estimator.Free(c.b.Memory, cells)
			}
			estimator.Free(c.b.Memory, data)
		})
	}
	wg.Wait()
}

// cells returns the cells of some coordinates' values, of a sparse block the entries' alone. A
// dense one is read in one pass over the rows.
func (c *columns) cells(from, coordinates int) [][]uint32 {
	cells := make([][]uint32, coordinates)
	if c.b.Sparse {
		for i := range cells {
			values := c.values[c.starts[from+i]:c.starts[from+i+1]]
			cells[i] = estimator.Make[uint32](c.b.Memory, len(values))
			for k, v := range values {
				cells[i][k] = c.cell(from+i, v)
			}
		}
		return cells
	}
	for i := range cells {
		cells[i] = estimator.Make[uint32](c.b.Memory, int(c.persons))[:0]
	}
	for _, ch := range c.b.Chunks {
		for p := range ch.Persons {
			row := ch.Dense[p*c.b.Dim+from:]
			for i := range cells {
				cells[i] = append(cells[i], c.cell(from+i, row[i]))
			}
		}
	}
	return cells
}

// insert adds count values in one cell to sorted runs.
func insert(data []run, cell uint64, count int64) []run {
	if count == 0 {
		return data
	}
	i, found := slices.BinarySearchFunc(data, cell, byCell)
	if found {
		data[i].count += count
		return data
	}
	return slices.Insert(data, i, run{cell, count})
}

// Least chooses one of finitely many public candidates, one with a small score: P[i] ∝
// e^{−rate·score_i}. The scores of two neighbours differ by amounts that lie, over all candidates,
// in an interval of length span that holds 0; rate = ε/span. What is public may be part of a score.
//
// The weights are those of a pure choice (quantile.go): ε-DP and ε-bounded-range, without slack. At
// a loss ρ it is a choice at ε = √(8ρ), which costs ρ [CR21, Lemma 3.2].
type Least struct {
	loss   loss
	rate   float64
	powers powers
}

// NewLeast returns the choice at the loss of p's kind, ρ or ε, for scores of this span. It returns
// an error where the loss is too small to be divided so.
func NewLeast(p estimator.Params, span, share float64) (Least, error) {
	c, eps := Least{}, share
	if p.Pure() {
		c.loss.epsilon = share
	} else {
		c.loss.rho = share
		eps = math.Sqrt(8*share) * (1 - 0x1p-51) // two roundings of 2^-53
	}
	rate, err := pureRate(eps, span)
	if err != nil {
		return Least{}, err
	}
	c.rate, c.powers = rate, newFloored(rate)
	return c, nil
}

// Rate is the rate at which a candidate's weight falls with its score.
func (c *Least) Rate() float64 { return c.rate }

// Step describes the choice; moves is the range of the scores' changes, in the units that EXPLAIN
// shows.
func (c *Least) Step(name string, moves float64) estimator.Step {
	return c.loss.of(1, estimator.Step{Name: name, Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%g", moves)})
}

// Floored reports whether a candidate so far from the best one has the least weight that there is.
// So has any farther one, but for a rounding that quantile.go has room for: how far exactly does
// not matter.
func (c *Least) Floored(distance uint64) bool { return c.powers.at(distance) == least }

// Choose returns the number of a candidate.
func (c *Least) Choose(n noise.Noiser, scores []uint64) int {
	w := c.wheel(scores)
	return int(w.draw(n))
}

// wheel returns the choice among scores.
func (c *Least) wheel(scores []uint64) *wheel {
	best := scores[0]
	for _, s := range scores {
		best = min(best, s)
	}
	w := new(wheel)
	for i, s := range scores {
		w.add(uint64(i), 1, c.powers.at(s-best))
	}
	return w
}

// Fullest chooses a bucket that holds nearly as many persons as any, of a finite public number of
// buckets with each person in one of them: P[b] ∝ e^{rate·count_b}.
//
//	add-remove    one count moves by 1, all in one direction: range 1, rate = √(8ρ)
//	replace-one   one count falls and one grows: range 2, rate = √(2ρ)
//
// The count of the chosen bucket is at least the largest less ln(buckets/β)/rate, with probability
// 1−β.
type Fullest struct {
	buckets uint64
	loss    loss
	span    int
	rate    float64
	powers  powers
}

// NewFullest returns the choice among 1 to 2^62 buckets at loss rho and slack Slack.
func NewFullest(buckets uint64, rho float64, relation estimator.Relation) Fullest {
	checkBuckets(buckets, rho)
	span := int(relation.Factor())
	rate := math.Sqrt(8*rho) / float64(span) * (1 - 0x1p-50)
	return Fullest{buckets, loss{rho: rho}, span, rate, newPowers(rate)}
}

func checkBuckets(buckets uint64, loss float64) {
	if buckets < 1 || buckets > maxPoints || !(loss > 0) {
		panic(fmt.Sprintf("exponential: %d buckets at loss %v", buckets, loss))
	}
}

// Step describes the choice.
func (f Fullest) Step(name string) estimator.Step {
	return f.loss.of(1, estimator.Step{Name: name, Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%d", f.span)})
}

// Choose returns a bucket, given the number of each person's. sorted is in ascending order and
// below the number of buckets. m is for what it makes of them.
func (f Fullest) Choose(n noise.Noiser, m estimator.Memory, sorted []uint64) uint64 {
	w := f.wheel(m, sorted)
	defer w.done()
	return w.draw(n)
}

// wheel returns the choice for the buckets of the persons, in ascending order.
func (f *Fullest) wheel(m estimator.Memory, sorted []uint64) *wheel {
	data := runs(m, nil, sorted)
	defer estimator.Free(m, data)
	largest := int64(0)
	for _, r := range data {
		largest = max(largest, r.count)
	}
	w, next := &wheel{memory: m}, uint64(0)
	gap := func(end uint64) { // empty buckets from next to end−1
		if end > next {
			w.add(next, end-next, f.powers.at(uint64(largest)))
		}
	}
	for _, r := range data {
		gap(r.cell)
		w.add(r.cell, 1, f.powers.at(uint64(largest-r.count)))
		next = r.cell + 1
	}
	gap(f.buckets)
	return w
}
