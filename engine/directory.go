package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"scrim/internal/durable"
)

// directory is an open data directory: one process holds its lock, and everything in it carries its
// id, so that files of two directories cannot be mixed.
type directory struct {
	path  string
	id    string
	fresh bool // the first start has not finished
	lock  *os.File
}

// ErrDirectoryInUse tells that another process serves the data directory.
var ErrDirectoryInUse = errors.New("engine: the data directory is in use by another process")

// openDirectory creates or opens the data directory at path and locks it.
func openDirectory(path string) (*directory, error) {
	d, err := lockDirectory(path)
	if err != nil {
		return nil, err
	}
	if err := d.identify(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// lockDirectory creates or opens a data directory and locks it, whatever is in it.
func lockDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	lock, err := durable.Lock(filepath.Join(path, fileLock))
	if errors.Is(err, durable.ErrHeld) {
		return nil, ErrDirectoryInUse
	}
	if err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	return &directory{path: path, lock: lock}, nil
}

// identify reads the directory's id, or makes one for a directory without data, and checks that
// what belongs together is there together.
func (d *directory) identify() error {
	id, state, err := d.read()
	switch {
	case err != nil:
		return err
	case state == restoring:
		return fmt.Errorf("engine: a restore of %s was not finished; run scrim restore again", d.path)
	case id != "":
		d.id, d.fresh = id, state == unfinished
		if d.fresh {
			return nil
		}
		return d.checkComplete()
	}
	for _, name := range []string{fileData, fileLedger, fileCatalog, fileUsers} {
		if d.has(name) {
			return fmt.Errorf("engine: %s has %s but no %s file; restore the directory as a whole from its backup", d.path, name, fileID)
		}
	}
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	d.id, d.fresh = hex.EncodeToString(b), true
	return d.write(d.id + " " + unfinished + "\n")
}

// read returns the id file's id and what stands behind it, both "" where there is no such file.
func (d *directory) read() (id, state string, err error) {
	text, err := os.ReadFile(filepath.Join(d.path, fileID))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("engine: %w", err)
	}
	fields := strings.Fields(string(text))
	if len(fields) == 2 {
		state = fields[1]
	}
	if len(fields) == 0 || len(fields) > 2 || state != "" && state != unfinished && state != restoring {
		return "", "", fmt.Errorf("engine: %s is damaged", fileID)
	}
	if b, err := hex.DecodeString(fields[0]); err != nil || len(b) != 16 {
		return "", "", fmt.Errorf("engine: %s is damaged: want 32 hexadecimal digits", fileID)
	}
	return fields[0], state, nil
}

// restoring stands behind the id while a restore puts files in their places.
const restoring = "restoring"

// unfinished stands behind the id until the first start has made everything: nobody could log in
// before, so that whatever is missing then may be made anew.
const unfinished = "unfinished"

// checkComplete refuses a directory in which data exist but the ledger, the policies or the
// accounts do not: a new, empty ledger would give every spent budget back.
func (d *directory) checkComplete() error {
	for _, name := range []string{fileData, fileLedger, fileCatalog, fileUsers} {
		if !d.has(name) {
			return fmt.Errorf("engine: the data directory %s was in use before, but %s is missing; "+
				"the server does not start with an empty one, because that would forget what has been spent and protected: "+
				"restore the directory as a whole from its backup", d.path, name)
		}
	}
	return nil
}

// commit notes that everything which the first start makes is on disk.
func (d *directory) commit() error {
	if !d.fresh {
		return nil
	}
	return d.write(d.id + "\n")
}

// write replaces the id file.
func (d *directory) write(text string) error {
	if err := durable.Replace(filepath.Join(d.path, fileID), 0o600, durable.Bytes([]byte(text))); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

func (d *directory) has(name string) bool {
	_, err := os.Stat(filepath.Join(d.path, name))
	return err == nil
}

// Close gives the lock back.
func (d *directory) Close() error { return d.lock.Close() }
