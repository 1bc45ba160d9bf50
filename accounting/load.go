package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
)

// partSize is how many records one goroutine reads and verifies at a time. The sets of the index
// keep records in containers of as many.
const partSize = 1 << 16

// load derives budgets, spending and the index from the records after a cut, and compares their end
// with the head. Parts of the records, of that size, are read, verified and added up side by side,
// and joined in their order.
func (l *Ledger) load(k key, from cut, end head, size uint64, progress func(done, total int64)) error {
	if err := l.db.View(l.answers.load); err != nil {
		return err
	}
	var err error
	if l.state, err = from.decode(); err != nil {
		return err
	}
	if end.id < from.end.id {
		return fmt.Errorf("the head names record %d, before the %d records that came earlier", end.id, from.end.id)
	}
	l.index, l.end = newIndexAfter(from.end.id), from.end
	l.state.starts = budget.StartsOf(end.day)
	if err := l.parts(k, from.end, end, size, progress); err != nil {
		return err
	}
	l.index.joined()
	if l.end.id != end.id || l.end.hash != end.hash || l.state.lastDay != end.day {
		return fmt.Errorf("the records end at number %d, which is not where the head says", l.end.id)
	}
	l.end.at = end.at
	return nil
}

// identify checks what the file says of itself, and returns its head, what its key must give, and
// what came before its records.
func (l *Ledger) identify(tx *bolt.Tx) (h head, check, base []byte, err error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return h, nil, nil, errors.New("not a ledger")
	}
	if v := string(meta.Get(formatKey)); v != format && v != archivedFormat {
		return h, nil, nil, fmt.Errorf("%w: %s: have %q, want %q. %s", ErrVersion, l.path, v, format, repairVersion)
	}
	if v := meta.Get(directoryKey); string(v) != l.directory {
		return h, nil, nil, fmt.Errorf("%w: %s: have %q, want %q. %s", ErrForeign, l.path, v, l.directory, repairForeign)
	}
	if archive := meta.Get(archiveKey) != nil; archive != l.archive {
		return h, nil, nil, fmt.Errorf("%w: %s: an archive cannot stand in the place of a ledger, nor a ledger in that of an archive. %s", ErrForeign, l.path, repairForeign)
	}
	for _, b := range [][]byte{recordsBucket, answersBucket, orderBucket} {
		if tx.Bucket(b) == nil {
			return h, nil, nil, fmt.Errorf("bucket %s is missing", b)
		}
	}
	if base = bytes.Clone(meta.Get(baseKey)); (base == nil) != (string(meta.Get(formatKey)) == format) {
		return h, nil, nil, errors.New("what it says of its archive does not fit its format")
	}
	if h, err = decodeHead(meta.Get(headKey)); err == nil && h.id > maxRecords {
		err = errors.New("the head names a record that cannot be")
	}
	return h, bytes.Clone(meta.Get(checkKey)), base, err
}

// readKey reads the ledger's key and checks that it is the one that the ledger was made with.
func (l *Ledger) readKey(check []byte) (key, error) {
	k, err := readKey(l.path + KeySuffix)
	if v := k.derive("check"); err == nil && !bytes.Equal(check, v[:]) {
		err = fmt.Errorf("%w: %s is not the one that the ledger was made with. %s", ErrKey, l.path+KeySuffix, repairKey)
	}
	return k, err
}

// parts loads the records after from to the end, size of them at a time, a multiple of blockSize.
func (l *Ledger) parts(k key, from mark, end head, size uint64, progress func(done, total int64)) error {
	bounds := partsBetween(from.id, end.id, size)
	results := make([]chan *part, len(bounds))
	for i := range results {
		results[i] = make(chan *part, 1)
	}
	memory := sync.Pool{New: func() any { return &scratch{outcomes: make([]uint8, size)} }}
	var stop atomic.Bool
	var g, outer errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	outer.Go(func() error {
		for i, c := range results {
			g.Go(func() error {
				s := memory.Get().(*scratch)
				defer memory.Put(s)
				p := newPart(bounds[i].first, bounds[i].last, end.day, s)
				p.final = i == len(results)-1
				if i == 0 {
					p.start = &from.hash
				}
				if !stop.Load() {
					p.err = guard(func() error { return l.db.View(func(tx *bolt.Tx) error { return p.read(tx, k, &stop) }) })
				}
				c <- p
				return nil
			})
		}
		return g.Wait()
	})
	err := l.join(results, func(done uint64) {
		if progress != nil {
			progress(int64(done), int64(end.id))
		}
	})
	stop.Store(true)
	_ = outer.Wait()
	return err
}

// stretch is some records that follow each other.
type stretch struct{ first, last uint64 }

// partsBetween divides the records after one, up to another, at the multiples of size. There is at
// least one part, which may be empty.
func partsBetween(after, last, size uint64) []stretch {
	list := []stretch{}
	for first := after + 1; first <= last; {
		end := min(first/size*size+size-1, last)
		list = append(list, stretch{first, end})
		first = end + 1
	}
	if len(list) == 0 {
		list = append(list, stretch{after + 1, after})
	}
	return list
}

// join takes in the parts in their order.
func (l *Ledger) join(results []chan *part, done func(uint64)) error {
	for _, c := range results {
		p := <-c
		if p.err != nil {
			return p.err
		}
		if p.before != nil && *p.before != l.end.hash {
			return fmt.Errorf("record %d: its hash does not match", p.first)
		}
		if err := p.join(l.state); err != nil {
			return err
		}
		l.index.join(&p.index)
		l.end.id, l.end.hash = p.last, p.hash
		done(p.last)
	}
	return nil
}

// head is what the file says of its end: the last record, and the day.
type head struct {
	mark
	day budget.Date
}

func (h head) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, h.id)
	b = append(b, h.hash[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(h.day))
	return binary.BigEndian.AppendUint64(b, uint64(h.at.UnixNano()))
}

func decodeHead(b []byte) (head, error) {
	d := codec.NewDecoder(b)
	h := head{mark: mark{id: d.Uint64()}}
	copy(h.hash[:], d.Take(uint64(len(sum{}))))
	h.day, h.at = budget.Date(d.Uint32()), time.Unix(0, int64(d.Uint64())).UTC()
	if d.Bad || d.Left() {
		return head{}, errors.New("the head does not decode")
	}
	return h, nil
}
