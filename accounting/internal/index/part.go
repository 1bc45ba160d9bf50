package index

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/record"
)

// Part is the index of a part: for each record the sets that it belongs to, from which the
// sets are made when all is read.
type Part struct {
	Columns
	*Scratch
	named []setName // of the sets from firstNamed on
	late  []record.OutcomeOf

	IDs  []uint32 // the records of the sets, one set after the other
	ends []uint32 // where each set ends
}

// Scratch is memory that one part after the other uses.
type Scratch struct {
	tags     []tag
	Outcomes []uint8 // of the charges in the part, and one more; 0: not a charge
}

// tag puts a record into a set.
type tag struct{ set, id uint32 }

// The sets by number: of a kind, of an outcome, of digests, of numbers of lines, and then as they
// come.
const (
	firstOutcome = uint32(record.Replay) + 1
	firstDigest  = firstOutcome + uint32(record.Cancelled) + 1
	firstLines   = firstDigest + DigestSets
	firstNamed   = firstLines + lineSets
)

// setName is what the records of a set have in common.
type setName struct {
	role nameRole
	text string
}

// nameRole says what a name is in a record.
type nameRole int

const (
	asPrincipal nameRole = iota
	AsAccount
	AsTable
	nameRoles
)

// NewPart returns an empty part that begins with record first. It uses the memory of s, which is
// cleared and belongs to it until the part is done.
func NewPart(first uint32, s *Scratch) Part {
	s.tags = s.tags[:0]
	clear(s.Outcomes)
	return Part{Columns: Columns{First: first}, Scratch: s}
}

// Entry puts a record into the sets of its kind and of its principal.
func (x *Part) Entry(kind record.Kind, who *Name, id uint32) {
	x.tags = append(x.tags, tag{uint32(kind), id})
	x.Tag(asPrincipal, who, id)
}

// Tag puts a record into the set of a name.
func (x *Part) Tag(role nameRole, n *Name, id uint32) {
	set := n.sets[role]
	if set == 0 {
		set = firstNamed + uint32(len(x.named))
		x.named = append(x.named, setName{role, n.Text})
		n.sets[role] = set
	}
	x.tags = append(x.tags, tag{set, id})
}

// Digest notes the digest of a record's statement.
func (x *Part) Digest(text []byte, id uint32) {
	if print := record.Fingerprint(text); print != 0 {
		x.Prints[id-x.First] = print
		x.tags = append(x.tags, tag{firstDigest + print%DigestSets, id})
	}
}

// Lines notes how many lines an entry has.
func (x *Part) Lines(n int, id uint32) {
	eachLineSet(n, func(set uint32) { x.tags = append(x.tags, tag{firstLines + set, id}) })
}

// Charge notes a charge without an outcome.
func (x *Part) Charge(id uint32) { x.Outcomes[id-x.First] = 1 + uint8(record.Unfinished) }

// Finish notes the outcome of a charge; of one before the part, for later.
func (x *Part) Finish(o record.OutcomeOf) {
	id := uint32(o.Charge)
	switch {
	case id < x.First:
		x.late = append(x.late, o)
	case x.Outcomes[id-x.First] > 0:
		x.Outcomes[id-x.First] = 1 + min(uint8(o.Outcome), uint8(record.Cancelled)+1)
	}
}

// Sort makes the sets. Records of one set come in their order.
func (x *Part) Sort() {
	for i, o := range x.Outcomes {
		if o > 0 && o <= 1+uint8(record.Cancelled) {
			x.tags = append(x.tags, tag{firstOutcome + uint32(o) - 1, x.First + uint32(i)})
		}
	}
	x.ends = make([]uint32, int(firstNamed)+len(x.named)+1)
	for _, t := range x.tags {
		x.ends[t.set+1]++
	}
	for i := range x.ends[1:] {
		x.ends[i+1] += x.ends[i]
	}
	// ends[set] is where the set's next record goes: in the end, where it ends
	x.IDs = make([]uint32, len(x.tags))
	for _, t := range x.tags {
		x.IDs[x.ends[t.set]] = t.id
		x.ends[t.set]++
	}
	x.Scratch = nil
}

// set returns the set of that number, of those of a part.
func (x *Index) set(number uint32, named []setName) *roaring.Bitmap {
	switch {
	case number < firstOutcome:
		return x.Kinds[number]
	case number < firstDigest:
		return x.Outcomes[number-firstOutcome]
	case number < firstLines:
		return setOf(x.Digests, number-firstDigest)
	case number < firstNamed:
		return x.lines[number-firstLines]
	}
	n := named[number-firstNamed]
	return setOf([nameRoles]map[string]*roaring.Bitmap{x.Principals, x.Accounts, x.Tables}[n.role], n.text)
}

// Join takes in the index of the records that follow.
func (x *Index) Join(p *Part) {
	x.Columns.join(&p.Columns)
	from := uint32(0)
	for set, to := range p.ends {
		if from < to {
			x.set(uint32(set), p.named).AddMany(p.IDs[from:to])
		}
		from = to
	}
	for _, o := range p.late {
		x.finish(o)
	}
}

