package source

import "math/big"

// BatchRows is how many rows a batch has at most.
const BatchRows = 2048

// Batch is a run of rows, column by column.
type Batch struct {
	Len     int
	Columns []Vector
}

// Vector is one column of a batch. Which of the slices has the values follows from the type:
//
//	Ints    BOOLEAN (0, 1), all integers up to 64 bits (UBIGINT by its bits), DECIMAL of up to 18
//	        digits by its digits, DATE in days and TIME, TIMESTAMP in microseconds since 1970
//	Wide    DECIMAL of more digits, by its digits
//	Floats  FLOAT, DOUBLE
//	Texts   VARCHAR, which is UTF-8, and BLOB
//
// A value that is NULL stands for nothing.
type Vector struct {
	Ints   []int64
	Wide   []Int128
	Floats []float64
	Texts  []string
	Null   []bool
}

// Int128 is an integer of 128 bits.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Shape is which slice of a Vector has a column's values.
type Shape uint8

// Shapes.
const (
	Ints Shape = iota
	Wide
	Floats
	Texts
)

// NewBatch returns an empty batch with room for BatchRows rows.
func NewBatch(columns []Column) *Batch {
	b := &Batch{Columns: make([]Vector, len(columns))}
	for i, c := range columns {
		v := &b.Columns[i]
		v.Null = make([]bool, BatchRows)
		switch ShapeOf(c.Type) {
		case Ints:
			v.Ints = make([]int64, BatchRows)
		case Wide:
			v.Wide = make([]Int128, BatchRows)
		case Floats:
			v.Floats = make([]float64, BatchRows)
		case Texts:
			v.Texts = make([]string, BatchRows)
		}
	}
	return b
}

// Int128Of returns an integer that has at most 127 bits and a sign.
func Int128Of(n *big.Int) Int128 {
	hi := new(big.Int).Rsh(n, 64) // towards minus infinity
	lo := new(big.Int).Sub(n, new(big.Int).Lsh(hi, 64))
	return Int128{hi.Int64(), lo.Uint64()}
}
