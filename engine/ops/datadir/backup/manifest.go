package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/internal/durable"
	"scrim/internal/lists"
)

// fileManifest is written last: a directory without it is no backup.
const fileManifest = "MANIFEST"

// format names the layout. A program that changes the layout, or whose backups an earlier one
// cannot serve, changes the number. earlierFormat is that of programs with DuckDB 1.4.
const format, earlierFormat = "scrim backup 2", "scrim backup 1"

// Manifest describes a backup: the first line is the SHA-256 of the rest, which is this as JSON.
type Manifest struct {
	Format    string              `json:"format"`
	Server    string              `json:"server"`    // the version that made it
	Directory string              `json:"directory"` // the id of the data directory
	Made      time.Time           `json:"made"`
	Ledger    accounting.Position `json:"ledger"` // where the backup's ledger ends
	Files     []File              `json:"files"`
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of the backup's files.
func (m Manifest) Bytes() (n int64) {
	return lists.Sum(m.Files, func(f File) int64 { return f.Size })
}

// Day is the day (UTC) of the last record in the backup's ledger: what --accept-ledger-of says.
func (m Manifest) Day() string { return m.Ledger.At.UTC().Format(time.DateOnly) }

func (m Manifest) encode() []byte {
	b, _ := json.MarshalIndent(m, "", "  ") // of strings and numbers
	b = append(b, '\n')
	sum := sha256.Sum256(b)
	return append([]byte(hex.EncodeToString(sum[:])+"\n"), b...)
}

// readManifest reads the manifest of the backup in dir, and refuses one that is damaged or of
// another format.
func readManifest(dir string) (m Manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, fileManifest))
	if errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("engine: %s is no backup, or was not finished: it has no %s", dir, fileManifest)
	}
	if err != nil {
		return m, fmt.Errorf("engine: backup: %w", err)
	}
	digest, body, _ := bytes.Cut(b, []byte("\n"))
	if sum := sha256.Sum256(body); string(digest) != hex.EncodeToString(sum[:]) {
		return m, fmt.Errorf("engine: backup %s: %s is damaged; use another backup", dir, fileManifest)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("engine: backup %s: %s: %w", dir, fileManifest, err)
	}
	if m.Format != format && m.Format != earlierFormat {
		return m, fmt.Errorf("engine: backup %s was made by a newer version of scrim (%s): have format %q, want %q or %q; use that version", dir, m.Server, m.Format, format, earlierFormat)
	}
	if f, ok := lists.Find(m.Files, func(f File) bool { return f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") }); ok {
		return m, fmt.Errorf("engine: backup %s: %s names the file %q", dir, fileManifest, f.Name)
	}
	return m, nil
}

// Verify reads every file of the backup in dir and compares it with the manifest.
func Verify(ctx context.Context, dir string, progress func(done, total int64)) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return m, err
	}
	t := &tally{ctx: ctx, total: m.Bytes(), progress: progress}
	if err := lists.Each(m.Files, func(want File) error { return verifyFile(t, dir, want) }); err != nil {
		return m, err
	}
	return m, nil
}

func verifyFile(t *tally, dir string, want File) error {
	f, err := os.Open(filepath.Join(dir, want.Name))
	if err != nil {
		return fmt.Errorf("engine: backup: %w", err)
	}
	defer f.Close()
	have, err := t.copy(want.Name, io.Discard, f)
	if err == nil && have != want {
		err = fmt.Errorf("engine: backup %s: %s is not as it was written: have %d bytes with digest %.16s…, want %d with %.16s…; use another backup",
			dir, want.Name, have.Size, have.SHA256, want.Size, want.SHA256)
	}
	return err
}

// tally copies files and reports how much is done.
type tally struct {
	ctx         context.Context
	done, total int64
	progress    func(done, total int64)
}

// Write implements io.Writer: it counts.
func (t *tally) Write(b []byte) (int, error) {
	t.done += int64(len(b))
	if t.progress != nil {
		t.progress(t.done, max(t.done, t.total))
	}
	return len(b), t.ctx.Err()
}

// copy copies from one to the other and tells what went through.
func (t *tally) copy(name string, to io.Writer, from io.Reader) (File, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(to, h, t), from, make([]byte, 1<<20))
	if err != nil {
		err = fmt.Errorf("engine: copying %s: %w", name, err)
	}
	return File{name, n, hex.EncodeToString(h.Sum(nil))}, err
}

// place writes a new file, which is on disk when place returns, and tells what is in it.
func (t *tally) place(dir, name string, write func(io.Writer) error) (File, error) {
	c, h := new(counted), sha256.New()
	err := durable.Create(filepath.Join(dir, name), 0o600, func(w io.Writer) error {
		c.w = io.MultiWriter(w, h, t)
		return write(c)
	})
	if err != nil {
		return File{}, fmt.Errorf("engine: writing %s: %w", name, err)
	}
	return File{name, c.n, hex.EncodeToString(h.Sum(nil))}, nil
}

type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
