package exec

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"scrim/engine/estimator"
	"scrim/internal/processors"
	"scrim/internal/spill"
)

// gathering makes the block of all groups: its shards, in tasks of a few thousand records each, on
// all cores.
type gathering struct {
	*grouped
	groups int // that are answered
}

// scratch is what a worker uses again and again. It lies in the memory of the records: a shard of
// very many is as good as one of few.
type scratch struct {
	memory *spill.Area
	bytes  []byte  // records
	names  []int64 // unit of each record
	groups []int32 // group of each record
	// where each record's numbers begin; one more, which is where the last ones end
	at      []int
	ends    []int
	table   []int32 // a person's number and 1, by hash
	units   []int64 // of the persons
	owner   []int32 // of each record, its person
	byGroup []int32 // the records in the order of groups
	// the records of person p are order[starts[p]:starts[p+1]], in the order of groups
	starts, order []int32
	keys          []uint64
	packed        []byte
	low           []uint64 // sums of the numbers of a group, of 128 bits
	high          []int64
	packedSum     []byte
	totals        *totals
	sums          sumRuns
}

func (g *grouped) scratch() *scratch {
	return &scratch{memory: g.held, low: make([]uint64, g.packing.Numbers), high: make([]int64, g.packing.Numbers)}
}

// taskRecords is about how many records are ordered at a time: with what is beside them they fit
// into a core's own cache.
const taskRecords = 1 << 12

