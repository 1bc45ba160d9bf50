package seal

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

const headSize = 32 + 4 // fingerprint, count

// Shape is what the public parameters of a round say of its bundles. The shuffler pins it.
type Shape struct {
	Fingerprint [32]byte
	Least, Most int // messages; the same number except for SHUF_HIER
}

// ShapeOf returns the shape of the bundles of a round of the shuffle model.
func ShapeOf(p *collect.Params) Shape {
	s := Shape{Fingerprint: p.Fingerprint(), Most: int(p.Messages())}
	s.Least = s.Most
	if p.Tree() {
		s.Least = p.Batch.Levels
	}
	return s
}

// Size returns the bytes of every bundle: those of the largest.
func (s Shape) Size() int { return headSize + s.Most*SealedSize }

// Bundle seals a contributor's messages and returns the bundle, always of Size bytes. More messages
// than Most, or fewer than Least, are a bug of the device and panic: they would tell something of
// the value.
func (s Shape) Bundle(to *Sealer, messages []collect.Message) ([]byte, error) {
	if len(messages) < s.Least || len(messages) > s.Most {
		panic("seal: number of messages is not of the bundle's shape")
	}
	b := make([]byte, headSize, s.Size())
	copy(b, s.Fingerprint[:])
	binary.BigEndian.PutUint32(b[32:], uint32(len(messages)))
	for _, m := range messages {
		sealed, err := to.Seal(m)
		if err != nil {
			return nil, err
		}
		b = append(b, sealed...)
	}
	end := len(b)
	b = b[:s.Size()]
	rand.Read(b[end:]) // never fails: it ends the program instead
	return b, nil
}

// Check returns the sealed messages of a bundle, one after another, without its padding. It refuses
// a bundle of another length, of other parameters, or with another number of messages than the
// protocol sends.
func (s Shape) Check(bundle []byte) (sealed []byte, err error) {
	if len(bundle) != s.Size() {
		return nil, refuse.New(refuse.MalformedReport, "A bundle of this round has %d bytes, and this one %d.", s.Size(), len(bundle))
	}
	if subtle.ConstantTimeCompare(bundle[:32], s.Fingerprint[:]) != 1 {
		return nil, refuse.New(refuse.MalformedReport, "The bundle was made from other parameters than those that this shuffler pinned for the round.")
	}
	n := binary.BigEndian.Uint32(bundle[32:])
	if uint64(n) < uint64(s.Least) || uint64(n) > uint64(s.Most) {
		return nil, refuse.New(refuse.MalformedReport, "A bundle of this round holds from %d to %d messages, and this one %d.", s.Least, s.Most, n)
	}
	return bundle[headSize:][:int(n)*SealedSize], nil
}
