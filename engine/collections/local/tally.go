package local

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"sync"

	"scrim/engine/collections/collect"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// maxReports bounds the reports of one tally, so that no sum of integers overflows: a Laplace
// report is below 2^23, a coordinate of a Gaussian one below 2^31.
const maxReports = 1 << 32

// Tally is what the reports of one round of one stratum add up to. Tallies of parts of the reports
// can be merged in any order. It is not safe for concurrent use: each goroutine has its own.
type Tally struct {
	params *collect.Params
	places map[uint32]int // of a cell's number in parts
	parts  []part         // in the order of the parameters
	total  uint64
}

// part is what one cell's reports add up to.
type part struct {
	collect.Cell
	reports uint64
	sum     accumulator
}

// accumulator adds the payloads of one randomiser.
type accumulator interface {
	// add adds a payload that was sent by times contributors. It returns malformed's error, and
	// changes nothing, if the payload has not the shape of the cell's.
	add(payload []byte, times uint64) error
	// merge adds what another accumulator of the same cell holds.
	merge(other accumulator)
}

// NewTally returns an empty tally of the round that p describes. It panics on a randomiser that no
// local protocol has: parameters are verified before.
func NewTally(p *collect.Params) *Tally {
	t := &Tally{params: p, places: make(map[uint32]int, len(p.Cells))}
	for i, c := range p.Cells {
		t.places[c.Cell] = i
		t.parts = append(t.parts, part{Cell: c, sum: newAccumulator(p, c)})
	}
	return t
}

func newAccumulator(p *collect.Params, c collect.Cell) accumulator {
	switch c.Randomiser {
	case collect.BRR, collect.BitMean:
		return &values{cell: c, size: 1, counts: make([]uint64, 2)}
	case collect.KRR:
		return &values{cell: c, size: 2, counts: make([]uint64, c.Domain)}
	case collect.OUE:
		return &ones{cell: c, counts: make([]uint64, c.Domain), bytes: make([]uint64, (c.Domain+7)/8)}
	case collect.HRR:
		return &signs{cell: c, sums: make([]int64, c.Domain)}
	case collect.DLAP:
		return &moments{cell: c}
	case collect.DGAUSS:
		return &coordinates{cell: c, sums: make([]int64, c.Domain)}
	case collect.Sphere:
		return newSphere(p, c)
	}
	panic("local: no such randomiser: " + string(c.Randomiser))
}

// Add adds a payload that times contributors of a cell sent. The payload was checked by
// Params.DecodeReport; what it checks of the shape is checked again. On an error nothing is added.
func (t *Tally) Add(cell uint32, payload []byte, times uint64) error {
	i, ok := t.places[cell]
	if !ok {
		return refuse.New(refuse.MalformedReport, "The round has no cell %d.", cell)
	}
	if err := t.room(times); err != nil {
		return err
	}
	if err := t.parts[i].sum.add(payload, times); err != nil {
		return err
	}
	t.parts[i].reports += times
	t.total += times
	return nil
}

func (t *Tally) room(reports uint64) error {
	if reports > maxReports-t.total {
		return fmt.Errorf("local: want at most %d reports, have %d and %d", uint64(maxReports), t.total, reports)
	}
	return nil
}

// Merge adds another tally of the same round and stratum; the other one is not to be used
// afterwards. It panics if the two have other cells.
func (t *Tally) Merge(o *Tally) {
	if len(t.parts) != len(o.parts) {
		panic("local: tallies of different rounds")
	}
	for i := range t.parts {
		if t.parts[i].Cell != o.parts[i].Cell {
			panic("local: tallies of different rounds")
		}
		t.parts[i].sum.merge(o.parts[i].sum)
		t.parts[i].reports += o.parts[i].reports
	}
	t.total += o.total
}

// Received returns how many reports of a cell were added: 0 for an unknown cell.
func (t *Tally) Received(cell uint32) uint64 {
	if i, ok := t.places[cell]; ok {
		return t.parts[i].reports
	}
	return 0
}

// Total returns how many reports were added.
func (t *Tally) Total() uint64 { return t.total }

// part returns the part of a cell, which exists.
func (t *Tally) part(cell uint32) *part { return &t.parts[t.places[cell]] }

