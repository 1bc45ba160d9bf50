package contribute

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"scrim/internal/durable"
)

// Errors of opening a wallet.
var (
	ErrInUse   = errors.New("contribute: another process has the wallet open")
	ErrDamaged = errors.New("contribute: the wallet is damaged")
	ErrLost    = errors.New("contribute: the wallet is not there any more, or an older copy of it is")
)

// disk is the wallet's file with its lock.
type disk struct {
	path string
	lock *os.File // of path.lock; its contents are the serial number of the last write
}

// reached is called after each step of a write; tests end the process there.
var reached = func(step string) {}

// openDisk locks the wallet's file and reads it; a file that has never been there is an empty book.
func openDisk(path string) (d *disk, b book, err error) {
	if path, err = place(path); err != nil {
		return nil, book{}, err
	}
	lock, err := durable.Lock(path + ".lock") // without it, two processes could report twice
	if errors.Is(err, durable.ErrHeld) {
		return nil, book{}, ErrInUse
	}
	if err != nil {
		return nil, book{}, fmt.Errorf("contribute: lock %s: %w", path, err)
	}
	d = &disk{path, lock}
	if b, err = d.read(); err != nil {
		return nil, book{}, errors.Join(err, d.close())
	}
	return d, b, nil
}

// place returns where the file is: links followed, its directory made.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("contribute: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("contribute: %w", err)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("contribute: %w", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// read reads the file and compares it with the serial number beside it.
func (d *disk) read() (book, error) {
	mark, err := d.mark()
	if err != nil {
		return book{}, err
	}
	if err := durable.Remove(d.path + durable.NewSuffix); err != nil {
		return book{}, fmt.Errorf("contribute: %w", err)
	}
	file, err := d.bytes()
	if errors.Is(err, fs.ErrNotExist) {
		if mark > 0 {
			return book{}, fmt.Errorf("%w: %s is missing, and it has been written %d times. Put it back. If it is gone for good, what it "+
				"spent is not known; remove %s.lock to begin with nothing spent", ErrLost, d.path, mark, d.path)
		}
		return book{Caps: DefaultCaps()}, nil
	}
	if err != nil {
		return book{}, err
	}
	b, err := decode(file)
	if err != nil {
		return book{}, fmt.Errorf("%w: %s: %w. Put back a copy that is newer than every report; nothing is reset", ErrDamaged, d.path, err)
	}
	if b.Serial < mark {
		return book{}, fmt.Errorf("%w: %s is of write %d, and the last write was %d. Put the last one back: an older copy does not know what was "+
			"reported since", ErrLost, d.path, b.Serial, mark)
	}
	return b, nil
}

