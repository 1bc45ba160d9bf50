package accounting

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/internal/durable"
)

// Compact writes the file of a ledger that nobody has open anew, without free pages: all records,
// stored answers and the rest stay as they are. The new file is verified before it takes the place
// of the old one, in one step. It returns the sizes before and after, and tells progress, which may
// be nil, how many records are copied. The key and the mark stay.
func Compact(ctx context.Context, path string, o Options, progress func(done, total int64)) (before, after int64, err error) {
	o.Create, o.Accept, o.ReadOnly = false, nil, true
	if err := o.complete(); err != nil {
		return 0, 0, err
	}
	l, err := Open(path, o)
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	name := path + ".compact"
	defer os.Remove(name)
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if before, after, err = l.rewrite(ctx, name, progress); err != nil {
		return 0, 0, fmt.Errorf("accounting: compacting %s: %w", path, err)
	}
	if err := l.same(name, o); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(name, path); err != nil {
		return 0, 0, fmt.Errorf("accounting: compacting %s: %w", path, err)
	}
	return before, after, durable.SyncDir(filepath.Dir(path))
}

// rewrite copies the ledger into a new file.
func (l *Ledger) rewrite(ctx context.Context, name string, progress func(done, total int64)) (before, after int64, err error) {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return 0, 0, err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return 0, 0, err
	}
	db.AllocSize = growth
	err = boltfile.Guard(func() error {
		return l.db.View(func(from *bolt.Tx) error {
			for _, b := range [][]byte{metaBucket, chain.Records, answersBucket, orderBucket} {
				if err := copyBucket(ctx, db, from.Bucket(b), b, func(n int64) { progress(n, int64(l.end.ID)) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil {
		err = db.Sync()
	}
	if e := db.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, 0, err
	}
	return sizes(l.path, name)
}

// copyBucket copies one bucket, in transactions of a few thousand values.
func copyBucket(ctx context.Context, db *bolt.DB, from *bolt.Bucket, name []byte, progress func(int64)) error {
	const together = 20_000
	c := from.Cursor()
	var done int64
	for k, v := c.First(); ; {
		err := db.Update(func(tx *bolt.Tx) error {
			to, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			to.FillPercent = 1 // keys come in order
			for i := 0; i < together && k != nil; i++ {
				if err := to.Put(k, v); err != nil {
					return err
				}
				done++
				k, v = c.Next()
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if string(name) == string(chain.Records) {
			progress(done)
		}
		if k == nil {
			return nil
		}
	}
}

// same checks that a file is a sound ledger that ends where this one does, and comes to the same.
func (l *Ledger) same(name string, o Options) error {
	db, err := openFile(name, o)
	if err != nil {
		return err
	}
	defer func() { _ = boltfile.Guard(db.Close) }()
	m := newLedger(l.path, db, o) // with this one's key
	err = m.verify(o)
	if err == nil && (m.end.ID != l.end.ID || m.end.Hash != l.end.Hash || !bytes.Equal(m.state.Encode(nil), l.state.Encode(nil))) {
		err = fmt.Errorf("%s is not a copy of %s", name, l.path)
	}
	return err
}

func sizes(a, b string) (int64, int64, error) {
	x, err := os.Stat(a)
	if err != nil {
		return 0, 0, err
	}
	y, err := os.Stat(b)
	if err != nil {
		return 0, 0, err
	}
	return x.Size(), y.Size(), nil
}

// segmentsFormat begins the file. Then come the segments of the parts, in their order:
//
//	hash before u8[32], hash of the last record u8[32], length u32, keyed hash u8[32], segment
const segmentsFormat = "scrim ledger index 1\n"

// segmentSeal is what segments are sealed for, bound to the hashes of the records around them.
const segmentSeal = "ledger segment"

const segmentHead = 3*len(chain.Sum{}) + 4

// errSegments says that the file of segments does not reach as far as it must.
var errSegments = errors.New("accounting: the file of the index does not hold what the checkpoint says")

// segments is the file to which the index of one part after the other is added.
type segments struct {
	path string
	key  chain.Key
	end  chain.Sum   // the hash of the last record of the last segment
	size int64       // of what is valid
	tags []chain.Sum // of the segments
}

// newSegments returns an empty file of segments, of the records after the one with that hash.
func newSegments(path string, k chain.Key, after chain.Sum) *segments {
	return &segments{path: path, key: k, end: after}
}

// tag is the keyed hash of a segment between two hashes of the chain.
func (s *segments) tag(before, after *chain.Sum, body []byte) chain.Sum {
	return tagOf(s.key, segmentSeal, append(before[:len(before):len(before)], after[:]...), body)
}

// append adds the segment of a part that ends with a hash, at the end of what is valid. It is on
// the disk when sync has returned.
func (s *segments) append(f *os.File, after chain.Sum, body []byte) error {
	if s.size == 0 {
		if err := f.Truncate(0); err != nil {
			return err
		}
		if _, err := f.WriteAt([]byte(segmentsFormat), 0); err != nil {
			return err
		}
		s.size = int64(len(segmentsFormat))
	}
	tag := s.tag(&s.end, &after, body)
	b := append(append(make([]byte, 0, segmentHead+len(body)), s.end[:]...), after[:]...)
	b = append(append(binary.BigEndian.AppendUint32(b, uint32(len(body))), tag[:]...), body...)
	if _, err := f.WriteAt(b, s.size); err != nil {
		return err
	}
	s.size += int64(len(b))
	s.end, s.tags = after, append(s.tags, tag)
	return nil
}

// open opens the file for appending.
func (s *segments) open() (*os.File, error) {
	return os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, chain.FileMode)
}

// read calls each with the segments in their order, up to the one of which the last record has the
// hash end. What stands behind is cut off by the next append. errSegments says that some are
// missing, or are not what was written.
func (s *segments) read(end chain.Sum, each func(*index.Part) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return fmt.Errorf("%w: %v", errSegments, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("%w: %v", errSegments, err)
	}
	r := segmentReader{f: f, left: info.Size()}
	if string(r.take(int64(len(segmentsFormat)))) != segmentsFormat {
		return errSegments
	}
	s.size = int64(len(segmentsFormat))
	for s.end != end {
		head := r.take(int64(segmentHead))
		if head == nil {
			return errSegments
		}
		before, after, tag := chain.Sum(head), chain.Sum(head[len(chain.Sum{}):]), chain.Sum(head[segmentHead-len(chain.Sum{}):])
		body := r.take(int64(binary.BigEndian.Uint32(head[2*len(chain.Sum{}):])))
		if want := s.tag(&before, &after, body); body == nil || before != s.end || !hmac.Equal(want[:], tag[:]) {
			return errSegments
		}
		x, err := index.DecodePart(body)
		if err != nil {
			return fmt.Errorf("%w: %v", errSegments, err)
		}
		if err := each(x); err != nil {
			return err
		}
		s.size += int64(segmentHead + len(body))
		s.end, s.tags = after, append(s.tags, tag)
	}
	return nil
}

// segmentReader reads a file of a known size.
type segmentReader struct {
	f    *os.File
	left int64
}

// take returns the next n bytes, nil where there are fewer.
func (r *segmentReader) take(n int64) []byte {
	if n > r.left {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.f, b); err != nil {
		return nil
	}
	r.left -= n
	return b
}
