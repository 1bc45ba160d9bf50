// Package datadir is the data directory: the names of its files, its identity, and the lock of the
// one process that has it open. What is done with a directory that nobody serves lies beside:
//
//	rollback     notices a ledger that was put back, and takes an older one where that is asked for
//	backup       copies a directory, and puts a copy back
//	fileimport   loads a file into a table
package datadir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/internal/durable"
	"scrim/internal/lists"
)

// Directory is an open data directory: one process holds its lock, and everything in it carries its
// id, so that files of two directories cannot be mixed.
type Directory struct {
	Path  string
	ID    string
	Fresh bool // the first start has not finished
	// Life names what is served here since NoteHome found it new: a directory that was copied,
	// moved or restored has another one. Backups do not have it.
	Life string
	// Copied is where Upgrade put a copy of what an earlier version had left; "" where it made
	// none.
	Copied string
	lock   *os.File
}

// ErrInUse tells that another process serves the data directory.
var ErrInUse = errors.New("engine: the data directory is in use by another process")

// Open creates or opens the data directory at path and locks it.
func Open(path string) (*Directory, error) {
	d, err := Lock(path)
	if err != nil {
		return nil, err
	}
	if err := d.identify(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// Lock creates or opens a data directory and locks it, whatever is in it.
func Lock(path string) (*Directory, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path + partialSuffix); err == nil {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, unfinishedRestore(path)
		}
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	lock, err := durable.Lock(filepath.Join(path, LockFile))
	if errors.Is(err, durable.ErrHeld) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	return &Directory{Path: path, lock: lock}, nil
}

// partialSuffix is behind the name of a directory that a restore is about to make.
const partialSuffix = ".restoring"

// LockNew is Lock for a restore into a directory without data, which has the mark of BeginRestore
// before anything else: a directory that is not there appears with it. Wherever the process ends,
// no server takes what is left for a new directory.
func LockNew(path, id string) (*Directory, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		partial := path + partialSuffix
		err := os.RemoveAll(partial)
		if err == nil {
			err = os.MkdirAll(partial, 0o700)
		}
		if err == nil {
			err = mark(partial, id)
		}
		if err == nil {
			err = durable.Rename(partial, path)
		}
		if err != nil {
			return nil, fmt.Errorf("engine: data directory: %w", err)
		}
	} else if err := mark(path, id); err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	d, err := Lock(path)
	if err == nil {
		d.ID = id
	}
	return d, err
}

// mark makes the id file of a directory that is restored, in the place of none or of an empty one.
func mark(dir, id string) error {
	path, text := filepath.Join(dir, IDFile), durable.Bytes([]byte(id+" "+Restoring+"\n"))
	if fi, err := os.Lstat(path); err == nil && fi.Size() == 0 {
		return durable.Replace(path, 0o600, text)
	}
	return durable.Create(path, 0o600, text)
}

// identify reads the directory's id, or makes one for a directory without data, and checks that
// what belongs together is there together.
func (d *Directory) identify() error {
	id, state, err := d.State()
	switch {
	case err != nil:
		return err
	case state == Restoring:
		return unfinishedRestore(d.Path)
	case id != "":
		d.ID, d.Fresh = id, state == Unfinished
		if _, err := catalog.Older(d.file(CatalogFile)); errors.Is(err, catalog.ErrVersion) {
			return err
		}
		if d.Fresh {
			return nil
		}
		return d.checkComplete()
	}
	if name, ok := lists.Find([]string{DataFile, LedgerFile, CatalogFile, UsersFile}, d.Has); ok {
		return fmt.Errorf("engine: %s has %s but no %s file; restore the directory as a whole from its backup", d.Path, name, IDFile)
	}
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	d.ID, d.Fresh = hex.EncodeToString(b), true
	return d.write(d.ID + " " + Unfinished + "\n")
}

func unfinishedRestore(path string) error {
	return fmt.Errorf("engine: a restore of %s was not finished; run scrim restore again", path)
}

