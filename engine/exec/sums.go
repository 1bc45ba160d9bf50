package exec

import (
	"context"
	"sync"

	"scrim/engine/store"
)

// sums keeps the sums of each (group, unit) as the rows of a scan, in no order; the units are not needed any more. The records are given up.
func (g *grouped) sums(ctx context.Context, groups int, to *gathered) error {
	defer g.held.Close()
	tasks, err := g.tasks()
	if err != nil {
		return err
	}
	b, mu := &gathering{grouped: g, groups: groups}, sync.Mutex{}
	columns := make([]int, len(g.columns))
	for c := range columns {
		columns[c] = c
	}
	return g.each(ctx, tasks, func(w *scratch, i int) error {
		if err := b.read(w, tasks[i]); err != nil {
			return err
		}
		if err := b.persons(w); err != nil {
			return err
		}
		out := w.out.empty(len(columns))
		keep := func() error {
			mu.Lock()
			defer mu.Unlock()
			return to.add(out.chunk(), columns, out.groups)
		}
		for p := range w.units {
			for order := w.order[w.starts[p]:w.starts[p+1]]; len(order) > 0; {
				same := w.sameGroup(order)
				w.add(order[:same])
				out.groups = append(out.groups, w.groups[order[0]])
				for c, low := range w.low {
					out.numbers[c] = append(out.numbers[c], clamped(narrowed(w.high[c], low)))
				}
				if order = order[same:]; len(out.groups) < sumsChunk {
					continue
				}
				if err := keep(); err != nil {
					return err
				}
				out.empty(len(columns))
			}
		}
		return keep()
	})
}

// sumsChunk is how many sums are kept at a time.
const sumsChunk = 1 << 11

// sumRows are sums on their way.
type sumRows struct {
	groups  []int32
	numbers [][]int64 // by column
}

func (r *sumRows) empty(columns int) *sumRows {
	if r.numbers == nil {
		r.numbers = make([][]int64, columns)
	}
	r.groups = r.groups[:0]
	for c := range r.numbers {
		r.numbers[c] = r.numbers[c][:0]
	}
	return r
}

func (r *sumRows) chunk() store.Chunk {
	ch := store.Chunk{Len: len(r.groups)}
	for _, x := range r.numbers {
		ch.Columns = append(ch.Columns, store.Vector{Ints: x})
	}
	return ch
}
