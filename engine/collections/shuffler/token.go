package shuffler

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/internal/refuse"
)

// Token is one person's right to report once, in one place. Its hash only is kept.
type Token = issue.Token

// Hash is a token of an independent issuer.
type Hash struct {
	SHA256  [32]byte // of the token's issue.TokenSize bytes
	Round   int
	Cell    uint32
	Stratum string
}

// Issue issues tokens to n further people, in random order: whoever hands them out in the order of
// the result assigns people to rounds and cells at random. Each place has its share of all tokens
// that were issued for the same rounds (issue.Apportion). round 0 means all rounds that are not
// over, by their planned sizes. The secrets are returned once and kept nowhere.
func (s *Shuffler) Issue(name string, n uint64, stratum string, round int) ([]Token, error) {
	s.issuing.Lock()
	defer s.issuing.Unlock()
	of, design, err := s.design(name)
	if err != nil {
		return nil, err
	}
	at, ok := stratumAt(design, stratum)
	switch first := s.present(of, at); {
	case !ok:
		return nil, noStratum(of, stratum)
	case n == 0 || n > issue.Most:
		return nil, refuse.New(refuse.CollectionParameter, "%d tokens cannot be issued at once.", n).With("Ask for 1 to %d.", issue.Most)
	case round < 0 || round > design.Rounds() || round > 0 && round < first:
		return nil, refuse.New(refuse.CollectionParameter, "Tokens of round %d of %s would never be used.", round, of.name).
			With("Give a round from %d to %d, or none for all of them.", first, design.Rounds())
	default:
		shares, err := s.shares(of, design, at, first, round)
		if err != nil {
			return nil, err
		}
		list := issue.Draw(shares, issue.Apportion(shares, n), func(p place) Token {
			return Token{Round: int(p.round), Cell: p.cell, Stratum: stratumName(design, p.stratum)}
		})
		return list, s.keepTokens(list, shares, design)
	}
}

// design plans the collection that a person means.
func (s *Shuffler) design(name string) (*collection, *collect.Design, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pins {
		if p.of.named(name) {
			g, err := collect.Plan(p.params.Collection, p.params.UUID, p.params.Protocol, p.params.Declaration)
			return p.of, g, err
		}
	}
	return nil, nil, refuse.New(refuse.CollectionParameter, "No round of %.130q is pinned.", name).With("Start with --pin NAME:FINGERPRINT, or run scrim shuffle pin.")
}

// stratumAt returns the place of a stratum in the declaration; any case will do.
func stratumAt(g *collect.Design, stratum string) (at int, ok bool) {
	if len(g.Declaration.Strata) == 0 {
		return 0, stratum == ""
	}
	at = slices.IndexFunc(g.Declaration.Strata, func(s string) bool { return strings.EqualFold(s, stratum) })
	return max(0, at), at >= 0
}

func stratumName(g *collect.Design, at uint16) string {
	if len(g.Declaration.Strata) == 0 {
		return ""
	}
	return g.Declaration.Strata[at]
}

func noStratum(of *collection, stratum string) error {
	return refuse.New(refuse.CollectionParameter, "The collection %s has no stratum %.80q.", of.name, stratum).With("Give one of those that were declared; none where there are none.")
}

// present is the last round that is pinned for a stratum, or 1.
func (s *Shuffler) present(of *collection, stratum int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := 1
	for _, p := range s.pins {
		if p.of == of && int(p.place.stratum) == stratum {
			r = max(r, p.params.Round)
		}
	}
	return r
}

// shares lists the places that tokens are issued for, with what was issued.
func (s *Shuffler) shares(of *collection, g *collect.Design, stratum, first, only int) (out []issue.Seat[place], err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		for r := first; r <= g.Rounds(); r++ {
			if only != 0 && r != only {
				continue
			}
			for _, c := range g.Cells(r) {
				p := place{of.id, uint8(r), uint16(stratum), c.Cell}
				out = append(out, issue.Seat[place]{Place: p, Quota: c.Quota, Taken: uint64At(tx.Bucket(bucketIssued).Get(p.key()))})
			}
		}
		return nil
	})
	return out, err
}