// State returns the id file's id and what stands behind it, both "" where there is no such file. A
// restore that was cut short may have left an empty one.
func (d *Directory) State() (id, state string, err error) {
	text, err := os.ReadFile(d.file(IDFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("engine: %w", err)
	}
	if len(text) == 0 {
		return "", Restoring, nil
	}
	id, state, _ = strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 {
		return "", "", fmt.Errorf("engine: %s is damaged: want 32 hexadecimal digits", d.file(IDFile))
	}
	if state != "" && state != Unfinished && state != Restoring {
		return "", "", fmt.Errorf("engine: %s was made by a newer version of scrim, or is damaged: this version does not know %q. Use the version that made it",
			d.file(IDFile), state)
	}
	return id, state, nil
}

// Restoring stands behind the id while a restore puts files in their places.
const Restoring = "restoring"

// Unfinished stands behind the id until the first start has made everything: nobody could log in
// before, so that whatever is missing then may be made anew.
const Unfinished = "unfinished"

// checkComplete refuses a directory in which data exist but the ledger, the policies or the
// accounts do not: a new, empty ledger would give every spent budget back.
func (d *Directory) checkComplete() error {
	for _, name := range []string{DataFile, LedgerFile, CatalogFile, UsersFile} {
		if !d.Has(name) {
			return fmt.Errorf("engine: the data directory %s was in use before, but %s is missing; "+
				"the server does not start with an empty one, because that would forget what has been spent and protected: "+
				"restore the directory as a whole from its backup", d.Path, name)
		}
	}
	return nil
}

// Commit notes that everything which the first start makes is on disk.
func (d *Directory) Commit() error {
	if !d.Fresh {
		return nil
	}
	return d.write(d.ID + "\n")
}

// BeginRestore gives the directory an id, and marks it as one on which no server starts; LockNew
// does that for a new directory.
func (d *Directory) BeginRestore(id string) error {
	d.ID = id
	return d.write(id + " " + Restoring + "\n")
}

// EndRestore lets servers start on the directory.
func (d *Directory) EndRestore() error { return d.write(d.ID + "\n") }

// write replaces the id file.
func (d *Directory) write(text string) error {
	if err := durable.Replace(d.file(IDFile), 0o600, durable.Bytes([]byte(text))); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// Has reports whether the directory has a file of that name.
func (d *Directory) Has(name string) bool {
	_, err := os.Stat(d.file(name))
	return err == nil
}

// file returns the path of a file in the directory.
func (d *Directory) file(name string) string { return filepath.Join(d.Path, name) }

// Close gives the lock back.
func (d *Directory) Close() error { return d.lock.Close() }

// LedgerOf takes a data directory that nobody serves, and says where its ledger is and what opens
// it. The directory is not served before unlock is called.
func LedgerOf(dataDir string) (path string, o accounting.Options, unlock func() error, err error) {
	if _, err := os.Stat(filepath.Join(dataDir, IDFile)); errors.Is(err, fs.ErrNotExist) {
		return "", o, nil, fmt.Errorf("engine: %s is not a data directory: it has no file %s", dataDir, IDFile)
	}
	d, err := Open(dataDir)
	if err != nil {
		return "", o, nil, err
	}
	return filepath.Join(dataDir, LedgerFile), accounting.Options{DirectoryID: d.ID}, d.Close, nil
}

// MachineFile names the machine; tests replace it.
var MachineFile = "/etc/machine-id"

// home is where a data directory is served; HostFile has the machine hashed with the directory's
// id.
type home struct {
	machine string // "-" where the machine has no id
	place   string // device and inode of the directory
	life    string // a random name of what was served there; see Directory.Life
}

// here is the home of a directory at present.
func (d *Directory) here() (home, error) {
	h := home{machine: "-"}
	if id, err := os.ReadFile(MachineFile); err == nil && strings.TrimSpace(string(id)) != "" {
		sum := sha256.Sum256([]byte("scrim host\n" + d.ID + "\n" + strings.TrimSpace(string(id))))
		h.machine = hex.EncodeToString(sum[:16])
	}
	fi, err := os.Stat(d.Path)
	if err != nil {
		return h, fmt.Errorf("engine: %w", err)
	}
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		h.place = fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return h, nil
}

// lastHome reads where a directory was last served; ok is false where that is not known.
func (d *Directory) lastHome() (h home, ok bool) {
	text, err := os.ReadFile(filepath.Join(d.Path, HostFile))
	f := strings.Fields(string(text))
	switch {
	case err != nil || len(f) < 2 || len(f) > 3:
		return h, false
	case len(f) == 2: // of a program that named no lives
		return home{f[0], f[1], ""}, true
	}
	return home{f[0], f[1], f[2]}, true
}

// NoteHome notes where the directory is served now, and says how that differs from where it was
// served last; "" where it does not, or where the last place is not known. A copy that is started
// beside the original spends the same budgets a second time.
func (d *Directory) NoteHome() (moved string, err error) {
	now, err := d.here()
	if err != nil {
		return "", err
	}
	last, ok := d.lastHome()
	switch {
	case ok && last.machine == now.machine && last.place == now.place:
		if d.Life = last.life; d.Life != "" {
			return "", nil
		}
	case ok && last.machine != now.machine:
		moved = "on another machine"
	case ok:
		moved = "at another place on this machine's disks"
	}
	b := make([]byte, 16)
	rand.Read(b) // it never fails
	d.Life = hex.EncodeToString(b)
	text := durable.Bytes([]byte(now.machine + " " + now.place + " " + d.Life + "\n"))
	return moved, durable.Replace(filepath.Join(d.Path, HostFile), 0o600, text)
}
