package shuffler

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
)

// Waits between attempts to reach the server.
const (
	firstWait = time.Second
	lastWait  = 2 * time.Minute
)

// wake tells the releaser that there is a batch.
func (s *Shuffler) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// releaser releases closed batches, one after another, until the server has them all.
func (s *Shuffler) releaser() {
	defer s.running.Done()
	wait := firstWait
	for {
		failed := s.releaseAll()
		timer := time.NewTimer(wait)
		switch {
		case failed:
			wait = min(2*wait, lastWait)
		default:
			timer.Stop()
			wait = firstWait
		}
		select {
		case <-s.quit:
			timer.Stop()
			return
		case <-s.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// waiting is a batch that the server does not have yet.
type waiting struct {
	slot   *slot
	number uint32
	record Record
}

// releaseAll tries every batch that waits once.
func (s *Shuffler) releaseAll() (failed bool) {
	list, err := s.waiting()
	for _, w := range list {
		if s.ctx.Err() != nil {
			return true
		}
		e := s.release(s.ctx, w)
		s.note(w.slot.place.file(w.number), e)
		if e != nil {
			err = e
			s.log.Warn().Str("batch", w.slot.name(w.number)).Err(e).Msg("batch not released yet; the same bag will be sent again")
		}
	}
	if err != nil && len(list) == 0 {
		s.log.Error().Err(err).Msg("batches could not be listed")
	}
	return err != nil
}

func (s *Shuffler) waiting() (list []waiting, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	err = s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketBatches).ForEach(func(k, v []byte) error {
			w := waiting{slot: s.slots[placeOf(k)], number: numberAt(k)}
			if err := unmarshal(v, &w.record); err != nil {
				return err
			}
			if !w.record.State.over() && w.slot != nil {
				list = append(list, w)
			}
			return nil
		})
	})
	slices.SortStableFunc(list, func(a, b waiting) int {
		return cmp.Or(bytes.Compare(a.slot.place.key(), b.slot.place.key()), cmp.Compare(a.number, b.number))
	})
	return list, err
}

// release sends a batch's bag, always in the same parts, and erases it when the server has it.
func (s *Shuffler) release(ctx context.Context, w waiting) error {
	path := s.dir + string(os.PathSeparator) + batchesDir + string(os.PathSeparator) + w.slot.place.file(w.number) + suffixBag
	if err := checkBag(path, w.record); err != nil {
		return err
	}
	if w.record.State == Closed {
		if err := s.db.Update(func(tx *bolt.Tx) error {
			if now, err := recordAt(tx, w.slot.place, w.number); err != nil || now.State.over() {
				return cmp.Or(err, errors.New("shuffler: the batch was given up"))
			}
			w.record.State = Releasing
			return putJSON(tx.Bucket(bucketBatches), batchKey(w.slot.place, w.number), w.record)
		}); err != nil {
			return err
		}
	}
	s.at("releasing")
	done, err := s.sendParts(ctx, w, path)
	switch refused := rejected(err); {
	case refused.forever():
		s.log.Error().Str("batch", w.slot.name(w.number)).Str("sqlstate", refused.State).Msg("the server refuses the batch for good; it is erased")
		return w.slot.finish(w.number, Refused, refused.State+": "+refused.Text)
	case err != nil:
		return err
	case !done:
		return errors.New("shuffler: the server has taken all parts and waits for others")
	}
	s.log.Info().Str("batch", w.slot.name(w.number)).Uint64("reports", w.record.Reports).Msg("batch released; its bundles are erased")
	return w.slot.finish(w.number, Acknowledged, "")
}

func (s *Shuffler) sendParts(ctx context.Context, w waiting, path string) (done bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	name := w.slot.place.file(w.number)
	defer s.progress(name, -1)
	part := w.slot.part(w.number, w.record)
	buffer := make([]byte, w.record.Part*seal.SealedSize)
	for part.Part = 1; part.Part <= part.Parts; part.Part++ {
		n, err := io.ReadFull(f, buffer)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, err
		}
		part.Sealed = buffer[:n]
		if done, err = s.upstream.Load(ctx, part); err != nil {
			return false, err
		}
		s.progress(name, part.Part)
		s.at("part")
	}
	return done, nil
}