// block returns one sparse vector a person with entry number·width + c for column c of a group.
// What is 0 is left out, and so are persons of whom nothing is left. It is a function of each
// person's own rows; the persons' order means nothing. The records are given up.
func (g *grouped) block(ctx context.Context, groups int) (*estimator.Block, error) {
	defer g.held.Close()
	if groups > math.MaxInt32/len(g.packing.Of) {
		return nil, errors.New("exec: too many groups for one vector")
	}
	tasks, err := g.tasks()
	if err != nil {
		return nil, err
	}
	b, chunks := &gathering{grouped: g, groups: groups}, make([]estimator.Chunk, len(tasks))
	err = g.each(ctx, tasks, func(w *scratch, i int) (err error) {
		chunks[i], err = b.chunk(w, tasks[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	chunks = slices.DeleteFunc(chunks, func(c estimator.Chunk) bool { return c.Persons == 0 })
	return &estimator.Block{Dim: groups * len(g.packing.Of), Sparse: true, Chunks: chunks, Memory: g.memory}, nil
}

// tasks lists the shards in pieces that are ordered at a time.
func (g *grouped) tasks() ([][]shard, error) {
	shards, err := g.shards()
	if err != nil {
		return nil, err
	}
	var tasks [][]shard
	n := 0
	for _, same := range shards {
		more := 0
		for _, s := range same {
			more += s.records
		}
		if n += more; len(tasks) == 0 || n > taskRecords {
			tasks, n = append(tasks, nil), more
		}
		last := len(tasks) - 1
		tasks[last] = append(tasks[last], same...)
	}
	return tasks, nil
}

// each does the tasks on all cores.
func (g *grouped) each(ctx context.Context, tasks [][]shard, do func(w *scratch, i int) error) error {
	next := atomic.Int64{}
	var eg errgroup.Group
	for range processors.Count() {
		eg.Go(func() (err error) {
			w := g.scratch()
			for i := next.Add(1) - 1; int(i) < len(tasks) && err == nil && ctx.Err() == nil; i = next.Add(1) - 1 {
				err = tried(func() error { return do(w, int(i)) })
			}
			return err
		})
	}
	return errors.Join(eg.Wait(), ctx.Err())
}

// shards lists the shards that may hold rows of the same persons: one of each dealer.
func (g *grouped) shards() ([][]shard, error) {
	dealt := slices.ContainsFunc(g.dealers, func(d *dealer) bool { return len(d.shards) > 1 })
	var out [][]shard
	for _, d := range g.dealers {
		if dealt && len(d.shards) == 1 {
			if err := d.dealOut(); err != nil {
				return nil, err
			}
		}
		if out == nil {
			out = make([][]shard, len(d.shards))
		}
		for i, s := range d.shards {
			out[i] = append(out[i], s)
		}
	}
	return out, nil
}

// chunk makes the chunk of some shards' persons.
func (b *gathering) chunk(w *scratch, shards []shard) (c estimator.Chunk, err error) {
	if err := b.read(w, shards); err != nil {
		return c, err
	}
	if err := b.persons(w); err != nil {
		return c, err
	}
	persons := len(w.units)
	if c.Starts, err = room[int](b.memory, persons+1); err != nil {
		return c, err
	}
	// Beside its numbers a group takes what it is behind the one before.
	if w.packed, err = grown(w.memory, w.packed, len(w.bytes)+len(w.names)*estimator.MostBytes); err != nil {
		return c, err
	}
	packed := w.packed[:0]
	c.Starts[0], c.Packing = 0, &b.packing
	for p := range persons {
		from := len(packed)
		if packed = b.vector(packed, w, w.order[w.starts[p]:w.starts[p+1]]); len(packed) > from {
			c.Persons++
			c.Starts[c.Persons] = len(packed)
		}
	}
	c.Starts = c.Starts[:c.Persons+1]
	c.Packed, err = room[byte](b.memory, len(packed))
	copy(c.Packed, packed)
	return c, err
}

// read puts the records of some shards into one list and finds their parts.
func (b *gathering) read(w *scratch, shards []shard) error {
	n, size := 0, 0
	for i := range shards {
		n += shards[i].records
		for _, run := range shards[i].runs() {
			size += len(run)
		}
	}
	if err := w.fit(n, size); err != nil {
		return err
	}
	to := w.bytes[:0]
	for i := range shards {
		for _, run := range shards[i].runs() {
			to = append(to, run...)
		}
	}
	rest, group := w.bytes, int64(0)
	for i := range w.names {
		w.names[i], rest = estimator.Number(rest)
		group, rest = estimator.Number(rest)
		w.groups[i], w.at[i] = int32(group), size-len(rest)
		for range b.packing.Numbers {
			rest = estimator.Skip(rest)
		}
		w.ends[i] = size - len(rest)
	}
	return nil
}

// persons numbers the persons of the records, and orders these by person and group.
func (b *gathering) persons(w *scratch) error {
	mask := uint64(len(w.table) - 1)
	for i, unit := range w.names {
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
	for p := range w.units {
		w.starts[p+1] += w.starts[p]
	}
	if b.groups <= len(w.names) {
		w.sortGroups(b.groups)
		w.scatter()
		return nil
	}
	for i := range w.byGroup {
		w.byGroup[i] = int32(i)
	}
	w.scatter()
	return w.sortPersons()
}

// fit makes room for n records of so many bytes.
func (w *scratch) fit(n, size int) (err error) {
	for _, s := range []*[]int32{&w.groups, &w.owner, &w.byGroup, &w.order, &w.starts} {
		if *s, err = grown(w.memory, *s, n+1); err != nil {
			return err
		}
	}
	w.groups, w.owner, w.byGroup, w.order, w.starts = w.groups[:n], w.owner[:n], w.byGroup[:n], w.order[:n], w.starts[:1]
	w.starts[0] = 0
	for _, s := range []*[]int64{&w.names, &w.units} {
		if *s, err = grown(w.memory, *s, n); err != nil {
			return err
		}
	}
	w.units = w.units[:0]
	for _, s := range []*[]int{&w.at, &w.ends} {
		if *s, err = grown(w.memory, *s, n); err != nil {
			return err
		}
	}
	if w.bytes, err = grown(w.memory, w.bytes, size); err != nil {
		return err
	}
	if w.table, err = grown(w.memory, w.table, 1<<bits.Len(uint(2*n))); err != nil {
		return err
	}
	clear(w.table)
	return nil
}

// sortGroups orders the records by group, by counting. For few groups that is less work than to
// sort those of each person.
func (w *scratch) sortGroups(groups int) {
	// the table has at least twice as many places as there are records, and is not read any more
	next := w.table[:groups+1]
	clear(next)
	for _, g := range w.groups {
		next[g+1]++
	}
	for g := range groups {
		next[g+1] += next[g]
	}
	for i, g := range w.groups {
		w.byGroup[next[g]] = int32(i)
		next[g]++
	}
}

// scatter orders records by person, those of a person as they come: by group, where they are
// sorted.
func (w *scratch) scatter() {
	next := w.table[:len(w.units)]
	copy(next, w.starts)
	for _, i := range w.byGroup {
		p := w.owner[i]
		w.order[next[p]] = i
		next[p]++
	}
}

// sortPersons orders the records of each person by group.
func (w *scratch) sortPersons() (err error) {
	for p := range w.units {
		own := w.order[w.starts[p]:w.starts[p+1]]
		if w.keys, err = grown(w.memory, w.keys, len(own)); err != nil {
			return err
		}
		for k, i := range own {
			w.keys[k] = uint64(w.groups[i])<<32 | uint64(i)
		}
		sortFew(w.keys)
		for k, key := range w.keys {
			own[k] = int32(uint32(key))
		}
	}
	return nil
}

// vector appends the groups of one person, whose records are in their order: of each group the sums
// of the records' numbers, clamped.
func (b *gathering) vector(packed []byte, w *scratch, order []int32) []byte {
	last := int64(-1)
	for len(order) > 0 {
		same := w.sameGroup(order)
		k := order[0]
		numbers := w.bytes[w.at[k]:w.ends[k]]
		if same > 1 || len(numbers) > surelySmall {
			numbers = w.total(order[:same])
		}
		order = order[same:]
		if zero(numbers) {
			continue
		}
		group := int64(w.groups[k])
		packed = append(estimator.AppendNumber(packed, group-last), numbers...)
		last = group
	}
	return packed
}

// sameGroup is how many records in a person's order, one at least, are of the first one's group.
func (w *scratch) sameGroup(order []int32) int {
	n := 1
	for n < len(order) && w.groups[order[n]] == w.groups[order[0]] {
		n++
	}
	return n
}

// surelySmall is how many bytes packed numbers take at most if none of them can be beyond
// ±MaxUnits.
const surelySmall = 7

// zero tells whether all packed numbers are 0, each a byte of 0 then.
func zero(numbers []byte) bool {
	for _, b := range numbers {
		if b != 0 {
			return false
		}
	}
	return true
}

// total is the sum of some records' numbers, packed, which takes no more room than the records. It
// is exact, and clamped once: it does not depend on the records' order.
func (w *scratch) total(records []int32) []byte {
	w.add(records)
	w.packedSum = w.packedSum[:0]
	for c, low := range w.low {
		w.packedSum = estimator.AppendNumber(w.packedSum, clamped(narrowed(w.high[c], low)))
	}
	return w.packedSum
}

// add adds up the numbers of some records.
func (w *scratch) add(records []int32) {
	clear(w.low)
	clear(w.high)
	for _, k := range records {
		numbers := w.bytes[w.at[k]:w.ends[k]]
		for c := range w.low {
			var x int64
			x, numbers = estimator.Number(numbers)
			var carry uint64
			w.low[c], carry = bits.Add64(w.low[c], uint64(x), 0)
			w.high[c] += x>>63 + int64(carry)
		}
	}
}

// narrowed is the 64-bit number nearest to one of 128 bits.
func narrowed(high int64, low uint64) int64 {
	switch {
	case high == int64(low)>>63:
		return int64(low)
	case high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

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
