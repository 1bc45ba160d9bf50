package index

import (
	"encoding/binary"
	"errors"
	"math"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/record"
)

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
