package exec

import (
	"context"
	"math/bits"
	"sync"

	"scrim/engine/estimator"
	"scrim/internal/lists"
	"scrim/internal/spill"
)

// sums are the sums of each (group, unit), by group; the units are not needed any more. A group's
// columns are made when an estimator asks for them: packed, they take a small part of the room.
type sums struct {
	columns int
	memory  *spill.Area
	workers []sumRuns
}

// sumRuns are the packed columns of each group that a worker has made: column c of group g is
// [g·columns + c].
type sumRuns []packedColumn

// packedColumn is a list of numbers in runs that are never copied as it grows.
type packedColumn struct {
	run     []byte   // that is being filled
	full    [][]byte // runs
	numbers int
}

// A run has twice the room of the one before it, within these bounds.
const leastColumn, mostColumn = 1 << 6, 1 << 16

// sums adds up the records of each (group, unit). The records are given up.
func (g *grouped) sums(ctx context.Context, groups int) (*sums, error) {
	defer g.held.Close()
	tasks, err := g.tasks()
	if err != nil {
		return nil, err
	}
	out, mu := &sums{columns: len(g.columns), memory: g.memory}, sync.Mutex{}
	err = g.each(ctx, tasks, func(w *scratch, i int) error {
		if w.totals == nil {
			w.totals = &totals{seed: g.seed, row: make([]int64, len(g.columns)), memory: g.held}
			w.sums = make(sumRuns, groups*len(g.columns))
			mu.Lock()
			out.workers = append(out.workers, w.sums)
			mu.Unlock()
		}
		records := lists.Sum(tasks[i], func(s shard) int { return s.records })
		if err := w.totals.fit(records); err != nil {
			return err
		}
		for _, s := range tasks[i] {
			for _, run := range s.runs() {
				w.totals.addAll(run)
			}
		}
		return w.sums.keep(w.totals, g.memory)
	})
	return out, err
}

// keep appends all totals to the columns of their groups.
func (r sumRuns) keep(t *totals, memory *spill.Area) error {
	for at := 0; at < len(t.slots); at += t.stride() {
		first := int(t.slots[at+1]) * len(t.row)
		for c := range r[first:][:len(t.row)] {
			if err := r[first+c].append(t.sum(at+2+c), memory); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *packedColumn) append(x int64, memory *spill.Area) error {
	if cap(p.run)-len(p.run) < estimator.MostBytes {
		run, err := room[byte](memory, max(leastColumn, min(cap(p.run)*2, mostColumn)))
		if err != nil {
			return err
		}
		if len(p.run) > 0 {
			p.full = append(p.full, p.run)
		}
		p.run = run[:0]
	}
	p.run = estimator.AppendNumber(p.run, x)
	p.numbers++
	return nil
}

// unpack writes the numbers to the front of a list, and returns the rest of it.
func (p *packedColumn) unpack(to []int64) []int64 {
	for _, run := range append(p.full[:len(p.full):len(p.full)], p.run) {
		for len(run) > 0 {
			to[0], run = estimator.Number(run)
			to = to[1:]
		}
	}
	return to
}

// column returns a column of a group, in memory that the caller gives back.
func (s *sums) column(group, column int) ([]int64, error) {
	n, at := 0, group*s.columns+column
	n += lists.Sum(s.workers, func(w sumRuns) int { return w[at].numbers })
	out, err := room[int64](s.memory, n)
	if err != nil {
		return nil, err
	}
	rest := out
	for _, w := range s.workers {
		rest = w[at].unpack(rest)
	}
	return out, nil
}

// totals adds up records by (unit, group), exactly, in no order.
//
// A sum is kept in 64 bits, which wrap, and carries counts how often it did, up and down: while
// that is not 0 the sum is beyond 64 bits, on the side of the sign.
type totals struct {
	seed    uint64
	row     []int64 // the numbers of a record
	memory  *spill.Area
	table   []int32       // a slot's number and 1, by hash
	slots   []int64       // unit, group and the sums of each
	carries map[int]int64 // by the sum's place in slots
	touched int64         // see addAll
}

// stride is how many numbers a slot has.
func (t *totals) stride() int { return 2 + len(t.row) }

// fit makes room for so many records, of which none is there yet.
func (t *totals) fit(records int) (err error) {
	if t.table, err = grown(t.memory, t.table, 1<<bits.Len(uint(2*records))); err != nil {
		return err
	}
	clear(t.table)
	clear(t.carries)
	t.slots, err = grown(t.memory, t.slots, records*t.stride())
	t.slots = t.slots[:0]
	return err
}

// addAll adds records. Each waits for memory where its slot is; the places of several are read
// before the first of them is added, and the processor waits for all at once.
func (t *totals) addAll(records []byte) {
	var next [ahead]struct {
		unit, group int64
		hash        uint64
		numbers     []byte
	}
	for len(records) > 0 {
		n, rest := 0, records
		for ; n < ahead && len(rest) > 0; n++ {
			r := &next[n]
			r.unit, rest = estimator.Number(rest)
			r.group, rest = estimator.Number(rest)
			r.numbers = rest
			for range t.row {
				rest = estimator.Skip(rest)
			}
			r.hash = t.hash(r.unit, r.group)
		}
		touched := int64(0)
		for i := range next[:n] {
			next[i].hash &= uint64(len(t.table) - 1)
			touched += int64(t.table[next[i].hash])
		}
		for i := range next[:n] {
			if k := t.table[next[i].hash]; k > 0 {
				touched += t.slots[int(k-1)*t.stride()]
			}
		}
		t.touched = touched // or else the compiler may leave the reading out
		for i := range next[:n] {
			r := &next[i]
			for c := range t.row {
				t.row[c], r.numbers = estimator.Number(r.numbers)
			}
			t.add(t.slot(r.unit, r.group, r.hash))
		}
		records = rest
	}
}

// add adds the row to the sums that begin at a place.
func (t *totals) add(at int) {
	for c, was := range t.slots[at:][:len(t.row)] {
		x := t.row[c]
		sum := was + x
		t.slots[at+c] = sum
		if (sum^was)&(sum^x) < 0 {
			t.carry(at+c, x)
		}
	}
}

func (t *totals) hash(unit, group int64) uint64 {
	return mixed(unit, t.seed) + uint64(group)*0x9e3779b97f4a7c15>>7
}

// slot returns the place of the first sum of a (unit, group), which is looked for from a place of
// the table on.
func (t *totals) slot(unit, group int64, h uint64) int {
	for mask := uint64(len(t.table) - 1); ; h = (h + 1) & mask {
		n := t.table[h]
		if n == 0 {
			at := len(t.slots)
			t.slots = t.slots[:at+t.stride()]
			t.slots[at], t.slots[at+1] = unit, group
			clear(t.slots[at+2:])
			t.table[h] = int32(at/t.stride() + 1)
			return at + 2
		}
		if at := int(n-1) * t.stride(); t.slots[at] == unit && t.slots[at+1] == group {
			return at + 2
		}
	}
}

// carry counts a sum that has wrapped when x was added.
func (t *totals) carry(at int, x int64) {
	if t.carries == nil {
		t.carries = map[int]int64{}
	}
	if t.carries[at] += x>>63 | 1; t.carries[at] == 0 {
		delete(t.carries, at)
	}
}

// sum returns the sum at a place, clamped to ±MaxUnits.
func (t *totals) sum(at int) int64 {
	if len(t.carries) > 0 {
		if n := t.carries[at]; n != 0 {
			return (n>>63 | 1) * estimator.MaxUnits
		}
	}
	return clamped(t.slots[at])
}
