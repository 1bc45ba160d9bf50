package exec

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"scrim/engine/estimator"
)

// gathering makes the block of all groups: its shards, in tasks of a few thousand records each, on all cores.
type gathering struct {
	*grouped
	numbers []int32 // of each group of the scan, its number among those that are answered; -1: its rows are left out
	lock    sync.Mutex
}

// bench is what a worker uses again and again.
type bench struct {
	records       []int64
	table         []int32  // a person's number and 1, by hash
	units         []int64  // of the persons
	owner         []int32  // of each record, its person; -1: none
	starts, order []int32  // the records of person p are order[starts[p]:starts[p+1]]
	keys          []uint64 // of one person's records
}

// taskRecords is about how many records are ordered at a time: with what is beside them they fit into a core's own cache.
const taskRecords = 1 << 12

// entryBytes is what an entry of a sparse block takes, twice: the estimator makes a block of its own.
const entryBytes = 2 * (4 + 8)

// block returns one sparse vector a person with entry number·width + c for column c of a group. What is 0 is left out, and so are persons
// of whom nothing is left. numbers gives each group of the scan its number in the block, or -1. It is a function of each person's own
// rows; the persons' order means nothing. The records are given up.
func (g *grouped) block(ctx context.Context, numbers []int32, groups int) (*estimator.Block, error) {
	width := len(g.entries)
	if groups > math.MaxInt32/width {
		return nil, errors.New("exec: too many groups for one vector")
	}
	var tasks [][]shard
	for from := 0; from < len(g.shards); {
		to, n := from, 0
		for to < len(g.shards) && (to == from || n+g.shards[to].records <= taskRecords) {
			n += g.shards[to].records
			to++
		}
		tasks = append(tasks, g.shards[from:to])
		from = to
	}
	b := &gathering{grouped: g, numbers: numbers}
	chunks, next := make([]estimator.Chunk, len(tasks)), atomic.Int64{}
	var eg errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		eg.Go(func() (err error) {
			var w bench
			for i := next.Add(1) - 1; int(i) < len(tasks) && err == nil && ctx.Err() == nil; i = next.Add(1) - 1 {
				err = errors.Join(guarded(func() { chunks[i], err = b.chunk(&w, tasks[i]) }), err)
			}
			return err
		})
	}
	if err := errors.Join(eg.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	chunks = slices.DeleteFunc(chunks, func(c estimator.Chunk) bool { return c.Persons == 0 })
	return &estimator.Block{Dim: groups * width, Sparse: true, Chunks: chunks}, nil
}

// chunk makes the chunk of some shards' persons, and frees the shards.
func (b *gathering) chunk(w *bench, shards []shard) (estimator.Chunk, error) {
	size, freed := b.size(), int64(0)
	w.records = w.records[:0]
	for i := range shards {
		freed += shards[i].bytes()
		for _, run := range shards[i].runs() {
			w.records = append(w.records, run...)
		}
		shards[i] = shard{}
	}
	b.persons(w, size)
	entries, persons := b.count(w, size), len(w.units)
	if err := b.exchange(freed, int64(entries*entryBytes+8*(persons+1))); err != nil {
		return estimator.Chunk{}, err
	}
	c := estimator.Chunk{Starts: make([]int, 1, persons+1), Index: make([]int32, 0, entries), Values: make([]int64, 0, entries)}
	for p := range persons {
		w.keys = w.keys[:0]
		for _, r := range w.order[w.starts[p]:w.starts[p+1]] {
			w.keys = append(w.keys, uint64(b.numbers[w.records[int(r)*size+1]])<<32|uint64(r))
		}
		sortFew(w.keys)
		b.vector(&c, w, size)
		if n := len(c.Index); n > c.Starts[len(c.Starts)-1] {
			c.Starts = append(c.Starts, n)
			c.Persons++
		}
	}
	return c, nil
}

// persons orders the records of groups that are answered by person.
func (b *gathering) persons(w *bench, size int) {
	n := len(w.records) / size
	mask := uint64(1)<<bits.Len(uint(2*n)) - 1
	w.table = cleared(w.table, int(mask+1))
	w.owner = slices.Grow(w.owner[:0], n)[:n]
	w.starts, w.units = append(w.starts[:0], 0), w.units[:0]
	for i := range w.owner {
		unit := w.records[i*size]
		w.owner[i] = -1
		if b.numbers[w.records[i*size+1]] < 0 {
			continue
		}
		at := mixed(unit, b.seed) & mask
		for w.table[at] > 0 && w.units[w.table[at]-1] != unit {
			at = (at + 1) & mask
		}
		if w.table[at] == 0 {
			w.units = append(w.units, unit)
			w.starts = append(w.starts, 0)
			w.table[at] = int32(len(w.units))
		}
		w.owner[i] = w.table[at] - 1
		w.starts[w.table[at]]++
	}
	w.scatter()
}

// scatter makes starts of the numbers of records in it, and orders the records.
func (w *bench) scatter() {
	for p := range w.units {
		w.starts[p+1] += w.starts[p]
	}
	w.order = cleared(w.order, int(w.starts[len(w.units)]))
	next := w.table[:len(w.units)] // the table has at least twice as many places as there are records
	copy(next, w.starts)
	for i, p := range w.owner {
		if p >= 0 {
			w.order[next[p]] = int32(i)
			next[p]++
		}
	}
}

// cleared returns n zeros in the memory of s where that suffices.
func cleared(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// count is the number of entries of the records: at least as many as there will be.
func (b *gathering) count(w *bench, size int) int {
	n := 0
	for i, p := range w.owner {
		if p < 0 {
			continue
		}
		r := w.records[i*size : (i+1)*size]
		for _, c := range b.entries {
			if r[2+c] != 0 {
				n++
			}
		}
	}
	return n
}

// vector appends the entries of one person, whose records come in the order of groups as keys: the group's number, and the record's.
// Groups come once; if one came again, its numbers would be added up.
func (b *gathering) vector(c *estimator.Chunk, w *bench, size int) {
	width := len(b.entries)
	for i := 0; i < len(w.keys); {
		group := w.keys[i] >> 32
		r := w.records[int(uint32(w.keys[i]))*size:][:size]
		i++
		for ; i < len(w.keys) && w.keys[i]>>32 == group; i++ {
			again := w.records[int(uint32(w.keys[i]))*size:][:size]
			for j, v := range again[2:] {
				r[2+j] = within(within(r[2+j]) + within(v))
			}
		}
		at := int(group) * width
		for j, column := range b.entries {
			if v := r[2+column]; v != 0 {
				c.Index = append(c.Index, int32(at+j))
				c.Values = append(c.Values, within(v))
			}
		}
	}
}

// exchange gives back what records took and takes what is made of them.
func (b *gathering) exchange(freed, taken int64) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.space.give(freed)
	return b.space.take(taken)
}

// within returns k within ±MaxUnits.
func within(k int64) int64 { return min(max(k, -estimator.MaxUnits), estimator.MaxUnits) }

// sortFew sorts keys that are few or nearly in order.
func sortFew(keys []uint64) {
	if len(keys) > 32 {
		slices.Sort(keys)
		return
	}
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}
