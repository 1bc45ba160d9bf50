package exec

import (
	"context"
	"sync"

	"scrim/engine/estimator"
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
		records := 0
		for _, s := range tasks[i] {
			records += s.records
		}
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
	for _, w := range s.workers {
		n += w[at].numbers
	}
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