// bytes reads the file, which must be the person's own.
func (d *disk) bytes() ([]byte, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("contribute: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("contribute: %s is not a file", d.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("contribute: %s is open to others (mode %#o), and it holds tokens; chmod 600 %[1]s", d.path, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%w: %s has more than %d MiB", ErrDamaged, d.path, maxFile>>20)
	}
	return b, nil
}

// markSize is the length of a serial number in the lock's file: fixed, so that it is written in one
// piece.
const markSize = 21

// mark returns the serial number of the last write that the lock's file knows; 0 if there was none.
func (d *disk) mark() (uint64, error) {
	b := make([]byte, markSize)
	n, err := d.lock.ReadAt(b, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return 0, nil
	}
	if n < markSize {
		return 0, fmt.Errorf("%w: %s.lock does not hold a serial number", ErrDamaged, d.path)
	}
	mark, err := strconv.ParseUint(strings.TrimSuffix(string(b), "\n"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s.lock does not hold a serial number", ErrDamaged, d.path)
	}
	return mark, nil
}

// write puts a book into the place of the file, durably: see Crash safety in the package's
// documentation.
func (d *disk) write(b book) error {
	file, err := b.encode()
	if err != nil {
		return err
	}
	if err := d.held(); err != nil {
		return err
	}
	reached("made")
	name := d.path + durable.NewSuffix
	if err := errors.Join(durable.Remove(name), durable.Create(name, 0o600, durable.Bytes(file))); err != nil {
		return fmt.Errorf("contribute: %w", err)
	}
	reached("written")
	if err := os.Rename(name, d.path); err != nil {
		return fmt.Errorf("contribute: %w", err)
	}
	reached("renamed")
	if err := durable.SyncDir(filepath.Dir(d.path)); err != nil {
		return fmt.Errorf("contribute: %w", err)
	}
	reached("synced")
	if _, err := d.lock.WriteAt(fmt.Appendf(nil, "%0*d\n", markSize-1, b.Serial), 0); err != nil {
		return fmt.Errorf("contribute: %w", err)
	}
	reached("marked")
	return nil
}

// held refuses to write where the lock's file was removed or replaced: another process may hold the
// new one, and have reported since.
func (d *disk) held() error {
	mine, err := d.lock.Stat()
	if err != nil {
		return fmt.Errorf("contribute: %w", err)
	}
	if now, err := os.Stat(d.path + ".lock"); err != nil || !os.SameFile(mine, now) {
		return fmt.Errorf("%w: %s.lock was removed or replaced while the wallet was open", ErrDamaged, d.path)
	}
	return nil
}

func (d *disk) close() error { return d.lock.Close() }

// magic begins the file; the hash of the rest follows.
const magic = "scrim wallet 1 "

// maxFile bounds the wallet's file.
const maxFile = 64 << 20

// book is what a wallet holds: the contents of its file. Books that were written are not changed
// any more.
type book struct {
	Serial  uint64   `json:"serial"` // of the write; 0 before the first
	Caps    Caps     `json:"caps"`
	Records []Record `json:"records"`
}

// find returns the record of a collection, or nil.
func (b *book) find(uuid string) *Record {
	if i := slices.IndexFunc(b.Records, func(r Record) bool { return r.UUID == uuid }); i >= 0 {
		return &b.Records[i]
	}
	return nil
}

// redeemed returns the record that a token has been used for, or nil.
func (b *book) redeemed(token Hash) *Record {
	if i := slices.IndexFunc(b.Records, func(r Record) bool { return r.TokenHash == token }); i >= 0 {
		return &b.Records[i]
	}
	return nil
}

// spent adds up what the records cost.
func (b *book) spent() (sum Loss) {
	for _, r := range b.Records {
		sum = sum.Add(r.Cost)
	}
	return sum
}

// with returns a book with a record put in, in the place of the one of the same collection or at
// the end.
func (b book) with(r Record) book {
	b.Records = slices.Clone(b.Records)
	if old := b.find(r.UUID); old != nil {
		*old = r
		return b
	}
	b.Records = append(b.Records, r)
	return b
}

// check tells whether the book can have been written by a wallet.
func (b *book) check() error {
	uuids, tokens := map[string]bool{}, map[Hash]bool{}
	for i := range b.Records {
		r := &b.Records[i]
		if err := r.check(); err != nil {
			return err
		}
		if uuids[r.UUID] || tokens[r.TokenHash] {
			return fmt.Errorf("the collection %.60q or its token is there twice", r.Collection)
		}
		uuids[r.UUID], tokens[r.TokenHash] = true, true
	}
	return nil
}

// encode returns the file's bytes.
func (b *book) encode() ([]byte, error) {
	if b.Records == nil {
		b.Records = []Record{}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	if body.Len() > maxFile/2 {
		return nil, fmt.Errorf("contribute: the wallet would be larger than %d MiB; send the bundles that are pending", maxFile>>21)
	}
	return slices.Concat([]byte(magic), fmt.Appendf(nil, "%x\n", sha256.Sum256(body.Bytes())), body.Bytes()), nil
}

// decode reads a file. Everything is checked: the hash, the form, and what the records say of each
// other.
func decode(file []byte) (b book, err error) {
	head, body, ok := bytes.Cut(file, []byte("\n"))
	sum, isWallet := strings.CutPrefix(string(head), magic)
	switch {
	case !ok || !isWallet:
		return book{}, fmt.Errorf("it does not begin with %q", strings.TrimSpace(magic))
	case sum != fmt.Sprintf("%x", sha256.Sum256(body)):
		return book{}, fmt.Errorf("its bytes are not those of its hash")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return book{}, fmt.Errorf("it is not of this version: %w", err)
	}
	if again, err := b.encode(); err != nil || !bytes.Equal(again, file) {
		return book{}, fmt.Errorf("it is not in the form that this version writes")
	}
	return b, b.check()
}
