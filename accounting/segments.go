package accounting

import (
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
)

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
