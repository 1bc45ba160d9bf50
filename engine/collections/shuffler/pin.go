package shuffler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/refuse"
)

// collection is a collection of which some round is pinned.
type collection struct {
	id   uint32
	name string // with its database
	uuid string
}

type collectionRecord struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
}

// named tells whether a person means the collection: by its name, with the database or without, in
// any case.
func (c *collection) named(name string) bool {
	return strings.EqualFold(name, c.name) || strings.EqualFold(name, short(c.name))
}

func short(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// pin is one set of public parameters that bundles are taken for: of one round of one stratum.
type pin struct {
	place  place // cell 0
	of     *collection
	params *collect.Params
	shape  seal.Shape
}

// ParsePin reads NAME:FINGERPRINT.
func ParsePin(text string) (name string, fingerprint [32]byte, err error) {
	name, digits, ok := strings.Cut(text, ":")
	b, bad := hex.DecodeString(digits)
	if !ok || name == "" || bad != nil || len(b) != len(fingerprint) {
		return "", fingerprint, fmt.Errorf("shuffler: %.200q is not a pin; want NAME:FINGERPRINT, with 64 digits of hex", text)
	}
	return name, [32]byte(b), nil
}

// Pin takes bundles of the parameters with a fingerprint from now on. It fetches them from the
// server, checks that they are the ones of the fingerprint, and verifies that they give what they
// declare. What is pinned stays pinned: another fingerprint for the same round and stratum is
// refused, and so is another collection of the same name. Pinning again changes nothing.
func (s *Shuffler) Pin(ctx context.Context, name string, fingerprint [32]byte) (*collect.Params, error) {
	s.pinning.Lock()
	defer s.pinning.Unlock()
	s.mu.RLock()
	known := s.pins[fingerprint]
	s.mu.RUnlock()
	if known != nil {
		if !known.of.named(name) {
			return nil, refuse.New(refuse.CollectionParameter, "The fingerprint is of %s and not of %.130q.", known.of.name, name)
		}
		return known.params, nil
	}
	text, err := s.upstream.Params(ctx, fingerprint)
	if err != nil {
		return nil, fmt.Errorf("shuffler: parameters of %s: %w", name, err)
	}
	p, err := checkParams(text, name, fingerprint)
	if err != nil {
		return nil, err
	}
	return p, s.keepPin(p)
}

// checkParams verifies what the server says has a fingerprint.
func checkParams(text []byte, name string, fingerprint [32]byte) (*collect.Params, error) {
	p, err := collect.Parse(text)
	if err != nil {
		return nil, err
	}
	switch info, _ := p.Protocol.Info(); {
	case p.Fingerprint() != fingerprint:
		return nil, refuse.New(refuse.CollectionParameter, "The server has sent parameters of another fingerprint than the one to be pinned.").
			With("Pin nothing, and tell whoever runs the collection.")
	case info.Model != collect.Shuffle:
		return nil, refuse.New(refuse.CollectionParameter, "The collection %s is of the local model, which needs no shuffler.", p.Collection).
			With("Contributors insert their reports at the server.")
	}
	if c := (&collection{name: p.Collection}); !c.named(name) {
		return nil, refuse.New(refuse.CollectionParameter, "The fingerprint is of %s and not of %.130q.", p.Collection, name).With("Pin it under its own name.")
	}
	return p, p.Verify()
}

// keepPin stores verified parameters and opens their places.
func (s *Shuffler) keepPin(p *collect.Params) error {
	var fresh *pin
	if err := s.db.View(func(tx *bolt.Tx) (err error) { fresh, err = s.placePin(tx, p); return err }); err != nil {
		return err
	}
	if err := s.endEarlier(fresh); err != nil {
		return err
	}
	err := s.db.Update(func(tx *bolt.Tx) error {
		if err := putJSON(tx.Bucket(bucketCollections), []byte(p.UUID), collectionRecord{fresh.of.id, p.Collection}); err != nil {
			return err
		}
		return tx.Bucket(bucketPins).Put(fresh.place.key(), p.Canonical())
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collections[fresh.of.id] = fresh.of
	s.pins[p.Fingerprint()] = fresh
	for _, c := range p.Cells {
		t := newSlot(s, fresh.cell(c.Cell), fresh)
		s.slots[t.place] = t
		s.running.Add(1)
		go t.run()
	}
	return nil
}

func (p *pin) cell(cell uint32) place { c := p.place; c.cell = cell; return c }

// placePin finds the place of parameters, and refuses those that would change what is pinned.
func (s *Shuffler) placePin(tx *bolt.Tx, p *collect.Params) (*pin, error) {
	of := &collection{id: 1, name: p.Collection, uuid: p.UUID}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.collections {
		switch {
		case c.uuid == p.UUID && c.name == p.Collection:
			of = c
		case c.uuid == p.UUID || strings.EqualFold(short(c.name), short(p.Collection)):
			return nil, refuse.New(refuse.CollectionState, "Another collection %s (%s) is pinned; this one is %s (%s).", c.name, c.uuid, p.Collection, p.UUID).
				With("Use a shuffler with a data directory of its own for it, or give the collection another name.")
		case of.uuid == p.UUID && of.id <= c.id && s.collections[of.id] != of:
			of.id = c.id + 1
		}
	}
	out := newPin(of, p)
	if before := tx.Bucket(bucketPins).Get(out.place.key()); before != nil && !bytes.Equal(before, p.Canonical()) {
		return nil, refuse.New(refuse.CollectionState, "Other parameters are pinned for round %d%s of %s.", p.Round, ofStratum(p), p.Collection).
			With("What is pinned never changes: whoever offers other parameters may want to read bundles.")
	}
	return out, nil
}

func newPin(of *collection, p *collect.Params) *pin {
	at := place{collection: of.id, round: uint8(p.Round), stratum: uint16(max(0, slices.Index(p.Declaration.Strata, p.Stratum)))}
	return &pin{place: at, of: of, params: p, shape: seal.ShapeOf(p)}
}

// endedBy tells whether a slot's round is over once p is pinned.
func (t *slot) endedBy(p *pin) bool {
	return t.place.collection == p.place.collection && t.place.stratum == p.place.stratum && t.place.round < p.place.round
}

// endEarlier ends the rounds before a pin: the server has published what came of them. Their
// batches must be closed.
func (s *Shuffler) endEarlier(p *pin) error {
	for _, t := range s.selected(Selection{Collection: p.of.name}) {
		if !t.endedBy(p) {
			continue
		}
		if err := t.do(func() (err error) {
			if t.open != nil && t.open.n > 0 {
				return refuse.New(refuse.CollectionState, "Batch %s is still open, and its round is over with this pin.", t.name(t.number)).
					With("Close it with scrim shuffle close before.")
			}
			if !t.ended {
				_, err = t.close(closing{end: true})
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// loadPins reads collections, pins and what is ended.
func (s *Shuffler) loadPins(tx *bolt.Tx) error {
	err := tx.Bucket(bucketCollections).ForEach(func(k, v []byte) error {
		var r collectionRecord
		if err := unmarshal(v, &r); err != nil {
			return err
		}
		s.collections[r.ID] = &collection{r.ID, r.Name, string(k)}
		return nil
	})
	if err != nil {
		return err
	}
	ended := tx.Bucket(bucketEnded)
	return tx.Bucket(bucketPins).ForEach(func(k, v []byte) error {
		p, err := collect.Parse(bytes.Clone(v))
		if err != nil {
			return fmt.Errorf("shuffler: pinned parameters: %w", err)
		}
		of := s.collections[placeOf(k).collection]
		if of == nil {
			return errors.New("shuffler: the store is damaged: a pin of no collection")
		}
		out := newPin(of, p)
		s.pins[p.Fingerprint()] = out
		for _, c := range p.Cells {
			t := newSlot(s, out.cell(c.Cell), out)
			t.ended = has(ended, t.place.key())
			t.over.Store(t.ended)
			s.slots[t.place] = t
		}
		return nil
	})
}

// has tells whether a bucket has a key, also one without a value.
func has(b *bolt.Bucket, key []byte) bool {
	k, _ := b.Cursor().Seek(key)
	return bytes.Equal(k, key)
}

// selected lists the slots that are meant, in the order of their places.
func (s *Shuffler) selected(which Selection) []*slot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []*slot
	for _, t := range s.slots {
		if which.matches(t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *slot) int { return bytes.Compare(a.place.key(), b.place.key()) })
	return out
}

// all lists the collections.
func (s *Shuffler) all() []*collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.collections), func(a, b *collection) int { return cmp.Compare(a.id, b.id) })
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// Describe says in a line what parameters promise, for a person who is to pin them.
func Describe(p *collect.Params) string {
	b, shape := p.Batch, seal.ShapeOf(p)
	messages := fmt.Sprintf("%d messages", shape.Most)
	if shape.Least != shape.Most {
		messages = fmt.Sprintf("%d to %d messages", shape.Least, shape.Most)
	}
	d := p.Declaration
	epsilon, _ := d.Epsilon.MarshalText()
	return fmt.Sprintf("%s round %d of %d%s: %s, epsilon %s, delta %v, %d to %d reports a batch of %s each, trust %s, fingerprint %x",
		p.Collection, p.Round, p.Rounds(), ofStratum(p), p.Protocol, epsilon, d.Delta, b.Min, b.Max, messages, d.Trust, p.Fingerprint())
}
