package accounting

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"scrim/accounting/internal/chain"
	"scrim/internal/durable"
)

// KeySuffix names the file of the ledger's key: the ledger's own name with it behind.
const KeySuffix = ".key"

// readKey reads the key at path. It refuses a file that others may read.
func readKey(path string) (k chain.Key, err error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return k, fmt.Errorf("%w: %s is missing. %s", ErrKey, path, repairKey)
	case err != nil:
		return k, fmt.Errorf("%w: %w", ErrKey, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return k, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if p := info.Mode().Perm(); p&^chain.FileMode != 0 {
		return k, fmt.Errorf("%w: %s may be read or written by others (mode %04o). Run chmod 600 on it, and check who has read it", ErrKey, path, p)
	}
	text := make([]byte, 2*len(k)+2)
	n, _ := f.Read(text)
	b, err := hex.DecodeString(string(bytes.TrimSuffix(text[:n], []byte("\n"))))
	if err != nil || len(b) != len(k) {
		return k, fmt.Errorf("%w: %s is not a key (want %d hexadecimal digits). %s", ErrKey, path, 2*len(k), repairKey)
	}
	return chain.Key(b), nil
}

// makeKey returns the key at path, and makes it where there is none.
func makeKey(path string) (chain.Key, error) {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return readKey(path)
	}
	var k chain.Key
	if _, err := rand.Read(k[:]); err != nil {
		return k, err
	}
	if err := placeFile(path, []byte(hex.EncodeToString(k[:])+"\n")); err != nil {
		return k, err
	}
	return readKey(path)
}

// placeFile makes a file of mode 0600 with that content, complete and durable or not at all. A file
// that is there already stays.
func placeFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.SyncDir(dir)
}

// MarkSuffix names the file of the ledger's high-water mark: the ledger's own name with it behind.
const MarkSuffix = ".mark"

// errNoMark says that the mark is missing.
var errNoMark = fmt.Errorf("%w: mark missing", ErrOlder)

// readMark reads the mark at path. It refuses a missing one: a ledger is never without, and one
// that is put back without it may be old.
func readMark(path string, c *chain.Chainer) (chain.Mark, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return chain.Mark{}, fmt.Errorf("%w: %s, which says how far the ledger had come", errNoMark, path)
	case err != nil:
		return chain.Mark{}, fmt.Errorf("accounting: opening the ledger's mark: %w", err)
	}
	m, ok := chain.DecodeMark(text, c)
	if !ok {
		return chain.Mark{}, fmt.Errorf("%w: %s, which says how far the ledger had come, is damaged, or of another ledger", ErrOlder, path)
	}
	return m, nil
}

// marker moves the mark on. The file is written in place, in one write below the size of a sector,
// and synced only when the ledger is closed: a mark that is behind after a crash of the machine
// misses nothing but an older copy from those seconds.
type marker struct {
	f     *os.File
	chain *chain.Chainer
}

// openMarker opens the mark's file, and makes it when there is none.
func openMarker(path string, c *chain.Chainer, first chain.Mark) (*marker, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := placeFile(path, first.Encode(c)); err != nil {
			return nil, fmt.Errorf("accounting: making the ledger's mark: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, chain.FileMode)
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

func (w *marker) move(m chain.Mark) error {
	_, err := w.f.WriteAt(m.Encode(w.chain), 0)
	return err
}

func (w *marker) close() error {
	err := w.f.Sync()
	if e := w.f.Close(); err == nil {
		err = e
	}
	return err
}
