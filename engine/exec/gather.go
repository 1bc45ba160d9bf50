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
	groups  int     // that are answered
	lock    sync.Mutex
}

// bench is what a worker uses again and again.
type bench struct {
	records       []int64  // with the group's number among those that are answered in the group's place
	table         []int32  // a person's number and 1, by hash
	units         []int64  // of the persons
	owner         []int32  // of each record, its person; -1: none
	byGroup       []int32  // the records in the order of groups
	starts, order []int32  // the records of person p are order[starts[p]:starts[p+1]], in the order of groups
	keys          []uint64 // of one person's records, to be sorted
	entries       int      // of the records: at least as many as there will be
}

// taskRecords is about how many records are ordered at a time: with what is beside them they fit into a core's own cache.
const taskRecords = 1 << 12

// What an entry of a sparse block takes, and a person: of many, half are copied once more at most, and for each a few numbers are kept (package groups).
const (
	entryBytes  = (4 + 8) * 3 / 2
	personBytes = 8 // a number
)

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
	b := &gathering{grouped: g, numbers: numbers, groups: groups}
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
	persons := len(w.units)
	if err := b.exchange(freed, int64(w.entries*entryBytes+8+persons*personBytes*(len(b.entries)+3))); err != nil {
		return estimator.Chunk{}, err
	}
	c := estimator.Chunk{Starts: make([]int, 1, persons+1), Index: make([]int32, w.entries), Values: make([]int64, w.entries)}
	at := 0
	for p := range persons {
		to := b.vector(&c, at, w.records, w.order[w.starts[p]:w.starts[p+1]])
		if to > at {
			c.Starts = append(c.Starts, to)
			c.Persons++
		}
		at = to
	}
	c.Index, c.Values = c.Index[:at], c.Values[:at]
	return c, nil
}

// persons numbers the persons of the records of groups that are answered, and orders these by person and group.
func (b *gathering) persons(w *bench, size int) {
	n := len(w.records) / size
	mask := uint64(1)<<bits.Len(uint(2*n)) - 1
	w.table = cleared(w.table, int(mask+1))
	w.owner = slices.Grow(w.owner[:0], n)[:n]
	w.starts, w.units, w.entries = append(w.starts[:0], 0), w.units[:0], 0
	for i := range w.owner {
		r := w.records[i*size : (i+1)*size]
		r[1] = int64(b.numbers[r[1]])
		if r[1] < 0 {
			w.owner[i] = -1
			continue
		}
		at := mixed(r[0], b.seed) & mask
		for w.table[at] > 0 && w.units[w.table[at]-1] != r[0] {
			at = (at + 1) & mask
		}
		if w.table[at] == 0 {
			w.units = append(w.units, r[0])
			w.starts = append(w.starts, 0)
			w.table[at] = int32(len(w.units))
		}
		w.owner[i] = w.table[at] - 1
		w.starts[w.table[at]]++
		for _, c := range b.entries {
			if r[2+c] != 0 {
				w.entries++
			}
		}
	}
	for p := range w.units {
		w.starts[p+1] += w.starts[p]
	}
	w.order = cleared(w.order, int(w.starts[len(w.units)]))
	w.byGroup = w.byGroup[:0]
	if b.groups <= n {
		w.sortGroups(size, b.groups)
		w.scatter()
		return
	}
	for i, p := range w.owner {
		if p >= 0 {
			w.byGroup = append(w.byGroup, int32(i))
		}
	}
	w.scatter()
	w.sortPersons(size)
}

// sortGroups orders the records by group, by counting. For few groups that is less work than to sort those of each person.
func (w *bench) sortGroups(size, groups int) {
	next := cleared(w.table, groups+1) // the table has at least twice as many places as there are records, and is not read any more
	for i, p := range w.owner {
		if p >= 0 {
			next[w.records[i*size+1]+1]++
		}
	}
	for g := range groups {
		next[g+1] += next[g]
	}
	w.byGroup = cleared(w.byGroup, len(w.order))
	for i, p := range w.owner {
		if p >= 0 {
			g := w.records[i*size+1]
			w.byGroup[next[g]] = int32(i)
			next[g]++
		}
	}
}

// scatter orders records by person, those of a person as they come: by group, where they are sorted.
func (w *bench) scatter() {
	next := w.table[:len(w.units)]
	copy(next, w.starts)
	for _, i := range w.byGroup {
		p := w.owner[i]
		w.order[next[p]] = i
		next[p]++
	}
}

// sortPersons orders the records of each person by group.
func (w *bench) sortPersons(size int) {
	for p := range w.units {
		own := w.order[w.starts[p]:w.starts[p+1]]
		w.keys = w.keys[:0]
		for _, i := range own {
			w.keys = append(w.keys, uint64(w.records[int(i)*size+1])<<32|uint64(i))
		}
		sortFew(w.keys)
		for k, key := range w.keys {
			own[k] = int32(uint32(key))
		}
	}
}

// cleared returns n zeros in the memory of s where that suffices.
func cleared(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// vector writes the entries of one person from place at on, and returns the place after them. The records are in the order of
// groups. Groups come once; if one came again, its numbers would be added up.
func (b *gathering) vector(c *estimator.Chunk, at int, records []int64, order []int32) int {
	size, width := b.size(), len(b.entries)
	for i := 0; i < len(order); {
		r := records[int(order[i])*size:][:size]
		for i++; i < len(order); i++ {
			again := records[int(order[i])*size:][:size]
			if again[1] != r[1] {
				break
			}
			for j, v := range again[2:] {
				r[2+j] = within(within(r[2+j]) + within(v))
			}
		}
		first := int(r[1]) * width
		for j, column := range b.entries {
			if v := r[2+column]; v != 0 {
				c.Index[at], c.Values[at] = int32(first+j), within(v)
				at++
			}
		}
	}
	return at
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
