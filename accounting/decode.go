package accounting

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// errRecord says that a payload is none.
var errRecord = errors.New("record does not decode")

// decodeRecord is encode's inverse. It refuses what encode cannot have written.
func decodeRecord(b []byte) (*record, error) {
	d, r := decoder{b: b}, &record{}
	d.record(r)
	if d.bad || d.left() || r.day < 0 {
		return nil, errRecord
	}
	return r, nil
}

func (d *decoder) record(r *record) {
	h := d.head()
	*r = record{kind: h.kind, at: time.Unix(0, h.at).UTC(), day: h.day, principal: d.string()}
	switch r.kind {
	case chargeRecord:
		r.statement = d.string()
		d.digest(r)
		r.mechanisms, r.roles = d.string(), d.strings()
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			r.charges = append(r.charges, d.booked())
		}
	case replayRecord:
		r.statement = d.string()
		d.digest(r)
		r.charge, r.tables = d.uint64(), d.strings()
	case outcomeRecord:
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			r.outcomes = append(r.outcomes, d.outcome())
		}
	case noteRecord:
		r.noteKind, r.text = d.string(), d.string()
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		d.budget(r)
	default:
		d.bad = true
	}
}

// recordHead is what every payload begins with.
type recordHead struct {
	kind recordKind
	at   int64 // in nanoseconds
	day  day
}

func (d *decoder) head() recordHead {
	return recordHead{recordKind(d.byte()), int64(d.uint64()), day(d.uint32())}
}

func (d *decoder) outcome() outcomeOf { return outcomeOf{d.uint64(), Outcome(d.byte())} }

func (d *decoder) budget(r *record) {
	b := &r.budget
	*b = Budget{Account: d.string(), Entity: d.bool(), Principal: d.string(), Reason: d.string(), SetBy: r.principal, SetAt: r.at}
	if r.kind == setBudgetRecord {
		b.Epsilon, b.Rho, b.Delta, b.Window = Epsilon(d.float()), Rho(d.uint64()), Delta(d.float()), Window(d.string())
		if d.left() { // a budget that was made before orders were chosen has none
			b.Order = d.float()
			d.bad = d.bad || !b.hasOrder()
		}
		d.bad = d.bad || b.Check() != nil
	}
}

func (d *decoder) booked() booked {
	c := booked{account: d.string(), entity: d.bool(), table: d.string(), loss: d.tally(), events: d.events()}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		c.left = append(c.left, Left{d.string(), Epsilon(d.float()), Rho(d.uint64())})
	}
	return c
}

// decoder takes values off b, from at on. After the first that is not there, bad is set and all
// further values are zero.
type decoder struct {
	b   []byte
	at  int
	bad bool
}

// left reports whether anything is left.
func (d *decoder) left() bool { return d.at < len(d.b) }

// fail makes everything zero from here on.
func (d *decoder) fail() { d.b, d.at, d.bad = nil, 0, true }

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)-d.at) {
		d.fail()
		return nil
	}
	v := d.b[d.at : d.at+int(n)]
	d.at += int(n)
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1); len(v) == 1 {
		return v[0]
	}
	return 0
}

func (d *decoder) bool() bool {
	v := d.byte()
	d.bad = d.bad || v > 1
	return v == 1
}

func (d *decoder) uint32() uint32 {
	if v := d.take(4); len(v) == 4 {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.take(8); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) float() float64 { return math.Float64frombits(d.uint64()) }

// uvarint takes a number, of which most are below 128.
func (d *decoder) uvarint() uint64 {
	if d.at < len(d.b) && d.b[d.at] < 0x80 {
		d.at++
		return uint64(d.b[d.at-1])
	}
	return d.longUvarint()
}

func (d *decoder) longUvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		d.fail()
		return 0
	}
	d.at += n
	return v
}

// bytes is a string where it stands.
func (d *decoder) bytes() []byte { return d.take(d.uvarint()) }

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) strings() []string {
	var list []string
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		list = append(list, d.string())
	}
	return list
}

// encodedStrings is the encoding of a list of strings.
func (d *decoder) encodedStrings() []byte {
	from := decoder{b: d.b, at: d.at}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		d.bytes()
	}
	return from.until(d)
}

// until returns what e has taken since it was as d is.
func (d *decoder) until(e *decoder) []byte {
	if e.bad {
		return nil
	}
	return d.b[d.at:e.at]
}

func (d *decoder) digest(r *record) {
	b := d.bytes()
	r.digest, r.print = string(b), fingerprint(b)
}

// tallySize is the length of an encoded tally.
const tallySize = 6 * 8

func (d *decoder) tally() tally {
	v := d.take(tallySize)
	if len(v) != tallySize {
		return tally{}
	}
	e := binary.BigEndian
	t := tally{
		rho: Rho(e.Uint64(v)), pure: Pure(e.Uint64(v[8:])),
		event: slack{e.Uint64(v[16:]), e.Uint64(v[24:])}, tv: slack{e.Uint64(v[32:]), e.Uint64(v[40:])},
	}
	d.bad = d.bad || t.pure > 0 && (t.event != slack{} || t.tv != slack{})
	return t
}
