package witness

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"scrim/internal/durable"
)

// file is a witness at a path.
type file string

// tailSize is what is read of a file's end: far more than a line.
const tailSize = 64 << 10

func (f file) tail() ([]byte, error) {
	in, err := os.Open(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tailSize)
	text, err := io.ReadAll(io.NewSectionReader(in, from, tailSize))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}

func (f file) add(line []byte) error {
	if done, err := f.compacted(line); done {
		return err
	}
	_, err := os.Lstat(string(f)) // what cannot be cut down grows
	fresh := errors.Is(err, os.ErrNotExist)
	out, err := os.OpenFile(string(f), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line = append(unended(out), line...)
	_, err = out.Write(line)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil || !fresh {
		return err
	}
	return durable.SyncDir(filepath.Dir(string(f)))
}

// unended returns the end of line that the last line of f lacks since a crash, if it does.
func unended(f *os.File) []byte {
	info, err := f.Stat()
	var last [1]byte
	if err != nil || info.Size() == 0 {
		return nil
	}
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil || last[0] == '\n' {
		return nil
	}
	return []byte("\n")
}
