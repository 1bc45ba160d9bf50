package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// NewSuffix is what Replace appends to a name for the file that it writes. One that a crash has
// left is removed by the next Replace.
const NewSuffix = ".new"

// Create makes a file that is not there yet, and has its content and its name on disk when it
// returns. After an error there is no file, or the one that was there.
func Create(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if err := create(path, mode, write); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// create is Create without the name.
func create(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// Replace puts a file into the place of the one of that name, or of none. At any moment the name is
// that of the old file or of the whole new one. After an error that is not InDoubt, the old one is
// there. One call at a time may replace a file.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	name := path + NewSuffix
	if err := Remove(name); err != nil {
		return err
	}
	if err := create(name, mode, write); err != nil {
		return err
	}
	if err := Rename(name, path); err != nil {
		_ = os.Remove(name)
		return err
	}
	return nil
}

// Bytes is for Create and Replace: it writes b.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// InDoubt is the error of Rename and Replace when the new name is there, but its directory could
// not be made durable: after a crash of the machine, the old file may be there again.
type InDoubt struct{ Err error }

func (e *InDoubt) Error() string { return e.Err.Error() }
func (e *InDoubt) Unwrap() error { return e.Err }

// Rename gives a file or a directory another name, durably. What had that name is replaced. After
// an error that is not InDoubt, nothing has changed.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(to)); err != nil {
		return &InDoubt{err}
	}
	return nil
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ErrHeld says that another process, or another opening in this one, holds the lock.
var ErrHeld = errors.New("the file is locked")
