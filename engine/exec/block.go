package exec

import (
	"context"
	"fmt"

	"scrim/engine/store"
	"scrim/planner"
)

// maxGroups bounds the group numbers of a block: they are kept as int32.
const maxGroups = 1<<31 - 1

// table is the result of one scan, its rows ordered by group: column c of group g is
// columns[c][offsets[g]:offsets[g+1]].
type table struct {
	offsets []int
	columns [][]int64
}

// group returns columns of one group, numbered as in the scan, whose leading columns named the
// group. The slices must not be written.
func (t *table) group(g, leading int, idx []int) [][]int64 {
	out := make([][]int64, len(idx))
	for i, c := range idx {
		out[i] = t.columns[c-leading][t.offsets[g]:t.offsets[g+1]:t.offsets[g+1]]
	}
	return out
}

// size returns the number of rows of group g.
func (t *table) size(g int) int { return t.offsets[g+1] - t.offsets[g] }

// gathered is a scan's result as it arrives: the group of each row, and the data columns as runs.
type gathered struct {
	groups [][]int32
	data   [][][]int64 // data[c] lists the runs of column c
	rows   int
}

// gather reads a whole scan. The scan's leading columns give the group: assign turns a chunk's rows
// into group numbers. The other columns are integers; a NULL there stands for 0, which makes the
// person absent (its Rows column is 0 too).
func gather(ctx context.Context, snap store.Snapshot, s planner.Scan, args []any, leading int, assign func(store.Chunk, []int32) error) (*gathered, error) {
	g := &gathered{data: make([][][]int64, len(s.Types)-leading)}
	err := snap.Scan(ctx, s.SQL, args, s.Types, func(ch store.Chunk) error {
		if ch.Len == 0 {
			return nil
		}
		groups := make([]int32, ch.Len)
		if err := assign(ch, groups); err != nil {
			return err
		}
		g.groups = append(g.groups, groups)
		for c := range g.data {
			g.data[c] = append(g.data[c], copyInts(ch.Columns[leading+c], ch.Len))
		}
		g.rows += ch.Len
		return nil
	})
	return g, err
}

// copyInts copies a vector out of the store's memory, NULL as 0.
func copyInts(v store.Vector, n int) []int64 {
	out := make([]int64, n)
	copy(out, v.Ints)
	for i, null := range v.Null {
		if null {
			out[i] = 0
		}
	}
	return out
}

// sorted orders a gathered scan by group with one counting pass and one scatter pass a column, and
// frees the runs of each column as it goes: at most one column is held twice.
func (g *gathered) sorted(groups int) (*table, error) {
	if groups > maxGroups {
		return nil, fmt.Errorf("exec: %d groups", groups)
	}
	t := &table{offsets: make([]int, groups+1), columns: make([][]int64, len(g.data))}
	for _, run := range g.groups {
		for _, k := range run {
			t.offsets[k+1]++
		}
	}
	for k := range groups {
		t.offsets[k+1] += t.offsets[k]
	}
	next := make([]int, groups)
	for c := range g.data {
		copy(next, t.offsets)
		dst := make([]int64, g.rows)
		for r, run := range g.data[c] {
			keys := g.groups[r]
			for i, v := range run {
				k := keys[i]
				dst[next[k]] = v
				next[k]++
			}
		}
		t.columns[c] = dst
		g.data[c] = nil
	}
	return t, nil
}
