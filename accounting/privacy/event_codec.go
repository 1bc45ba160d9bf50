package privacy

import (
	"encoding/binary"
	"math"

	"scrim/accounting/internal/codec"
)

// append encodes the event: kind u8, then uvarints ρ, ε, steps and count, then the two δ as f64.
func (e Event) append(b []byte) []byte {
	b = append(b, byte(e.Kind))
	for _, v := range [...]uint64{uint64(e.Rho), uint64(e.Epsilon), e.Steps, uint64(e.Count)} {
		b = binary.AppendUvarint(b, v)
	}
	return codec.AppendFloat(codec.AppendFloat(b, e.DeltaEvent), e.DeltaTV)
}

// AppendEvents encodes a list: its length as uvarint, then each.
func AppendEvents(b []byte, events []Event) []byte {
	b = binary.AppendUvarint(b, uint64(len(events)))
	for _, e := range events {
		b = e.append(b)
	}
	return b
}

// event is Event.append's inverse. It refuses what is no event.
func ReadEvent(d *codec.Decoder) Event {
	e := Event{
		Kind: EventKind(d.Byte()), Rho: Rho(d.Uvarint()), Epsilon: Pure(d.Uvarint()), Steps: d.Uvarint(),
	}
	count := d.Uvarint()
	e.Count, e.DeltaEvent, e.DeltaTV = uint32(count), d.Float(), d.Float()
	d.Bad = d.Bad || count > math.MaxUint32 || e.Check() != nil
	return e
}

// encodedEvent is the encoding of an event, which may be none.
func SkipEvent(d *codec.Decoder) []byte {
	from := d.At()
	d.Take(1)
	for range 4 {
		d.Uvarint()
	}
	d.Take(8 + 8)
	return d.Since(from)
}

// events is appendEvents' inverse.
func ReadEvents(d *codec.Decoder) []Event {
	var list []Event
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		list = append(list, ReadEvent(d))
	}
	return list
}
