// Package codec writes and reads the values that the ledger's files consist of: big-endian numbers,
// uvarints, texts with their length before them, and lists with theirs. Writing appends to a slice;
// reading takes values off one with a Decoder.
package codec

import (
	"encoding/binary"
	"math"
)

// Decoder takes values off a slice, one after the other. After the first that is not there, Bad is
// set and all further values are zero.
type Decoder struct {
	b   []byte
	at  int
	Bad bool
}

// NewDecoder returns a decoder of b, whose bytes it hands out and does not copy.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Left reports whether anything is left.
func (d *Decoder) Left() bool { return d.at < len(d.b) }

// Fail makes everything zero from here on.
func (d *Decoder) Fail() { d.b, d.at, d.Bad = nil, 0, true }

// At returns how many bytes have been taken.
func (d *Decoder) At() int { return d.at }

// Since returns the bytes that were taken since At was at; nil where one was not there.
func (d *Decoder) Since(at int) []byte {
	if d.Bad {
		return nil
	}
	return d.b[at:d.at]
}

// Take takes n bytes.
func (d *Decoder) Take(n uint64) []byte {
	if n > uint64(len(d.b)-d.at) {
		d.Fail()
		return nil
	}
	v := d.b[d.at : d.at+int(n)]
	d.at += int(n)
	return v
}

// Byte takes one byte.
func (d *Decoder) Byte() byte {
	if v := d.Take(1); len(v) == 1 {
		return v[0]
	}
	return 0
}

// Bool takes what AppendBool writes, and nothing else.
func (d *Decoder) Bool() bool {
	v := d.Byte()
	d.Bad = d.Bad || v > 1
	return v == 1
}

// Uint32 takes four bytes, big-endian.
func (d *Decoder) Uint32() uint32 {
	if v := d.Take(4); len(v) == 4 {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

// Uint64 takes eight bytes, big-endian.
func (d *Decoder) Uint64() uint64 {
	if v := d.Take(8); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// Float takes what AppendFloat writes.
func (d *Decoder) Float() float64 { return math.Float64frombits(d.Uint64()) }

// Uvarint takes a number, of which most are below 128.
func (d *Decoder) Uvarint() uint64 {
	if d.at < len(d.b) && d.b[d.at] < 0x80 {
		d.at++
		return uint64(d.b[d.at-1])
	}
	return d.longUvarint()
}

func (d *Decoder) longUvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.at += n
	return v
}

// Bytes takes a text, and returns its bytes where they stand.
func (d *Decoder) Bytes() []byte { return d.Take(d.Uvarint()) }

// Text takes what AppendText writes.
func (d *Decoder) Text() string { return string(d.Bytes()) }

// Texts takes what AppendTexts writes.
func (d *Decoder) Texts() []string {
	var list []string
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		list = append(list, d.Text())
	}
	return list
}

// EncodedTexts takes a list of texts, and returns its encoding where it stands.
func (d *Decoder) EncodedTexts() []byte {
	from := d.at
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		d.Bytes()
	}
	return d.Since(from)
}

// List takes a list of at most most values of that size, and returns them where they stand.
func (d *Decoder) List(size, most uint64) []byte {
	n := d.Uvarint()
	if n > most {
		d.Fail()
		return nil
	}
	return d.Take(n * size)
}

// AppendText appends a text: its length as uvarint, then its bytes.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendTexts appends a list of texts: its length as uvarint, then each.
func AppendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = AppendText(b, s)
	}
	return b
}

// AppendFloat appends a number as its 64 bits in IEEE 754, big-endian.
func AppendFloat(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(f))
}

// AppendBool appends 1 for true and 0 for false.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