// of returns the parts whose cells have a randomiser, in the order of the parameters.
func (t *Tally) of(r collect.Randomiser) []*part {
	var out []*part
	for i := range t.parts {
		if t.parts[i].Randomiser == r {
			out = append(out, &t.parts[i])
		}
	}
	return out
}

// malformed is the refusal of a payload that has not its cell's shape.
func malformed(c collect.Cell) error {
	return refuse.New(refuse.MalformedReport, "A report of cell %d is not one of %s.", c.Cell, c.Randomiser)
}

// values counts how often each value was reported, by binary response in one byte or by k-ary
// response in two.
type values struct {
	cell   collect.Cell
	size   int
	counts []uint64
}

func (v *values) add(payload []byte, times uint64) error {
	if len(payload) != v.size {
		return malformed(v.cell)
	}
	x := int(payload[0])
	if v.size == 2 {
		x = int(binary.BigEndian.Uint16(payload))
	}
	if x >= len(v.counts) {
		return malformed(v.cell)
	}
	v.counts[x] += times
	return nil
}

func (v *values) merge(other accumulator) { addTo(v.counts, other.(*values).counts) }

// signs sums ±1 for each index of Hadamard response: three bytes of index, and a byte of 1 for +1.
type signs struct {
	cell collect.Cell
	sums []int64
}

func (s *signs) add(payload []byte, times uint64) error {
	if len(payload) != 4 || payload[3] > 1 {
		return malformed(s.cell)
	}
	index := binary.BigEndian.Uint32(payload) >> 8
	if uint64(index) >= uint64(len(s.sums)) {
		return malformed(s.cell)
	}
	s.sums[index] += (2*int64(payload[3]) - 1) * int64(times)
	return nil
}

func (s *signs) merge(other accumulator) { addTo(s.sums, other.(*signs).sums) }

// moments sums the eight-byte reports of discrete Laplace, and their squares.
type moments struct {
	cell    collect.Cell
	sum     int64
	squares float64
}

func (m *moments) add(payload []byte, times uint64) error {
	if len(payload) != 8 {
		return malformed(m.cell)
	}
	x := int64(binary.BigEndian.Uint64(payload))
	if x != int64(int32(x)) {
		return malformed(m.cell)
	}
	m.sum += x * int64(times)
	m.squares += float64(x) * float64(x) * float64(times)
	return nil
}

func (m *moments) merge(other accumulator) {
	o := other.(*moments)
	m.sum += o.sum
	m.squares += o.squares
}

// coordinates sums the reports of discrete Gaussian, four bytes a coordinate.
type coordinates struct {
	cell collect.Cell
	sums []int64
}

func (c *coordinates) add(payload []byte, times uint64) error {
	if len(payload) != 4*len(c.sums) {
		return malformed(c.cell)
	}
	for i := range c.sums {
		c.sums[i] += int64(int32(binary.BigEndian.Uint32(payload[4*i:]))) * int64(times)
	}
	return nil
}

func (c *coordinates) merge(other accumulator) { addTo(c.sums, other.(*coordinates).sums) }

// ones counts how often each bit of a unary encoding was set. Up to 255 reports are counted eight
// bits at a time in the bytes of words, and then moved to counts.
type ones struct {
	cell   collect.Cell
	counts []uint64
	// of each byte of a report: eight counts, one a byte, the first bit in the lowest
	bytes []uint64
	held  int // reports in bytes
}

// spread has, for each byte, its bits in the bytes of a word: bit 7 in the lowest.
var spread = func() (table [256]uint64) {
	for b := range table {
		for i := range 8 {
			table[b] |= uint64(b) >> (7 - i) & 1 << (8 * i)
		}
	}
	return table
}()

func (o *ones) add(payload []byte, times uint64) error {
	if len(payload) != len(o.bytes) || len(payload) > 0 && payload[len(payload)-1]&o.padding() != 0 {
		return malformed(o.cell)
	}
	if times != 1 {
		o.addMany(payload, times)
		return nil
	}
	for i, b := range payload {
		o.bytes[i] += spread[b]
	}
	if o.held++; o.held == 255 {
		o.flush()
	}
	return nil
}

