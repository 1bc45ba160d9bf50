package exec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/processors"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// grouped takes in a scan of rows of groups and units, in any order, for the estimator that answers
// all groups at once: in the end each person is one sparse vector over groups and columns, of the
// rows' sums.
//
// Rows are kept as records (unit, group, columns…). Few records stay in one shard as they arrive;
// more are dealt out by a hash of the unit, so that the rows of a person lie in one shard of each
// dealer, and a shard is small enough to be ordered in the nearest caches.
type grouped struct {
	unit    int   // the unit's column of the scan
	columns []int // columns of the scan that are kept, each once
	packing estimator.Packing
	seed    uint64
	memory  *spill.Area // of the block, and of the estimator
	held    *spill.Area // of the records, which are given back when the block is made
	foldAt  int         // foldRecords
	dealers []*dealer
}

// dealer takes in some of a scan's chunks, one at a time.
type dealer struct {
	*grouped
	names   names // of units that are texts
	numbers []int64
	groups  []int32 // of a chunk
	shards  []shard
	records int
	folding *scratch
}

// shard holds records in runs that are never copied as it grows. A record is packed: the unit, the
// group, and the numbers as they will stand in the person's vector (estimator.Packing). Most are
// small, and there are as many as rows of (group, person).
type shard struct {
	run     []byte   // that is being filled
	full    [][]byte // runs
	records int
	foldAt  int // so many records, see fold
}

const (
	firstRecords = 1 << 14 // that many stay in one shard
	shardBits    = 9
	// A run has room for as many bytes as the records that there are already take about, from
	// leastRun to mostRun.
	leastRun, mostRun = 1 << 8, 1 << 15
	aboutRecord       = 1 << 4
)

// newGrouped returns the intake of an aggregate whose scan has the unit behind the group. seed
// keeps anybody from choosing units that share a shard.
func newGrouped(a plan.Aggregate, keys groupKeys, unit store.ScanType, seed uint64, memory *spill.Area) (*grouped, error) {
	if len(a.Columns) == 0 || len(a.Columns) != a.Groups.Width() {
		return nil, fmt.Errorf("exec: %d columns of all groups, want %d", len(a.Columns), a.Groups.Width())
	}
	var columns, of []int
	for _, c := range keys.all(a.Columns) {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		of = append(of, slices.Index(columns, c))
	}
	g := newSums(columns, keys, unit, seed, memory)
	g.packing.Of = of
	return g, nil
}

// newSums returns the intake of columns that are added up. Texts are numbered by one dealer; of
// integers there are as many as threads.
func newSums(columns []int, keys groupKeys, unit store.ScanType, seed uint64, memory *spill.Area) *grouped {
	g := &grouped{unit: keys.leading(), columns: columns, packing: estimator.Packing{Numbers: len(columns)}, seed: seed, memory: memory, held: memory.Beside(), foldAt: foldRecords}
	g.makeDealers(1)
	if unit == store.ScanInt64 {
		g.makeDealers(processors.Count())
	}
	return g
}

// makeDealers makes so many dealers.
func (g *grouped) makeDealers(n int) {
	g.dealers = nil
	for range n {
		g.dealers = append(g.dealers, &dealer{grouped: g, shards: []shard{{foldAt: g.foldAt}}})
	}
}

// size is how many numbers a record has: unit, group, columns.
func (g *grouped) size() int { return 2 + len(g.columns) }

// take takes in a chunk, the groups of whose rows are g.groups. A row of nobody is absent, and a
// NULL is 0.
func (g *dealer) take(ch store.Chunk) error {
	v := &ch.Columns[g.unit]
	unit, err := g.units(v)
	if err != nil {
		return err
	}
	if len(g.shards) == 1 && g.records >= firstRecords {
		if err := g.dealOut(); err != nil {
			return err
		}
	}
	g.records += ch.Len
	data := g.data(ch)
	for i, k := range g.groups {
		if v.Null != nil && v.Null[i] {
			continue
		}
		s := g.shardOf(unit[i])
		if s.records >= s.foldAt {
			if err := g.fold(s); err != nil {
				return err
			}
		}
		r, err := g.record(s)
		if err != nil {
			return err
		}
		r = estimator.AppendNumber(estimator.AppendNumber(r, unit[i]), int64(k))
		for _, x := range data {
			r = estimator.AppendNumber(r, x[i])
		}
		s.run = r
	}
	return nil
}

// data lists the columns of a chunk that are kept.
func (g *grouped) data(ch store.Chunk) [][]int64 {
	out := make([][]int64, len(g.columns))
	for c, column := range g.columns {
		v := ch.Columns[column]
		if out[c] = v.Ints[:ch.Len]; v.Null != nil {
			out[c] = appendInts(make([]int64, 0, ch.Len), &v, ch.Len)
		}
	}
	return out
}

