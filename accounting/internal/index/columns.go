package index

import (
	"math"

	"scrim/accounting/budget"
)

// Columns are what an index knows of each record, or of each few, by record number.
type Columns struct {
	First uint32 // where they begin, a multiple of blockSize
	Last  uint32 // the highest record

	Prints []uint32   // the fingerprint of the digest; 0: none
	times  []Interval // the earliest and the latest time, by block of records
	Days   []firstOf  // where each day begins
}

// firstOf is a day and its first record.
type firstOf struct {
	day budget.Date
	id  uint32
}

// Interval is a range of times, in nanoseconds, both ends included.
type Interval struct{ From, To int64 }

// BlockSize is how many records share an interval of times.
const BlockSize = 256

// ColumnsBegin returns where the columns begin of records from first on, which is 1 or a multiple
// of blockSize.
func ColumnsBegin(first uint64) uint32 { return uint32(first / BlockSize * BlockSize) }

// Made notes when record id was made, which follows the last one. It has no digest yet.
func (c *Columns) Made(id uint32, at int64, d budget.Date) {
	c.Last = id
	for uint32(len(c.Prints)) <= id-c.First { // record 0 does not exist
		c.Prints = append(c.Prints, 0)
	}
	block := int(id-c.First) / BlockSize
	if block == len(c.times) {
		c.times = append(c.times, Interval{math.MaxInt64, math.MinInt64})
	}
	v := &c.times[block]
	v.From, v.To = min(v.From, at), max(v.To, at)
	if n := len(c.Days); n == 0 || c.Days[n-1].day < d {
		c.Days = append(c.Days, firstOf{d, id})
	}
}

// join takes in the columns of the records that follow.
func (c *Columns) join(d *Columns) {
	c.Last = max(c.Last, d.Last)
	c.Prints, c.times = append(c.Prints, d.Prints...), append(c.times, d.times...)
	for _, first := range d.Days {
		if n := len(c.Days); n == 0 || c.Days[n-1].day < first.day {
			c.Days = append(c.Days, first)
		}
	}
}

// Block returns the times of the records around one.
func (c *Columns) Block(id uint32) Interval { return c.times[(id-c.First)/BlockSize] }
