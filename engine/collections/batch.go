package collections

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Part is a part of a batch that a shuffler releases: of the Parts in which the bag comes, the one
// numbered Part from 1. Parts may come in any order, and again. A part holds whole sealed messages.
type Part struct {
	Round       int
	Stratum     string
	Cell        uint32
	Batch       int    // number of the batch among those of its round, stratum and cell, from 1
	Reports     uint64 // N, the reporters of the whole batch
	Part, Parts int
	Sealed      []byte
}

func (p Part) key() batchKey { return batchKey{p.Round, p.Stratum, p.Cell, p.Batch} }

// maxParts bounds the parts of a bag.
const maxParts = 100_000

// LoadBatch takes a part of a batch. It opens the part's messages before it returns, on all cores,
// some 50 µs of one core each; done tells that all parts are there and the batch is stored. The
// messages are sorted then, so that nothing is left of the order in which they came.
//
// A part that has come before changes nothing and is no error, also after a crash, and after the
// batch was stored. Refusals: CollectionState if the round is not the present one, or no batch is
// to come any more; TooFewReports and MalformedReport for a number of reports or messages that no
// shuffler releases; BatchReplay for other bytes under a number that has been used, or for the same
// bag under another; BatchWindow where the bag's messages cannot be those of its reports. Of the
// last two the latter is remembered: such a batch is worth nothing, and its number is used.
func (c *Collections) LoadBatch(ctx context.Context, name string, part Part) (done bool, err error) {
	job, err := c.batchJob(ctx, name, &part)
	if err != nil || job.again {
		return err == nil && job.stored, err
	}
	messages, _, err := seal.NewOpener(job.key, job.params.Fingerprint()).OpenAll(ctx, part.Sealed, nil)
	if err != nil {
		return false, err
	}
	opened := openedPart{Part: part, digest: sha256.Sum256(part.Sealed), sealed: len(part.Sealed) / seal.SealedSize}
	opened.sum.add(part.Sealed)
	opened.messages = sift(job.params, part.Cell, messages)
	return c.store(ctx, name, job, opened)
}

// openedPart is a part with its messages open.
type openedPart struct {
	Part
	digest   [32]byte
	sum      bagSum
	sealed   int
	messages []byte
}

// batchJob is what the opening of a part needs, or that the part was here before.
type batchJob struct {
	params *collect.Params
	key    *seal.PrivateKey
	again  bool
	stored bool
}

// batchJob checks a part against what is known, and fetches the opening key.
func (c *Collections) batchJob(ctx context.Context, name string, part *Part) (batchJob, error) {
	var job batchJob
	err := c.write(ctx, func(tx tx) error {
		col, err := c.find(name)
		if err != nil {
			return err
		}
		job, err = tx.batchJob(col, part)
		return err
	}, nil)
	return job, err
}

func (t tx) batchJob(col *collection, part *Part) (job batchJob, err error) {
	if s, ok := col.stratum(part.Stratum); ok {
		part.Stratum = col.strata()[s] // as it was declared
	}
	if b, ok := col.batch(part.key()); ok {
		return batchJob{again: true, stored: true}, b.repeats(col, *part)
	}
	if job.params, err = col.loadable(*part); err != nil {
		return job, err
	}
	staged, err := t.staged(col, part.key())
	if err != nil {
		return job, err
	}
	if job.again, err = staged.repeats(col, *part); err != nil || job.again {
		return job, err
	}
	b, ok, err := t.s.Meta().Get(t.ctx, bucketKey, entry(col.UUID, part.Round, part.Stratum))
	if err != nil {
		return job, err
	}
	if !ok {
		return job, refuse.New(refuse.CollectionState, "The key that opens messages of round %d of %s was deleted: the round is over.", part.Round, col.Name).
			With("For other people create a new collection with retry_of.")
	}
	job.key, err = seal.ParsePrivate(b)
	return job, err
}

func (c *collection) batch(k batchKey) (batchRecord, bool) {
	return lists.Find(c.batches, func(b batchRecord) bool { return b.key() == k })
}

// repeats compares a part with a batch that is there.
func (b batchRecord) repeats(col *collection, part Part) error {
	digest := sha256.Sum256(part.Sealed)
	if part.Reports != b.Reports || part.Parts != len(b.Parts) || part.Part < 1 || part.Part > part.Parts || b.Parts[part.Part-1] != hex.EncodeToString(digest[:]) {
		return refuse.New(refuse.BatchReplay, "Batch %d of cell %d in round %d of %s has been loaded, and was another one.", b.Batch, b.Cell, b.Round, col.Name)
	}
	if b.Bad != "" {
		return refuse.New(refuse.BatchWindow, "%s", b.Bad)
	}
	return nil
}

