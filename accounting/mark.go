package accounting

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"
)

// MarkSuffix names the file of the ledger's high-water mark: the ledger's own name with it behind.
const MarkSuffix = ".mark"

// mark is a high-water mark: the last record that is known to have been durable. It is kept beside
// the ledger, in a file of its own, so that an older copy of the ledger that is put back there is
// noticed.
type mark struct {
	id   uint64
	at   time.Time // of the record
	hash sum
}

// errNoMark says that the mark is missing.
var errNoMark = fmt.Errorf("%w: mark missing", ErrOlder)

// markSize is the size of the file, within one sector: id, nanoseconds and hash, then the keyed
// hash of these, in hexadecimal.
const markSize = 2*(8+8+2*len(sum{})) + 1

func (m mark) encode(c *chainer) []byte {
	b := binary.BigEndian.AppendUint64(nil, m.id)
	b = binary.BigEndian.AppendUint64(b, uint64(m.at.UnixNano()))
	b = append(b, m.hash[:]...)
	t := c.next(&sum{}, m.id, b)
	return append(hex.AppendEncode(nil, append(b, t[:]...)), '\n')
}

func decodeMark(text []byte, c *chainer) (m mark, ok bool) {
	b, err := hex.DecodeString(string(bytes.TrimSuffix(text, []byte("\n"))))
	if err != nil || len(text) != markSize {
		return m, false
	}
	body, t := b[:16+len(sum{})], b[16+len(sum{}):]
	m.id = binary.BigEndian.Uint64(body)
	if want := c.next(&sum{}, m.id, body); !hmac.Equal(t, want[:]) {
		return mark{}, false
	}
	m.at = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:]))).UTC()
	return mark{m.id, m.at, sum(body[16:])}, true
}

// readMark reads the mark at path. It refuses a missing one: a ledger is never without, and one
// that is put back without it may be old.
func readMark(path string, c *chainer) (mark, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return mark{}, fmt.Errorf("%w: %s, which says how far the ledger had come", errNoMark, path)
	case err != nil:
		return mark{}, fmt.Errorf("accounting: opening the ledger's mark: %w", err)
	}
	m, ok := decodeMark(text, c)
	if !ok {
		return mark{}, fmt.Errorf("%w: %s, which says how far the ledger had come, is damaged, or of another ledger", ErrOlder, path)
	}
	return m, nil
}

// marker moves the mark on. The file is written in place, in one write below the size of a sector,
// and synced only when the ledger is closed: a mark that is behind after a crash of the machine
// misses nothing but an older copy from those seconds.
type marker struct {
	f     *os.File
	chain *chainer
}

// openMarker opens the mark's file, and makes it when there is none.
func openMarker(path string, c *chainer, first mark) (*marker, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := placeFile(path, first.encode(c)); err != nil {
			return nil, fmt.Errorf("accounting: making the ledger's mark: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, keyMode)
	if err != nil {
		return nil, fmt.Errorf("accounting: opening the ledger's mark: %w", err)
	}
	return &marker{f, c}, nil
}

// replaceMark takes away a mark that does not fit the ledger any more; the next one is made from
// the ledger.
func replaceMark(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("accounting: replacing the ledger's mark: %w", err)
	}
	return nil
}

func (w *marker) move(m mark) error {
	_, err := w.f.WriteAt(m.encode(w.chain), 0)
	return err
}

func (w *marker) close() error {
	err := w.f.Sync()
	if e := w.f.Close(); err == nil {
		err = e
	}
	return err
}
