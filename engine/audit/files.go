package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"scrim/internal/durable"
)

const day = "2006-01-02"

var fileName = regexp.MustCompile(`^audit-(\d{6,})-(\d{4}-\d{2}-\d{2})\.jsonl$`)

// file is one of the log's files.
type file struct {
	name   string
	number int
	begun  time.Time // midnight, UTC
}

// files lists the log's files in dir, oldest first. Other files are none of ours.
func files(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var out []file
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, nerr := strconv.Atoi(m[1])
		begun, derr := time.Parse(day, m[2])
		if nerr == nil && derr == nil {
			out = append(out, file{e.Name(), n, begun})
		}
	}
	slices.SortFunc(out, func(a, b file) int { return a.number - b.number })
	return out, nil
}

// appender is the file that is written.
type appender struct {
	dir  string
	file file
	f    *os.File
	size int64
}

// resume opens the last file of dir, or begins the first.
func resume(dir string, now time.Time) (*appender, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	all, err := files(dir)
	if err != nil {
		return nil, err
	}
	a := &appender{dir: dir}
	if len(all) == 0 {
		return a, a.next(now)
	}
	a.file = all[len(all)-1]
	return a, a.open(os.O_RDWR)
}

// open opens the file, with O_APPEND always, and ends a line that a crash has torn.
func (a *appender) open(flags int) error {
	f, err := os.OpenFile(filepath.Join(a.dir, a.file.name), flags|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	fi, err := f.Stat()
	if err == nil {
		a.f, a.size = f, fi.Size()
		err = a.endLine()
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func (a *appender) endLine() error {
	if a.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := a.f.ReadAt(last[:], a.size-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err := a.write([]byte{'\n'})
	return err
}

// write appends, and returns how much of b is in the file.
func (a *appender) write(b []byte) (int, error) {
	n, err := a.f.Write(b)
	a.size += int64(n)
	return n, err
}

// due reports whether a new file is to be begun.
func (a *appender) due(now time.Time, maxSize int64) bool {
	return a.size >= maxSize || now.UTC().Format(day) > a.file.begun.Format(day)
}

// next begins a new file, whose name is on disk when next returns.
func (a *appender) next(now time.Time) error {
	begun := now.UTC().Truncate(24 * time.Hour)
	following := file{number: a.file.number + 1, begun: begun}
	following.name = fmt.Sprintf("audit-%06d-%s.jsonl", following.number, begun.Format(day))
	fresh := &appender{dir: a.dir, file: following}
	if err := fresh.open(os.O_CREATE | os.O_EXCL | os.O_RDWR); err != nil {
		return err
	}
	if err := durable.SyncDir(a.dir); err != nil {
		_ = fresh.f.Close()
		_ = os.Remove(filepath.Join(a.dir, following.name))
		return err
	}
	if a.f != nil {
		_ = a.f.Close()
	}
	*a = *fresh
	return nil
}

// prune removes the files whose last day is more than keep days ago, and returns their names. A
// file's last day is the day on which the next was begun.
func (a *appender) prune(now time.Time, keep int) (removed []string, err error) {
	all, err := files(a.dir)
	if err != nil || keep <= 0 {
		return nil, err
	}
	limit := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -keep)
	for i, f := range all {
		if f.number >= a.file.number || i+1 >= len(all) || !all[i+1].begun.Before(limit) {
			break
		}
		if err := os.Remove(filepath.Join(a.dir, f.name)); err != nil {
			return removed, fmt.Errorf("audit: %w", err)
		}
		removed = append(removed, f.name)
	}
	return removed, nil
}
