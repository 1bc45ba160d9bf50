package privacy

import (
	"encoding/binary"

	"scrim/accounting/internal/codec"
)

// Tally is a sum of losses in exact arithmetic.
type Tally struct {
	Rho       Rho
	Pure      Pure // as in Loss
	Event, TV Slack
}

// TallyOf returns a loss as a tally: each δ rounded up to a slack.
func TallyOf(l Loss) Tally { return Tally{l.Rho, l.Pure, slackOf(l.DeltaEvent), slackOf(l.DeltaTV)} }

// Add returns t with u added.
func (t Tally) Add(u Tally) Tally {
	t.Plus(&u)
	return t
}

// Plus adds u to t.
func (t *Tally) Plus(u *Tally) {
	if t.Pure > 0 || u.Pure > 0 { // none of two without is none
		t.Pure = composed(t.Pure, u.Pure, *t == Tally{}, *u == Tally{})
	}
	t.Rho, t.Event, t.TV = t.Rho.Add(u.Rho), t.Event.add(u.Event), t.TV.add(u.TV)
}

// Loss returns the tally as a Loss, rounded up.
func (t Tally) Loss() Loss { return Loss{t.Rho, t.Event.Float(), t.TV.Float(), t.Pure} }

// Append appends the encoded tally, tallySize bytes, to b.
func (t Tally) Append(b []byte) []byte {
	for _, v := range [...]uint64{uint64(t.Rho), uint64(t.Pure), t.Event.hi, t.Event.lo, t.TV.hi, t.TV.lo} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// tallySize is the length of an encoded tally.
const tallySize = 6 * 8

// ReadTally reads what Tally.Append wrote; the decoder tells of what is cut short.
func ReadTally(d *codec.Decoder) Tally {
	v := d.Take(tallySize)
	if len(v) != tallySize {
		return Tally{}
	}
	e := binary.BigEndian
	t := Tally{
		Rho: Rho(e.Uint64(v)), Pure: Pure(e.Uint64(v[8:])),
		Event: Slack{e.Uint64(v[16:]), e.Uint64(v[24:])}, TV: Slack{e.Uint64(v[32:]), e.Uint64(v[40:])},
	}
	d.Bad = d.Bad || t.Pure > 0 && (t.Event != Slack{} || t.TV != Slack{})
	return t
}