// loadable returns the parameters of a part's round, if a batch of it can be loaded now.
func (c *collection) loadable(part Part) (*collect.Params, error) {
	_, ok := c.stratum(part.Stratum)
	switch {
	case c.model() != collect.Shuffle:
		return nil, refuse.New(refuse.CollectionState, "The collection %s is of the local model and has no batches.", c.Name).
			With("Contributors INSERT their reports into dp_in.%s.", c.Name)
	case !ok:
		return nil, refuse.New(refuse.CollectionParameter, "The collection %s has no stratum %.80q.", c.Name, part.Stratum)
	case !c.takes() || part.Round != c.Round:
		return nil, refuse.New(refuse.CollectionState, "The collection %s is %s; a batch of round %d cannot be loaded.", c.Name, c.where(), part.Round)
	}
	p := c.rounds[roundKey{part.Round, part.Stratum}].params
	return p, part.check(c.Name, p)
}

// check refuses what no shuffler releases.
func (part Part) check(name string, p *collect.Params) error {
	_, ok := p.Cell(part.Cell)
	bad := func(format string, args ...any) error {
		return refuse.New(refuse.MalformedReport, format, args...).With("Have the shuffler release its batch as it is.")
	}
	most := part.Reports * p.Messages()
	switch {
	case !ok:
		return refuse.New(refuse.CollectionParameter, "Round %d of %s has no cell %d.", p.Round, name, part.Cell)
	case part.Batch < 1 || part.Batch > 1<<20:
		return refuse.New(refuse.CollectionParameter, "Batches are numbered from 1, and this one is number %d.", part.Batch)
	case part.Reports < p.Batch.Min:
		return refuse.New(refuse.TooFewReports, "The batch has %d reports and needs %d.", part.Reports, p.Batch.Min).
			With("Have the shuffler destroy it: a batch that small must not be released.")
	case part.Reports > p.Batch.Max:
		return bad("The batch has %d reports; one of %s has at most %d.", part.Reports, name, p.Batch.Max)
	case part.Parts < 1 || part.Parts > maxParts || part.Part < 1 || part.Part > part.Parts:
		return bad("The part is number %d of %d.", part.Part, part.Parts)
	case len(part.Sealed) == 0 || len(part.Sealed)%seal.SealedSize != 0:
		return bad("A part of %d bytes holds no whole number of messages, which have %d each.", len(part.Sealed), seal.SealedSize)
	case uint64(len(part.Sealed)/seal.SealedSize) > most:
		return bad("The part has more messages than %d reports can have.", part.Reports)
	}
	return nil
}

// bagSum is a sum of SHA-256 of sealed messages modulo 2^256: it depends neither on their order nor
// on how a bag is cut into parts. Whoever finds two bags of one sum has found out how to have a
// batch of their own refused.
type bagSum [4]uint64

// add adds every message of a bag, or of a part of it.
func (s *bagSum) add(sealed []byte) {
	for ; len(sealed) >= seal.SealedSize; sealed = sealed[seal.SealedSize:] {
		h := sha256.Sum256(sealed[:seal.SealedSize])
		s.plus(h[:])
	}
}

// plus adds 32 bytes.
func (s *bagSum) plus(b []byte) {
	carry := uint64(0)
	for i := range s {
		s[i], carry = bits.Add64(s[i], binary.LittleEndian.Uint64(b[8*i:]), carry)
	}
}

func (s *bagSum) bytes() []byte {
	var b []byte
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// hash finishes the sum with the number of messages.
func (s *bagSum) hash(messages uint64) [32]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(s.bytes(), messages))
}

// sift keeps the messages of a batch's cell that a device could have made. The slice is used again.
func sift(p *collect.Params, cell uint32, messages []byte) []byte {
	kept := messages[:0]
	for ; len(messages) >= seal.PlainSize; messages = messages[seal.PlainSize:] {
		if m := collect.Message(messages[:seal.PlainSize]); p.CheckMessageOf(cell, m) == nil {
			kept = append(kept, m[:]...)
		}
	}
	return kept
}
