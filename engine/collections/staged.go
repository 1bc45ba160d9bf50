package collections

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// staged are the parts of a batch that have come, without their messages, by number.
type staged struct {
	reports uint64
	parts   int
	have    map[int]stagedPart
}

type stagedPart struct {
	digest []byte
	total  []byte // bagSum
	sealed uint64
}

// of is the condition for the rows of a batch. The stratum is the first argument.
func (k batchKey) of() string {
	return fmt.Sprintf(" WHERE round = %d AND stratum = $1 AND cell = %d AND batch = %d", k.round, k.cell, k.batch)
}

// staged reads what has come of a batch.
func (t tx) staged(col *collection, k batchKey) (staged, error) {
	out := staged{have: map[int]stagedPart{}}
	rows, err := t.s.Query(t.ctx, "SELECT reports, part, parts, digest, total, sealed FROM "+quoted(t.table(tableBag, col.record))+k.of(), k.stratum)
	if err != nil {
		return out, err
	}
	return out, store.Each(rows, func(r []any) error {
		out.reports, out.parts = uint64(r[0].(int64)), int(r[2].(int64))
		out.have[int(r[1].(int64))] = stagedPart{r[3].([]byte), r[4].([]byte), uint64(r[5].(int64))}
		return nil
	})
}

// repeats tells whether a part has come before; another one under the same number, or one that
// announces another batch, is refused.
func (s staged) repeats(col *collection, part Part) (again bool, err error) {
	before, again := s.have[part.Part]
	digest := sha256.Sum256(part.Sealed)
	if len(s.have) > 0 && (s.reports != part.Reports || s.parts != part.Parts) || again && !slices.Equal(before.digest, digest[:]) {
		return false, refuse.New(refuse.BatchReplay, "Part %d of batch %d of cell %d in round %d of %s is not of the batch that was announced.",
			part.Part, part.Batch, part.Cell, part.Round, col.Name)
	}
	return again, nil
}

// store keeps an opened part, and with the last one the batch.
func (c *Collections) store(ctx context.Context, name string, job batchJob, part openedPart) (done bool, err error) {
	var col *collection
	var loaded *batchRecord
	err = c.write(ctx, func(tx tx) (err error) {
		loaded = nil
		if col, err = c.find(name); err != nil {
			return err
		}
		// Others may have been here while the part was opened.
		if b, ok := col.batch(part.key()); ok {
			done = true
			return b.repeats(col, part.Part)
		}
		if _, err := col.loadable(part.Part); err != nil {
			return err
		}
		s, err := tx.staged(col, part.key())
		if err != nil {
			return err
		}
		if again, err := s.repeats(col, part.Part); err != nil || again {
			return err
		}
		if err := tx.stage(col, part); err != nil {
			return err
		}
		s.have[part.Part.Part] = stagedPart{part.digest[:], part.sum.bytes(), uint64(part.sealed)}
		if len(s.have) < part.Parts {
			return nil
		}
		loaded, err = tx.complete(c, col, job.params, part.Part, s)
		return err
	}, func() {
		if loaded != nil {
			col.Step++
			col.LastBatch = loaded.ID
			col.batches = append(col.batches, *loaded)
			col.countBatch(*loaded)
		}
	})
	if err != nil || loaded == nil {
		return done && err == nil, err
	}
	if loaded.Bad != "" {
		return true, refuse.New(refuse.BatchWindow, "%s", loaded.Bad)
	}
	return true, nil
}

// stage keeps a part until the others are there.
func (t tx) stage(col *collection, p openedPart) error {
	return t.fill(t.table(tableBag, col.record), [][]any{{
		int64(p.Round), p.Stratum, int64(p.Cell), int64(p.Batch), int64(p.Reports), int64(p.Part.Part), int64(p.Parts),
		p.digest[:], p.sum.bytes(), int64(p.sealed), p.messages,
	}})
}

// complete makes a batch of its parts.
func (t tx) complete(c *Collections, col *collection, p *collect.Params, part Part, s staged) (*batchRecord, error) {
	b := &batchRecord{
		ID: col.LastBatch + 1, Round: part.Round, Stratum: part.Stratum, Cell: part.Cell, Batch: part.Batch, Reports: part.Reports,
		Day: c.day().Format("2006-01-02"),
	}
	var sum bagSum
	sealed := uint64(0)
	for i := 1; i <= part.Parts; i++ {
		b.Parts = append(b.Parts, hex.EncodeToString(s.have[i].digest))
		sum.plus(s.have[i].total)
		sealed += s.have[i].sealed
	}
	hash := sum.hash(sealed)
	b.Bag = hex.EncodeToString(hash[:])
	for _, other := range col.batches {
		if other.Bag == b.Bag {
			return nil, refuse.New(refuse.BatchReplay, "This bag has been loaded as batch %d of cell %d in round %d of %s.", other.Batch, other.Cell, other.Round, col.Name)
		}
	}
	messages, err := t.messages(col, part.key())
	if err != nil {
		return nil, err
	}
	b.Messages, b.Broken = uint64(len(messages)), sealed-uint64(len(messages))
	if err := checkBatch(p, part, messages); err != nil {
		r, ok := refuse.As(err)
		if !ok {
			return nil, err
		}
		b.Bad, b.Messages, messages = r.Cause, 0, nil
	}
	return b, errors.Join(t.keep(col, b, messages), t.finish(col, b))
}

// messages returns the messages of a batch's parts, sorted.
func (t tx) messages(col *collection, k batchKey) ([]collect.Message, error) {
	rows, err := t.s.Query(t.ctx, "SELECT messages FROM "+quoted(t.table(tableBag, col.record))+k.of(), k.stratum)
	if err != nil {
		return nil, err
	}
	var out []collect.Message
	err = store.Each(rows, func(r []any) error {
		for b := r[0].([]byte); len(b) >= seal.PlainSize; b = b[seal.PlainSize:] {
			out = append(out, collect.Message(b[:seal.PlainSize]))
		}
		return nil
	})
	slices.SortFunc(out, func(a, b collect.Message) int { return slices.Compare(a[:], b[:]) })
	return out, err
}

// fillRows is how many rows are filled in at a time.
const fillRows = 1 << 16

// keep writes a batch's messages.
func (t tx) keep(col *collection, b *batchRecord, messages []collect.Message) error {
	rows := make([][]any, 0, min(fillRows, len(messages)))
	for len(messages) > 0 {
		rows = rows[:0]
		n := min(fillRows, len(messages))
		for i := range n {
			rows = append(rows, []any{b.ID, int8(b.Round), b.Stratum, messages[i][:]})
		}
		if err := t.fill(col.ref(), rows); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

// finish writes a batch's entry, deletes its parts, and deletes the opening key if it was the last
// one of a closed round.
func (t tx) finish(col *collection, b *batchRecord) error {
	if err := t.put(bucketBatch, entry(col.UUID, b.ID), b); err != nil {
		return err
	}
	if _, err := t.s.Write(t.ctx, nil, "DELETE FROM "+quoted(t.table(tableBag, col.record))+b.key().of(), b.Stratum); err != nil {
		return err
	}
	r := col.record
	r.Step++
	r.LastBatch = b.ID
	if err := t.save(r); err != nil {
		return err
	}
	if col.State == Between && b.Bad == "" && col.loaded(b.Round, b.Stratum, b.Cell) {
		return t.delete(bucketKey, entry(col.UUID, b.Round, b.Stratum))
	}
	return nil
}
