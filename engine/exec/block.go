package exec

import (
	"fmt"
	"runtime"
	"sync"

	"scrim/engine/store"
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

// gathered is a scan's result as it arrives: the group of each row, and the data columns as runs.
type gathered struct {
	groups [][]int32
	data   [][][]int64 // data[c] lists the runs of column c
	rows   int
}

// add keeps a chunk's rows. The columns are integers; a NULL there stands for 0, which makes the person
// absent (its Rows column is 0 too).
func (g *gathered) add(ch store.Chunk, columns []int, groups []int32, space *room) error {
	if err := space.take(int64(ch.Len) * int64(4+8*len(columns))); err != nil {
		return err
	}
	g.groups = append(g.groups, append([]int32(nil), groups...))
	for c, column := range columns {
		g.data[c] = append(g.data[c], copyInts(ch.Columns[column], ch.Len))
	}
	g.rows += ch.Len
	return nil
}

// copyInts copies a vector out of the store's memory, NULL as 0.
func copyInts(v store.Vector, n int) []int64 {
	out := append([]int64(nil), v.Ints[:n]...)
	for i, null := range v.Null {
		if null {
			out[i] = 0
		}
	}
	return out
}

// sorted orders a gathered scan by group with one counting pass and one scatter pass a column, each
// on all cores, and frees the runs of each column as it goes: at most one column is held twice.
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
		dst := make([]int64, g.rows)
		var scatter sync.WaitGroup
		for i := range parts {
			scatter.Go(func() { parts[i].scatter(dst, g.data[c], g.groups) })
		}
		scatter.Wait()
		t.columns[c] = dst
		g.data[c] = nil
	}
	return t, nil
}

// part is a share of the runs, which one goroutine moves: runs[from:to]. Within a group the rows of an
// earlier part come first, so that the order is that of one part.
type part struct {
	from, to int
	first    []int // the number of rows of each group, then the place of the first of them
	next     []int
}

// parts divides the runs evenly between the cores, but into one part where there are so many groups
// that counting them for each core costs more than it saves.
func (g *gathered) parts(groups int) []part {
	n := runtime.GOMAXPROCS(0)
	if groups > g.rows/64 {
		n = 1
	}
	out := make([]part, n)
	for i := range out {
		out[i] = part{from: i * len(g.groups) / n, to: (i + 1) * len(g.groups) / n, first: make([]int, groups), next: make([]int, groups)}
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
