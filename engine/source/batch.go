package source

import (
	"errors"
	"math/big"
	"sync/atomic"
)

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

// errStopped ends a reading because a batch could not be handed over.
var errStopped = errors.New("source: a batch was not taken")

// Piped lets rows be read while those before are handed over. read fills the batch that it is given
// first, and gets an empty one for each full one from next, whose errors it returns; it returns the
// last one, which may be a part. Piped returns the first error of each, or else that of read.
func Piped(columns []Column, each func(*Batch) error, read func(first *Batch, next func(*Batch) (*Batch, error)) (last *Batch, err error)) (err error) {
	p := &pipe{full: make(chan *Batch), free: make(chan *Batch, 1)}
	p.free <- NewBatch(columns)
	go p.run(each)
	defer func() {
		close(p.full)
		for range p.free { // until the other side is done
		}
		switch {
		case p.panicked != nil:
			panic(p.panicked)
		case p.err != nil:
			err = p.err
		}
	}()
	last, err := read(NewBatch(columns), p.next)
	if err == nil && last.Len > 0 {
		p.full <- last
	}
	return err
}

// pipe has two batches go to and fro.
type pipe struct {
	full, free chan *Batch
	failed     atomic.Bool
	err        error // of each
	panicked   any   // in each
}

func (p *pipe) run(each func(*Batch) error) {
	defer close(p.free)
	for b := range p.full {
		if !p.failed.Load() {
			p.one(b, each)
		}
		b.Len = 0
		p.free <- b
	}
}

// one hands over a batch. A panic is the reader's: nobody else would catch it.
func (p *pipe) one(b *Batch, each func(*Batch) error) {
	defer func() {
		if p.panicked = recover(); p.panicked != nil || p.err != nil {
			p.failed.Store(true)
		}
	}()
	p.err = each(b)
}

func (p *pipe) next(b *Batch) (*Batch, error) {
	p.full <- b
	b = <-p.free
	if p.failed.Load() {
		return nil, errStopped
	}
	return b, nil
}
