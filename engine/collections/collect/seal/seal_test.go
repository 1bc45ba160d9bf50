package seal

import (
	"bytes"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
)

func pair(t testing.TB) (*Sealer, *Opener, *PrivateKey) {
	t.Helper()
	k, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSealer(k.Public(), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return s, NewOpener(k, [32]byte{1}), k
}

func sealed(t testing.TB, s *Sealer, m collect.Message) []byte {
	t.Helper()
	b, err := s.Seal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealRoundTrip(t *testing.T) {
	s, o, k := pair(t)
	m := collect.Message{1, 2, 3, 15: 9}
	a, b := sealed(t, s, m), sealed(t, s, m)
	if len(a) != SealedSize || bytes.Equal(a[:KeySize], b[:KeySize]) || bytes.Equal(a[KeySize:], b[KeySize:]) {
		t.Errorf("two sealings of a message have %d bytes and share a part", len(a))
	}
	stored, err := ParsePrivate(k.Bytes())
	if err != nil || !bytes.Equal(stored.Public(), k.Public()) {
		t.Fatalf("a stored key is another: %v", err)
	}
	for _, o := range []*Opener{o, NewOpener(stored, [32]byte{1})} {
		if got, ok := o.Open(a); !ok || got != m {
			t.Errorf("opened %v, %v", got, ok)
		}
	}
}

// TestOnlyTheRightKeyOpens checks that tampering at any byte, another fingerprint, another key and
// another length are all noticed.
func TestOnlyTheRightKeyOpens(t *testing.T) {
	s, o, k := pair(t)
	c := sealed(t, s, collect.Message{7})
	for i := range c {
		c[i] ^= 0x10
		if _, ok := o.Open(c); ok {
			t.Errorf("byte %d can be changed", i)
		}
		c[i] ^= 0x10
	}
	if _, ok := NewOpener(k, [32]byte{2}).Open(c); ok {
		t.Error("another fingerprint opens")
	}
	if _, other, _ := pair(t); true {
		if _, ok := other.Open(c); ok {
			t.Error("another key opens")
		}
	}
	for _, c := range [][]byte{nil, c[:SealedSize-1], append(c, 0), make([]byte, SealedSize)} {
		if _, ok := o.Open(c); ok {
			t.Errorf("%d bytes open", len(c))
		}
	}
}

func TestBadKeysAreRefused(t *testing.T) {
	if _, err := ParsePrivate(make([]byte, 31)); err == nil {
		t.Error("a short private key is taken")
	}
	if _, err := NewSealer(make([]byte, 33), [32]byte{}); err == nil {
		t.Error("a long public key is taken")
	}
	s, err := NewSealer(make([]byte, 32), [32]byte{}) // the point of order one: anybody could open
	if err == nil {
		_, err = s.Seal(collect.Message{})
	}
	if err == nil {
		t.Error("a public key of small order seals")
	}
}

func TestBundlesHaveOneLength(t *testing.T) {
	s, o, _ := pair(t)
	shape := Shape{[32]byte{1}, 2, 5}
	for n := 2; n <= 5; n++ {
		messages := make([]collect.Message, n)
		for i := range messages {
			messages[i][0] = byte(i)
		}
		b, err := shape.Bundle(s, messages)
		if err != nil || len(b) != shape.Size() {
			t.Fatalf("%d messages: %d bytes, %v; want %d", n, len(b), err, shape.Size())
		}
		got, err := shape.Check(b)
		if err != nil || len(got) != n*SealedSize {
			t.Fatalf("%d messages came back as %d bytes: %v", n, len(got), err)
		}
		for i := range n {
			if m, ok := o.Open(got[i*SealedSize:][:SealedSize]); !ok || m != messages[i] {
				t.Errorf("message %d of %d is %v, %v", i, n, m, ok)
			}
		}
		if pad := b[headSize+n*SealedSize:]; n < 5 && bytes.Count(pad, []byte{0}) > len(pad)/4 {
			t.Error("padding is not random, so compression would show the number of messages")
		}
	}
}

func TestBundlesOutOfShape(t *testing.T) {
	s, _, _ := pair(t)
	shape := Shape{[32]byte{1}, 2, 3}
	good, err := shape.Bundle(s, make([]collect.Message, 2))
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return b
	}
	for name, b := range map[string][]byte{
		"foreign fingerprint": change(0, 9), "too few messages": change(35, 1), "too many messages": change(35, 4), "huge count": change(32, 255),
		"empty": nil, "head only": good[:headSize], "short": good[:len(good)-1], "long": append(bytes.Clone(good), 0), "8 kB": make([]byte, 8192),
	} {
		_, err := shape.Check(b)
		if r, ok := refuse.As(err); !ok || r.Code != refuse.MalformedReport {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []int{1, 4} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d messages are bundled", n)
				}
			}()
			shape.Bundle(s, make([]collect.Message, n))
		}()
	}
}

// TestShapes checks what the shuffler pins: exact numbers for sums and vectors, a range for trees.
func TestShapes(t *testing.T) {
	sum := &collect.Params{Cells: []collect.Cell{{Domain: 1}}, Batch: &collect.Batch{Shares: 9}}
	vector := &collect.Params{Cells: []collect.Cell{{Domain: 8}}, Batch: &collect.Batch{Shares: 10}}
	tree := &collect.Params{Cells: []collect.Cell{{Domain: 64}}, Batch: &collect.Batch{Levels: 3, Cap: 70, Shares: 0}}
	for _, c := range []struct {
		p           *collect.Params
		least, most int
	}{{sum, 9, 9}, {vector, 80, 80}, {tree, 3, 70}} {
		c.p.Declaration.Epsilon = 10_000
		s := ShapeOf(c.p)
		if s.Least != c.least || s.Most != c.most || s.Fingerprint != c.p.Fingerprint() {
			t.Errorf("got %d to %d messages, want %d to %d", s.Least, s.Most, c.least, c.most)
		}
	}
}
