package accounting

import (
	"math"

	"scrim/accounting/budget"
)

// columns are what an index knows of each record, or of each few, by record number.
type columns struct {
	first uint32 // where they begin, a multiple of blockSize
	last  uint32 // the highest record

	prints []uint32   // the fingerprint of the digest; 0: none
	times  []interval // the earliest and the latest time, by block of records
	days   []firstOf  // where each day begins
}

// firstOf is a day and its first record.
type firstOf struct {
	day budget.Date
	id  uint32
}

// interval is a range of times, in nanoseconds, both ends included.
type interval struct{ from, to int64 }

// blockSize is how many records share an interval of times.
const blockSize = 256

// columnsBegin returns where the columns begin of records from first on, which is 1 or a multiple
// of blockSize.
func columnsBegin(first uint64) uint32 { return uint32(first / blockSize * blockSize) }

// made notes when record id was made, which follows the last one. It has no digest yet.
func (c *columns) made(id uint32, at int64, d budget.Date) {
	c.last = id
	for uint32(len(c.prints)) <= id-c.first { // record 0 does not exist
		c.prints = append(c.prints, 0)
	}
	block := int(id-c.first) / blockSize
	if block == len(c.times) {
		c.times = append(c.times, interval{math.MaxInt64, math.MinInt64})
	}
	v := &c.times[block]
	v.from, v.to = min(v.from, at), max(v.to, at)
	if n := len(c.days); n == 0 || c.days[n-1].day < d {
		c.days = append(c.days, firstOf{d, id})
	}
}

// join takes in the columns of the records that follow.
func (c *columns) join(d *columns) {
	c.last = max(c.last, d.last)
	c.prints, c.times = append(c.prints, d.prints...), append(c.times, d.times...)
	for _, first := range d.days {
		if n := len(c.days); n == 0 || c.days[n-1].day < first.day {
			c.days = append(c.days, first)
		}
	}
}

// block returns the times of the records around one.
func (c *columns) block(id uint32) interval { return c.times[(id-c.first)/blockSize] }