// units are the units of a chunk as integers: equal ones for equal units.
func (g *dealer) units(v *store.Vector) ([]int64, error) {
	if v.Ints != nil {
		return v.Ints, nil
	}
	g.numbers = g.numbers[:0]
	for _, t := range v.Texts {
		n := g.names.find(t)
		if n < 0 {
			n = int32(g.names.taken)
			if err := g.names.put(t, n, g.held); err != nil {
				return nil, err
			}
		}
		g.numbers = append(g.numbers, int64(n))
	}
	return g.numbers, nil
}

func (g *dealer) shardOf(unit int64) *shard {
	if len(g.shards) == 1 {
		return &g.shards[0]
	}
	return &g.shards[mixed(unit, g.seed)>>(64-shardBits)]
}

// dealOut divides the records of the one shard between many.
func (g *dealer) dealOut() error {
	all := g.shards[0]
	g.shards = make([]shard, 1<<shardBits)
	for i := range g.shards {
		g.shards[i].foldAt = g.foldAt
	}
	for _, run := range all.runs() {
		for len(run) > 0 {
			unit, rest := estimator.Number(run)
			for range g.size() - 1 {
				_, rest = estimator.Number(rest)
			}
			s := g.shardOf(unit)
			to, err := g.record(s)
			if err != nil {
				return err
			}
			s.run = append(to, run[:len(run)-len(rest)]...)
			run = rest
		}
	}
	for _, run := range all.runs() {
		free(g.held, run)
	}
	return nil
}

// record counts one more record of a shard and returns the run that it is to be appended to.
func (g *dealer) record(s *shard) ([]byte, error) {
	if longest := g.size() * estimator.MostBytes; cap(s.run)-len(s.run) < longest {
		if err := s.grow(longest, g.held); err != nil {
			return nil, err
		}
	}
	s.records++
	return s.run, nil
}

// grow begins a run, with room for one record of the longest at least.
func (s *shard) grow(longest int, held *spill.Area) error {
	run, err := room[byte](held, max(longest, min(max(s.records*aboutRecord, leastRun), mostRun)))
	if err != nil {
		return err
	}
	if len(s.run) > 0 {
		s.full = append(s.full, s.run)
	}
	s.run = run[:0]
	return nil
}

// runs lists the runs, whole records each.
func (s *shard) runs() [][]byte {
	if len(s.run) == 0 {
		return s.full
	}
	return append(s.full[:len(s.full):len(s.full)], s.run)
}

// mixed is a hash of a unit: one to one for each seed, and every bit depends on all of the unit's.
func mixed(unit int64, seed uint64) uint64 {
	x := (uint64(unit) ^ seed) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// foldRecords is how many records of a shard are taken in before those of a (group, unit) are added
// up, so that units with very many rows take the room of their groups in the end: rows of a hundred
// million of 512 shards are not added up before their time.
const foldRecords = 1 << 18

// fold adds up the records of each (group, unit) of a shard, exactly: nothing is clamped before all
// are there. A sum of more than 64 bits stays several records, never more than it was made of.
func (g *dealer) fold(s *shard) error {
	if g.folding == nil {
		g.folding = g.scratch()
	}
	w, b := g.folding, &gathering{grouped: g.grouped, groups: math.MaxInt}
	if err := b.read(w, []shard{*s}); err != nil {
		return err
	}
	if err := b.persons(w); err != nil {
		return err
	}
	old := s.runs()
	*s = shard{}
	for p, unit := range w.units {
		for order := w.order[w.starts[p]:w.starts[p+1]]; len(order) > 0; {
			same := w.sameGroup(order)
			w.add(order[:same])
			for more := true; more; {
				r, err := g.record(s)
				if err != nil {
					return err
				}
				r = estimator.AppendNumber(estimator.AppendNumber(r, unit), int64(w.groups[order[0]]))
				s.run, more = w.take(r)
			}
			order = order[same:]
		}
	}
	for _, run := range old {
		free(g.held, run)
	}
	s.foldAt = max(g.foldAt, 2*s.records)
	return nil
}

// take appends what fits into 64 bits of each of the sums, and tells whether anything is left of
// them.
func (w *scratch) take(r []byte) ([]byte, bool) {
	more := false
	for c := range w.low {
		x := narrowed(w.high[c], w.low[c])
		var borrow uint64
		w.low[c], borrow = bits.Sub64(w.low[c], uint64(x), 0)
		w.high[c] -= x>>63 + int64(borrow)
		more = more || w.low[c] != 0 || w.high[c] != 0
		r = estimator.AppendNumber(r, x)
	}
	return r, more
}
