package exec

import (
	"context"
	"math/bits"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

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

// together fills in the estimates of the aggregates that are answered in all groups at once: one
// release of their vector over the groups that are answered, cut into one estimate a group.
func (x *Executor) together(ctx context.Context, r *plan.Release, scans []*intake, groups []answerGroup, drawn func() noise.Noiser) error {
	if len(groups) == 0 {
		return nil
	}
	for j, agg := range r.Aggregates {
		if agg.Groups == nil {
			continue
		}
		e, err := agg.AllGroups(len(groups))
		if err != nil {
			return err
		}
		in := estimator.Input{}
		if in.Vectors, err = scans[agg.Scan].grouped.block(ctx, len(groups)); err != nil {
			return err
		}
		noiser := drawn()
		if err := guarded(func() { cut(groups, j, e.Release(noiser, in)) }); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cut divides the estimate of all groups.
func cut(groups []answerGroup, aggregate int, all estimator.Estimate) {
	n := len(all.Values) / len(groups)
	for i := range groups {
		groups[i].Estimates[aggregate] = all.Part(i*n, (i+1)*n)
	}
}