// keepTokens keeps the hashes of tokens and how many there are, before anybody sees one.
func (s *Shuffler) keepTokens(list []Token, shares []issue.Seat[place], g *collect.Design) error {
	entries := make([]tokenEntry, len(list))
	for i, t := range list {
		at, _ := stratumAt(g, t.Stratum)
		entries[i] = tokenEntry{sha256.Sum256(t.Secret[:]), place{shares[0].Place.collection, uint8(t.Round), uint16(at), t.Cell}}
	}
	return s.db.Update(func(tx *bolt.Tx) error {
		for _, h := range shares {
			if err := tx.Bucket(bucketIssued).Put(h.Place.key(), binary.BigEndian.AppendUint64(nil, h.Taken)); err != nil {
				return err
			}
		}
		_, err := addTokens(tx, entries)
		return err
	})
}

// tokenEntry is what is kept of a token.
type tokenEntry struct {
	hash  [32]byte
	place place
}

// addTokens adds tokens that nobody has used, and returns how many were not there before. One that
// is there, elsewhere, is refused.
func addTokens(tx *bolt.Tx, list []tokenEntry) (added int, err error) {
	slices.SortFunc(list, func(a, b tokenEntry) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	b := tx.Bucket(bucketTokens)
	for _, e := range list {
		if p, _, ok := tokenAt(tx, e.hash); ok {
			if p != e.place {
				return 0, refuse.New(refuse.CollectionParameter, "A token in the list has been issued for another place.").With("A token is for one place only.")
			}
			continue
		}
		if err := b.Put(e.hash[:], batchKey(e.place, 0)); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// AddHashes takes the hashes of tokens that an independent issuer has made. Those that are there
// already change nothing; all are taken or none.
func (s *Shuffler) AddHashes(name string, list []Hash) (added int, err error) {
	s.issuing.Lock()
	defer s.issuing.Unlock()
	of, design, err := s.design(name)
	if err != nil {
		return 0, err
	}
	if len(list) > issue.Most {
		return 0, refuse.New(refuse.CollectionParameter, "%d tokens cannot be taken at once.", len(list)).With("Send at most %d.", issue.Most)
	}
	entries := make([]tokenEntry, len(list))
	for i, h := range list {
		at, ok := stratumAt(design, h.Stratum)
		if !ok {
			return 0, noStratum(of, h.Stratum)
		}
		if uint64(h.Cell) >= uint64(len(design.Cells(h.Round))) {
			return 0, refuse.New(refuse.CollectionParameter, "The collection %s has no cell %d in a round %d.", of.name, h.Cell, h.Round)
		}
		entries[i] = tokenEntry{h.SHA256, place{of.id, uint8(h.Round), uint16(at), h.Cell}}
	}
	err = s.db.Update(func(tx *bolt.Tx) (err error) {
		counts := map[place]uint64{}
		for _, e := range entries {
			if _, _, ok := tokenAt(tx, e.hash); !ok {
				counts[e.place]++
			}
		}
		if added, err = addTokens(tx, entries); err != nil {
			return err
		}
		issued := tx.Bucket(bucketIssued)
		for p, n := range counts {
			if err := issued.Put(p.key(), binary.BigEndian.AppendUint64(nil, n+uint64At(issued.Get(p.key())))); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// place is where a token reports: a cell of a stratum of a round of a collection. Each has its own
// batches.
type place struct {
	collection uint32 // number, in the order of first pins
	round      uint8
	stratum    uint16 // in the declaration's list; 0 where there is none
	cell       uint32
}

const placeSize = 4 + 1 + 2 + 4

// key is the place in the order of its parts.
func (p place) key() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, placeSize+4), p.collection)
	b = binary.BigEndian.AppendUint16(append(b, p.round), p.stratum)
	return binary.BigEndian.AppendUint32(b, p.cell)
}

// placeOf reads a key.
func placeOf(b []byte) place {
	return place{binary.BigEndian.Uint32(b), b[4], binary.BigEndian.Uint16(b[5:]), binary.BigEndian.Uint32(b[7:])}
}

// file names a batch's files, without their suffix.
func (p place) file(batch uint32) string {
	return fmt.Sprintf("%d-%d-%d-%d-%d", p.collection, p.round, p.stratum, p.cell, batch)
}

// batchKey is the key of a batch's record.
func batchKey(p place, batch uint32) []byte { return binary.BigEndian.AppendUint32(p.key(), batch) }