// Joined makes the set of all entries, when all parts have been joined.
func (x *Index) Joined() {
	for _, b := range x.Kinds {
		x.Entries.Or(b)
	}
}

// Name is a name that records of a part have: of a principal, an account, a table, or several of
// these.
type Name struct {
	Text   string
	Number uint32            // among the part's names
	sets   [nameRoles]uint32 // by role; 0: none yet
}

// NewName returns a name with its number among the part's.
func NewName(text string, number uint32) Name { return Name{Text: text, Number: number} }

// errSegment says that bytes are no segment of the index.
var errSegment = errors.New("the segment does not decode")

// A segment is the index of a part in a file, so that opening need not read the records for it. It
// follows from the part's records alone. All numbers are big-endian:
//
//	first u32 (of the columns), last u32
//	prints         n uvarint, n × u32
//	times          n uvarint, n × {from i64, to i64}
//	days           n uvarint, n × {day u32, record u32}
//	named          n uvarint, n × {role u8, name}
//	sets           n uvarint, n × {set uvarint, n uvarint, n × u16 (record − first)}
//	late outcomes  n uvarint, n × {record u64, outcome u8}

// Encode appends the segment. The index of a part is sorted.
func (x *Part) Encode(b []byte) []byte {
	e := binary.BigEndian
	b = e.AppendUint32(e.AppendUint32(b, x.First), x.Last)
	b = binary.AppendUvarint(b, uint64(len(x.Prints)))
	for _, v := range x.Prints {
		b = e.AppendUint32(b, v)
	}
	b = binary.AppendUvarint(b, uint64(len(x.times)))
	for _, v := range x.times {
		b = e.AppendUint64(e.AppendUint64(b, uint64(v.From)), uint64(v.To))
	}
	b = binary.AppendUvarint(b, uint64(len(x.Days)))
	for _, v := range x.Days {
		b = e.AppendUint32(e.AppendUint32(b, uint32(v.day)), v.id)
	}
	b = binary.AppendUvarint(b, uint64(len(x.named)))
	for _, v := range x.named {
		b = codec.AppendText(append(b, byte(v.role)), v.text)
	}
	b = x.appendSets(b)
	b = binary.AppendUvarint(b, uint64(len(x.late)))
	for _, o := range x.late {
		b = append(e.AppendUint64(b, o.Charge), byte(o.Outcome))
	}
	return b
}

func (x *Part) appendSets(b []byte) []byte {
	full := uint64(0)
	for i, from := 0, uint32(0); i < len(x.ends); i, from = i+1, x.ends[i] {
		if x.ends[i] > from {
			full++
		}
	}
	b = binary.AppendUvarint(b, full)
	from := uint32(0)
	for set, to := range x.ends {
		if to > from {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(set)), uint64(to-from))
			for _, id := range x.IDs[from:to] {
				b = binary.BigEndian.AppendUint16(b, uint16(id-x.First))
			}
		}
		from = to
	}
	return b
}

// DecodePart is Encode's inverse.
func DecodePart(b []byte) (*Part, error) {
	d := codec.NewDecoder(b)
	x := &Part{Columns: Columns{First: d.Uint32(), Last: d.Uint32()}}
	if d.Bad || x.Last < x.First || x.Last-x.First > math.MaxUint16 {
		return nil, errSegment
	}
	e, records := binary.BigEndian, uint64(x.Last-x.First)+1
	if v := d.List(4, records); v != nil {
		x.Prints = make([]uint32, len(v)/4)
		for i := range x.Prints {
			x.Prints[i] = e.Uint32(v[4*i:])
		}
	}
	if v := d.List(16, records/BlockSize+1); v != nil {
		x.times = make([]Interval, len(v)/16)
		for i := range x.times {
			x.times[i] = Interval{int64(e.Uint64(v[16*i:])), int64(e.Uint64(v[16*i+8:]))}
		}
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		x.Days = append(x.Days, firstOf{budget.Date(d.Uint32()), d.Uint32()})
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		v := setName{nameRole(d.Byte()), d.Text()}
		d.Bad = d.Bad || v.role < 0 || v.role >= nameRoles
		x.named = append(x.named, v)
	}
	readSets(d, x)
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		x.late = append(x.late, record.ReadOutcome(d))
	}
	if d.Bad || d.Left() || uint64(len(x.Prints)) != records {
		return nil, errSegment
	}
	return x, nil
}

// sets takes the sets of a segment, which come in their order.
func readSets(d *codec.Decoder, x *Part) {
	x.ends = make([]uint32, int(firstNamed)+len(x.named)+1)
	next := 0
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		set, v := d.Uvarint(), d.List(2, uint64(x.Last-x.First)+1)
		if set < uint64(next) || set >= uint64(len(x.ends)-1) {
			d.Fail()
			return
		}
		for ; next < int(set); next++ {
			x.ends[next] = uint32(len(x.IDs))
		}
		for i := 0; i < len(v); i += 2 {
			x.IDs = append(x.IDs, x.First+uint32(binary.BigEndian.Uint16(v[i:])))
		}
		x.ends[next] = uint32(len(x.IDs))
		next++
	}
	for ; next < len(x.ends); next++ {
		x.ends[next] = uint32(len(x.IDs))
	}
}
