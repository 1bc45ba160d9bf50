package exec

import (
	"fmt"
	"sync"

	"scrim/engine/store"
	"scrim/internal/processors"
	"scrim/internal/spill"
)

// maxGroups bounds the group numbers of a block: they are kept as int32.
const maxGroups = 1<<31 - 1

// table is the result of one scan, its rows ordered by group: column c of group g is
// columns[c][offsets[g]:offsets[g+1]].
type table struct {
	offsets []int
	columns [][]int64
}

// group returns one group's part of a column. It must not be written.
func (t *table) group(g, column int) []int64 {
	return t.columns[column][t.offsets[g]:t.offsets[g+1]:t.offsets[g+1]]
}

// gathered is a scan's result as it arrives, in runs: the group of each row, and the data columns.
type gathered struct {
	groups [][]int32
	data   [][][]int64 // data[c] lists the runs of column c
	rows   int
	memory *spill.Area
}

// A run has room for as many rows as there are already, within these bounds.
const leastRows, mostRows = 1 << 12, 1 << 20

// add keeps a chunk's rows. The columns are integers; a NULL there stands for 0, which makes the
// person absent (its Rows column is 0 too).
func (g *gathered) add(ch store.Chunk, columns []int, groups []int32) error {
	last := len(g.groups) - 1
	if last < 0 || cap(g.groups[last])-len(g.groups[last]) < ch.Len {
		if err := g.grow(ch.Len); err != nil {
			return err
		}
		last++
	}
	g.groups[last] = append(g.groups[last], groups...)
	for c, column := range columns {
		g.data[c][last] = appendInts(g.data[c][last], &ch.Columns[column], ch.Len)
	}
	g.rows += ch.Len
	return nil
}

// grow begins a run with room for n rows at least.
func (g *gathered) grow(n int) error {
	n = max(n, min(max(g.rows, leastRows), mostRows))
	run, err := room[int32](g.memory, n)
	if err != nil {
		return err
	}
	g.groups = append(g.groups, run[:0])
	for c := range g.data {
		run, err := room[int64](g.memory, n)
		if err != nil {
			return err
		}
		g.data[c] = append(g.data[c], run[:0])
	}
	return nil
}

// appendInts appends a vector, NULL as 0, to a list with room for it.
func appendInts(to []int64, v *store.Vector, n int) []int64 {
	at := len(to)
	to = append(to, v.Ints[:n]...)
	for i, null := range v.Null {
		if null {
			to[at+i] = 0
		}
	}
	return to
}

// sorted orders a gathered scan by group with one counting pass and one scatter pass a column, each
// on all cores, and gives the runs of each column back as it goes: at most one column is held
// twice.
func (g *gathered) sorted(groups int) (*table, error) {
	if groups > maxGroups {
		return nil, fmt.Errorf("exec: %d groups", groups)
	}
	parts := g.parts(groups)
	t := &table{offsets: make([]int, groups+1), columns: make([][]int64, len(g.data))}
	var count sync.WaitGroup
	for i := range parts {
		count.Go(func() { parts[i].count(g.groups) })
	}
	count.Wait()
	at := 0
	for k := range groups {
		t.offsets[k] = at
		for i := range parts {
			parts[i].first[k], at = at, at+parts[i].first[k]
		}
	}
	t.offsets[groups] = at
	for c := range g.data {
		if groups == 1 && len(g.data[c]) == 1 {
			t.columns[c] = g.data[c][0]
			continue
		}
		dst, err := room[int64](g.memory, g.rows)
		if err != nil {
			return nil, err
		}
		var scatter sync.WaitGroup
		for i := range parts {
			scatter.Go(func() { parts[i].scatter(dst, g.data[c], g.groups) })
		}
		scatter.Wait()
		t.columns[c] = dst
		for _, run := range g.data[c] {
			free(g.memory, run)
		}
	}
	for _, run := range g.groups {
		free(g.memory, run)
	}
	g.data, g.groups = nil, nil
	return t, nil
}

// part is a share of the runs, which one goroutine moves: runs[from:to]. Within a group the rows of
// an earlier part come first, so that the order is that of one part.
type part struct {
	from, to int
	first    []int // the number of rows of each group, then the place of the first of them
	next     []int
}

// parts divides the runs between the cores, each about as many rows, but into one part where there
// are so many groups that counting them for each core costs more than it saves.
func (g *gathered) parts(groups int) []part {
	n := processors.Count()
	if groups > g.rows/64 {
		n = 1
	}
	out, run, rows := make([]part, n), 0, 0
	for i := range out {
		from := run
		for ; run < len(g.groups) && (i == n-1 || rows < (i+1)*g.rows/n); run++ {
			rows += len(g.groups[run])
		}
		out[i] = part{from: from, to: run, first: make([]int, groups), next: make([]int, groups)}
	}
	return out
}

// count counts the rows of each group. assign has checked that every number is a group's.
func (p *part) count(groups [][]int32) {
	for _, run := range groups[p.from:p.to] {
		for _, k := range run {
			p.first[k]++
		}
	}
}

// scatter moves one column's values to their groups.
func (p *part) scatter(dst []int64, data [][]int64, groups [][]int32) {
	copy(p.next, p.first)
	for r := p.from; r < p.to; r++ {
		keys := groups[r]
		for i, v := range data[r] {
			k := keys[i]
			dst[p.next[k]] = v
			p.next[k]++
		}
	}
}
