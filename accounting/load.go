package accounting

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/part"
	"scrim/internal/lists"
)

// partSize is how many records one goroutine reads and verifies at a time. The sets of the index
// keep records in containers of as many.
const partSize = 1 << 16

// load derives budgets, spending and the index from the records after a cut, and compares their end
// with the head. Parts of the records, of that size, are read, verified and added up side by side,
// and joined in their order.
func (l *Ledger) load(k chain.Key, from cut, end chain.Head, size uint64, progress func(done, total int64)) error {
	if err := l.db.View(l.answers.load); err != nil {
		return err
	}
	var err error
	if l.state, err = from.decode(); err != nil {
		return err
	}
	if end.ID < from.end.ID {
		return fmt.Errorf("the head names record %d, before the %d records that came earlier", end.ID, from.end.ID)
	}
	l.index, l.end = index.New(from.end.ID), from.end
	l.state.Starts = budget.StartsOf(end.Day)
	if err := l.parts(k, from.end, end, size, progress); err != nil {
		return err
	}
	l.index.Joined()
	if l.end.ID != end.ID || l.end.Hash != end.Hash || l.state.LastDay != end.Day {
		return fmt.Errorf("the records end at number %d, which is not where the head says", l.end.ID)
	}
	l.end.At = end.At
	return nil
}

// identify checks what the file says of itself, and returns its head, what its key must give, and
// what came before its records.
func (l *Ledger) identify(tx *bolt.Tx) (h chain.Head, check, base []byte, err error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return h, nil, nil, errors.New("not a ledger")
	}
	format := string(meta.Get(formatKey))
	if v := format; v != chain.Format && v != chain.ArchivedFormat && v != chain.RenewedFormat {
		return h, nil, nil, fmt.Errorf("%w: %s: have %q, want %q. %s", ErrVersion, l.path, v, chain.Format, versionRepair(v))
	}
	if v := meta.Get(directoryKey); string(v) != l.directory {
		return h, nil, nil, fmt.Errorf("%w: %s: have %q, want %q. %s", ErrForeign, l.path, v, l.directory, repairForeign)
	}
	if archive := meta.Get(archiveKey) != nil; archive != l.archive {
		return h, nil, nil, fmt.Errorf("%w: %s: an archive cannot stand in the place of a ledger, nor a ledger in that of an archive. %s", ErrForeign, l.path, repairForeign)
	}
	if b, ok := lists.Find([][]byte{chain.Records, answersBucket, orderBucket}, func(b []byte) bool { return tx.Bucket(b) == nil }); ok {
		return h, nil, nil, fmt.Errorf("bucket %s is missing", b)
	}
	if base = bytes.Clone(meta.Get(baseKey)); format != chain.RenewedFormat && (base == nil) != (format == chain.Format) {
		return h, nil, nil, errors.New("what it says of its archive does not fit its format")
	}
	if h, err = chain.DecodeHead(meta.Get(headKey)); err == nil && h.ID > index.MaxRecords {
		err = errors.New("the head names a record that cannot be")
	}
	return h, bytes.Clone(meta.Get(checkKey)), base, err
}

// readKey reads the ledger's key and checks that it is the one that the ledger was made with.
func (l *Ledger) readKey(check []byte) (chain.Key, error) {
	k, err := readKey(l.path + KeySuffix)
	if v := k.Derive("check"); err == nil && !bytes.Equal(check, v[:]) {
		err = fmt.Errorf("%w: %s is not the one that the ledger was made with. %s", ErrKey, l.path+KeySuffix, repairKey)
	}
	return k, err
}

// parts loads the records after from to the end, size of them at a time, a multiple of blockSize.
func (l *Ledger) parts(k chain.Key, from chain.Mark, end chain.Head, size uint64, progress func(done, total int64)) error {
	bounds := partsBetween(from.ID, end.ID, size)
	results := lists.Make(len(bounds), func(int) chan *part.Part { return make(chan *part.Part, 1) })
	memory := sync.Pool{New: func() any { return &index.Scratch{Outcomes: make([]uint8, size)} }}
	var stop atomic.Bool
	var g, outer errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	outer.Go(func() error {
		for i, c := range results {
			g.Go(func() error {
				s := memory.Get().(*index.Scratch)
				defer memory.Put(s)
				p := part.New(bounds[i].first, bounds[i].last, end.Day, s)
				p.Final = i == len(results)-1
				if i == 0 {
					p.Start = &from.Hash
				}
				if !stop.Load() {
					p.Err = boltfile.Guard(func() error { return l.db.View(func(tx *bolt.Tx) error { return p.Read(tx, k, &stop) }) })
				}
				c <- p
				return nil
			})
		}
		return g.Wait()
	})
	err := l.join(results, func(done uint64) {
		if progress != nil {
			progress(int64(done), int64(end.ID))
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
func (l *Ledger) join(results []chan *part.Part, done func(uint64)) error {
	for _, c := range results {
		p := <-c
		if p.Err != nil {
			return p.Err
		}
		if p.Before != nil && *p.Before != l.end.Hash {
			return fmt.Errorf("record %d: its hash does not match", p.First)
		}
		if err := p.Join(l.state); err != nil {
			return err
		}
		l.index.Join(&p.Index)
		l.end.ID, l.end.Hash = p.Last, p.Hash
		done(p.Last)
	}
	return nil
}
