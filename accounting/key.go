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
