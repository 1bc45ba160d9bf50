package shuffler

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Status is what the operator sees of a batch.
type Status struct {
	Collection  string `json:"collection"`
	Round       int    `json:"round"`
	Stratum     string `json:"stratum,omitempty"`
	Cell        uint32 `json:"cell"`
	Batch       uint32 `json:"batch"`
	State       State  `json:"state"`
	Reports     uint64 `json:"reports"`
	Tokens      uint64 `json:"tokens"` // issued for the place
	Min         uint64 `json:"n_min"`
	Max         uint64 `json:"n_max"`
	Sent        int    `json:"parts_sent"`
	Parts       int    `json:"parts"`
	Ended       bool   `json:"ended"` // no further bundles are taken at the place
	Note        string `json:"note,omitempty"`
	Fingerprint string `json:"fingerprint"`
}

func (t *slot) status(number uint32, r Record, tokens uint64) Status {
	p := t.pin.params
	s := Status{
		Collection: p.Collection, Round: p.Round, Stratum: p.Stratum, Cell: t.place.cell, Batch: number, State: r.State, Reports: r.Reports,
		Tokens: tokens, Min: p.Batch.Min, Max: p.Batch.Max, Ended: t.over.Load(), Note: r.Note, Fingerprint: hex.EncodeToString(t.pin.shape.Fingerprint[:]),
	}
	if r.Part > 0 {
		s.Parts = r.parts()
	}
	if r.State == Acknowledged {
		s.Sent = s.Parts
	}
	return s
}

// Status lists all batches: of every place those that were closed, and the open one unless the
// place has ended.
func (s *Shuffler) Status() ([]Status, error) {
	var out []Status
	s.mu.RLock()
	defer s.mu.RUnlock()
	err := s.db.View(func(tx *bolt.Tx) error {
		issued := tx.Bucket(bucketIssued)
		last := map[place]uint32{}
		err := tx.Bucket(bucketBatches).ForEach(func(k, v []byte) error {
			t, number := s.slots[placeOf(k)], numberAt(k)
			var r Record
			if err := unmarshal(v, &r); err != nil || t == nil {
				return err
			}
			last[t.place] = max(last[t.place], number)
			row := t.status(number, r, uint64At(issued.Get(t.place.key())))
			if n, ok := s.sent[t.place.file(number)]; ok {
				row.Sent = n
			}
			if !r.State.over() {
				row.Note = s.trouble[t.place.file(number)]
			}
			out = append(out, row)
			return nil
		})
		for p, t := range s.slots {
			if n := t.reports.Load(); n > 0 || !t.over.Load() || last[p] == 0 {
				out = append(out, t.status(last[p]+1, Record{State: Open, Reports: n}, uint64At(issued.Get(p.key()))))
			}
		}
		return err
	})
	slices.SortStableFunc(out, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Round, b.Round), cmp.Compare(a.Stratum, b.Stratum),
			cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Batch, b.Batch))
	})
	return out, err
}

// pinned lists the pins in the order of their places.
func (s *Shuffler) pinned() []*pin {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.pins), func(a, b *pin) int { return bytes.Compare(a.place.key(), b.place.key()) })
}