// part describes a batch without its messages.
func (t *slot) part(number uint32, r Record) Part {
	p := Part{Collection: t.pin.of.name, Round: t.pin.params.Round, Stratum: t.pin.params.Stratum, Cell: t.place.cell, Batch: number, Reports: r.Reports}
	if r.Part > 0 {
		p.Parts = r.parts()
	}
	return p
}

// note keeps why a bag was not released, for the operator.
func (s *Shuffler) note(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.trouble, name); err != nil {
		s.trouble[name] = err.Error()
	}
}

// progress notes how many parts of a bag the server has; -1 forgets it.
func (s *Shuffler) progress(name string, parts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parts < 0 {
		delete(s.sent, name)
		return
	}
	s.sent[name] = parts
}

// memoryOfPermutation is how many bytes of messages are permuted in memory at once.
const memoryOfPermutation = 256 << 20

// permute puts the messages of a bag into a uniformly random order.
func permute(random *exact.Rand, bag []byte) {
	const size = seal.SealedSize
	var kept [size]byte
	random.Permute(len(bag)/size, func(i, j int) {
		a, b := bag[i*size:][:size], bag[j*size:][:size]
		copy(kept[:], a)
		copy(a, b)
		copy(b, kept[:])
	})
}

// scatter permutes more messages than memory holds. Each goes to one of several piles, drawn
// uniformly for it alone; then every pile is permuted in memory, and they are laid one after
// another. The sequence of piles with their contents is exchangeable under any permutation of the
// messages, so that all orders are equally likely, whatever the sizes of the piles come out as (Rao
// and Sandelius).
type scatter struct {
	random *exact.Rand
	piles  []pile
}

// pile is one of them: in memory if it is the only one, else in a file without a name.
type pile struct {
	memory []byte
	file   *os.File
	buffer *bufio.Writer
}

// newScatter makes piles for a bag of about so many bytes. dir is where their files are.
func newScatter(random *exact.Rand, dir string, bytes, memory int64) (*scatter, error) {
	s := &scatter{random: random, piles: make([]pile, 1)}
	if bytes <= memory {
		s.piles[0].memory = make([]byte, 0, bytes)
		return s, nil
	}
	s.piles = make([]pile, 2*(bytes/memory+1))
	for i := range s.piles {
		f, err := os.CreateTemp(dir, "pile-*.tmp")
		if err != nil {
			s.close()
			return nil, err
		}
		_ = os.Remove(f.Name()) // it lives until it is closed
		s.piles[i] = pile{file: f, buffer: bufio.NewWriterSize(f, 64<<10)}
	}
	return s, nil
}

// add takes whole messages.
func (s *scatter) add(sealed []byte) error {
	for ; len(sealed) >= seal.SealedSize; sealed = sealed[seal.SealedSize:] {
		p := &s.piles[0]
		if len(s.piles) > 1 {
			p = &s.piles[s.random.Uniform(uint64(len(s.piles)))]
		}
		if p.file == nil {
			p.memory = append(p.memory, sealed[:seal.SealedSize]...)
		} else if _, err := p.buffer.Write(sealed[:seal.SealedSize]); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes all messages in random order.
func (s *scatter) writeTo(w io.Writer) error {
	for i := range s.piles {
		b, err := s.piles[i].read()
		if err != nil {
			return err
		}
		permute(s.random, b)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *pile) read() ([]byte, error) {
	if p.file == nil {
		return p.memory, nil
	}
	if err := p.buffer.Flush(); err != nil {
		return nil, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(p.file)
}

func (s *scatter) close() error {
	var all error
	for _, p := range s.piles {
		if p.file != nil {
			all = errors.Join(all, p.file.Close())
		}
	}
	return all
}
