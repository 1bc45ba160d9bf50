package lake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// File is a file as it was at one moment. Two equal ones have the same bytes, unless somebody set
// the machine's clock back.
type File struct {
	Path            string
	Size            int64
	Device, Inode   uint64
	Written, Status int64 // times of the last write, and of the last change of its inode, in ns
}

// Pin is the list of the files that are a table at one moment. It is immutable.
type Pin struct {
	pattern Pattern
	again   func() ([]File, error) // lists them as they are now
	Files   []File                 // sorted by path
}

// maxFiles bounds a list: it becomes part of a statement.
const maxFiles = 100_000

// Pin lists the files of the pattern. What fails is the operator's matter: the error names files.
func (p Pattern) Pin() (*Pin, error) {
	return newPin(p, func() ([]File, error) {
		w := &walk{pattern: p}
		if err := w.below(p.Root, p.Below); err != nil {
			return nil, err
		}
		if len(w.files) == 0 {
			return nil, fmt.Errorf("lake: no file matches %s", p)
		}
		return w.files, nil
	})
}

// newPin lists files for the first time.
func newPin(p Pattern, list func() ([]File, error)) (*Pin, error) {
	pin := &Pin{pattern: p, again: func() ([]File, error) {
		files, err := list()
		slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		// a file matches a pattern with two ** in more than one way
		return slices.Compact(files), err
	}}
	var err error
	if pin.Files, err = pin.again(); err != nil {
		return nil, err
	}
	return pin, nil
}

// walk looks for the files that match a pattern.
type walk struct {
	pattern Pattern
	files   []File
}

// below adds the files below a directory that match the segments.
func (w *walk) below(dir string, below []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("lake: %w", err)
	}
	for _, e := range entries {
		if err := w.entry(filepath.Join(dir, e.Name()), e, below); err != nil {
			return err
		}
	}
	if below[0] == "**" {
		return w.below(dir, below[1:])
	}
	return nil
}

// entry looks at one name in a directory.
func (w *walk) entry(path string, e os.DirEntry, below []string) error {
	any := below[0] == "**"
	if !any && !within(below[0], e.Name()) {
		return nil
	}
	switch {
	case e.Type()&os.ModeSymlink != 0:
		return fmt.Errorf("lake: %s is a symbolic link, which is not followed", path)
	case any && e.IsDir():
		return w.below(path, below)
	case any:
		return nil // the walk with the next segment looks at it
	case len(below) > 1 && e.IsDir():
		return w.below(path, below[1:])
	case len(below) > 1:
		return nil
	case !e.Type().IsRegular():
		return fmt.Errorf("lake: %s is not a regular file", path)
	case strings.ContainsAny(path, special):
		return fmt.Errorf("lake: %q has a letter in its name that the store would misread", path)
	}
	f, err := stat(path)
	if err != nil {
		return err
	}
	if w.files = append(w.files, f); len(w.files) > maxFiles {
		return fmt.Errorf("lake: %s names more than %d files", w.pattern, maxFiles)
	}
	return nil
}

func stat(path string) (File, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return File{}, fmt.Errorf("lake: %w", err)
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.Mode().IsRegular() {
		return File{}, fmt.Errorf("lake: %s is not a regular file", path)
	}
	return File{Path: path, Size: fi.Size(), Device: uint64(s.Dev), Inode: s.Ino, Written: s.Mtim.Nano(), Status: s.Ctim.Nano()}, nil
}

// Paths are the paths of the files.
func (p *Pin) Paths() []string {
	out := make([]string, len(p.Files))
	for i, f := range p.Files {
		out[i] = f.Path
	}
	return out
}

// Size is how many bytes the files have.
func (p *Pin) Size() (bytes int64) {
	for _, f := range p.Files {
		bytes += f.Size
	}
	return bytes
}

// Version is a text that differs when the list does.
func (p *Pin) Version() string {
	h := sha256.New()
	for _, f := range p.Files {
		fmt.Fprintf(h, "%q %d %d %d %d %d\n", f.Path, f.Size, f.Device, f.Inode, f.Written, f.Status)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Unchanged fails where the list, made anew, is not of the very same files any more.
func (p *Pin) Unchanged() error {
	now, err := p.again()
	if err != nil {
		return err
	}
	if !slices.Equal(p.Files, now) {
		return fmt.Errorf("lake: files of %s were added, removed or written meanwhile", p.pattern)
	}
	return nil
}
