package synthetic

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
)

// table says how the counts of rows by some columns lie in memory: the cell of a row is the sum of
// its codes times the strides.
type table struct {
	columns, strides []int
	cells            int // MaxCells+1 where they are more
}

func newTable(of []cube.Dimension, columns []int) table {
	t := table{columns: append([]int(nil), columns...), strides: make([]int, len(columns)), cells: 1}
	for k := len(columns) - 1; k >= 0; k-- { // the last column is the fastest
		t.strides[k] = t.cells
		t.cells = min(t.cells*of[columns[k]].Size, MaxCells+1)
	}
	return t
}

// cell is that of a row of codes.
func (t table) cell(row []uint16) int {
	at := 0
	for k, c := range t.columns {
		at += int(row[c]) * t.strides[k]
	}
	return at
}

// count counts rows of width codes by cell.
func (t table) count(rows []uint16, width int) []int64 {
	out := make([]int64, t.cells)
	for at := 0; at < len(rows); at += width {
		out[t.cell(rows[at:at+width])]++
	}
	return out
}

// persons reads the exact tables of a block. A code that is none of its column's, which the planner
// lets nobody have, counts as the nearest one, so that each person is in one cell of each table.
func persons(of []cube.Dimension, tables []table, in *estimator.Block) [][]int64 {
	out := make([][]int64, len(tables))
	for i, t := range tables {
		out[i] = make([]int64, t.cells)
	}
	if in == nil {
		return out
	}
	row := make([]uint16, len(of))
	for c := range in.Chunks {
		chunk := &in.Chunks[c]
		for p := range chunk.Persons {
			for k, code := range chunk.Dense[p*in.Dim : p*in.Dim+len(of)] {
				row[k] = uint16(min(max(code, 0), int64(of[k].Size-1)))
			}
			for i := range tables {
				out[i][tables[i].cell(row)]++
			}
		}
	}
	return out
}

// distance is Σ |a − b| over the cells of two tables of the same shape.
func distance(a, b []int64) int64 {
	sum := int64(0)
	for i, x := range a {
		if d := x - b[i]; d < 0 {
			sum -= d
		} else {
			sum += d
		}
	}
	return sum
}