// padding has the bits of the last byte that stand for no value.
func (o *ones) padding() byte { return byte(1)<<(8*len(o.bytes)-len(o.counts)) - 1 }

func (o *ones) addMany(payload []byte, times uint64) {
	for i, b := range payload {
		for ; b != 0; b &= b - 1 {
			o.counts[8*i+7-bits.TrailingZeros8(b)] += times
		}
	}
}

// flush moves what bytes holds to counts.
func (o *ones) flush() {
	for i := range o.counts {
		o.counts[i] += o.bytes[i/8] >> (8 * (i % 8)) & 0xff
	}
	clear(o.bytes)
	o.held = 0
}

func (o *ones) merge(other accumulator) {
	from := other.(*ones)
	o.flush()
	from.flush()
	addTo(o.counts, from.counts)
}

// addTo adds src to dst; the lengths are equal.
func addTo[T int64 | uint64 | float64](dst, src []T) {
	for i, x := range src {
		dst[i] += x
	}
}

// leastShare is how many bytes a goroutine is worth.
const leastShare = 1 << 16

// AddAll adds reports of one cell whose payloads, all of one length, follow each other. It works on
// all cores. On an error nothing is added.
func (t *Tally) AddAll(cell uint32, payloads []byte) error {
	i, ok := t.places[cell]
	if !ok {
		return refuse.New(refuse.MalformedReport, "The round has no cell %d.", cell)
	}
	c := t.parts[i].Cell
	size := c.PayloadSize()
	if len(payloads)%size != 0 {
		return malformed(c)
	}
	reports := uint64(len(payloads) / size)
	if err := t.room(reports); err != nil {
		return err
	}
	sums, err := addShares(t.params, c, payloads, size)
	if err != nil {
		return err
	}
	for _, s := range sums {
		t.parts[i].sum.merge(s)
	}
	t.parts[i].reports += reports
	t.total += reports
	return nil
}

// addShares adds payloads to new accumulators, one a core.
func addShares(p *collect.Params, c collect.Cell, payloads []byte, size int) ([]accumulator, error) {
	n := max(1, min(runtime.GOMAXPROCS(0), len(payloads)/leastShare))
	share := (len(payloads)/size + n - 1) / n * size
	sums, errs := make([]accumulator, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		mine := payloads[min(i*share, len(payloads)):min((i+1)*share, len(payloads))]
		all.Go(func() {
			sums[i] = newAccumulator(p, c)
			for ; len(mine) > 0 && errs[i] == nil; mine = mine[size:] {
				errs[i] = sums[i].add(mine[:size], 1)
			}
		})
	}
	all.Wait()
	if err, ok := lists.Find(errs, func(err error) bool { return err != nil }); ok {
		return nil, err
	}
	return sums, nil
}

// shown is how many cells a message lists.
const shown = 8

// enough refuses a round in which a cell has not received its minimum, or all cells together
// theirs, or in which nothing has arrived.
func enough(p *collect.Params, t *Tally) error {
	var few []string
	for _, c := range t.parts {
		if c.reports < c.Min {
			few = append(few, fmt.Sprintf("cell %d has %d of %d", c.Cell.Cell, c.reports, c.Min))
		}
	}
	if need := max(p.Min, 1); len(few) == 0 && t.Total() < need {
		few = []string{fmt.Sprintf("all cells together have %d of %d", t.Total(), need)}
	}
	if len(few) == 0 {
		return nil
	}
	return refuse.New(refuse.TooFewReports, "Round %d of %s needs more reports: %s.", p.Round, p.Collection, list(few))
}

// halfFull names the cells with less than half of their quota; it is empty if there are none.
func halfFull(t *Tally) string {
	var half []string
	for _, c := range t.parts {
		if c.reports < c.Quota-c.Quota/2 {
			half = append(half, fmt.Sprintf("cell %d has %d of %d", c.Cell.Cell, c.reports, c.Quota))
		}
	}
	if len(half) == 0 {
		return ""
	}
	return "Cells with less than half of the planned reports: " + list(half) + ". Estimates use what has arrived."
}

func list(s []string) string {
	if len(s) > shown {
		return fmt.Sprintf("%s, and %d more", strings.Join(s[:shown], ", "), len(s)-shown)
	}
	return strings.Join(s, ", ")
}
