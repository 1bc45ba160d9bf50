package duckdb

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"scrim/engine/store"
)

// Repeated tells that a file is in the table already. Nothing was imported.
type Repeated = store.Repeated

// record is what the table's list of files will be; *Repeated where a file would come twice.
func (im *importer) record(ctx context.Context, exists bool) ([]byte, error) {
	files, err := im.source.files()
	if err != nil {
		return nil, err
	}
	var before []byte
	if exists && im.o.Mode == ImportAppend {
		if before, err = im.c.importedInto(ctx, im.table); err != nil {
			return nil, err
		}
	}
	l := store.Load{Table: im.table, Again: im.o.Again, Files: files}
	return l.Imports(before)
}

// importedInto is the list of files that are in a table: none of one without rows, which was
// emptied or made anew since.
func (c *conn) importedInto(ctx context.Context, table store.TableRef) ([]byte, error) {
	value, ok, err := c.get(ctx, store.BucketImports, store.TableKey(table))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := c.collect(ctx, "SELECT 1 FROM "+quoteRef(table)+" LIMIT 1")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return value, nil
}

// files are the source's, by their contents.
func (s *inputs) files() ([]store.ImportedFile, error) {
	var out []store.ImportedFile
	for _, path := range s.paths {
		sum, err := sumOf(path)
		if err != nil {
			return nil, err
		}
		out = append(out, store.ImportedFile{SHA256: sum, Name: filepath.Base(path), At: time.Now().UTC()})
	}
	return out, nil
}

// sumOf is the hash of a file's bytes. A compressed file whose end is missing is refused: the
// reader would take it for a shorter one.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	in := io.TeeReader(f, h)
	if err := checkCompressed(path, in); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checkCompressed reads a file that is named as a compressed one to its end.
func checkCompressed(path string, in io.Reader) (err error) {
	var z io.Reader
	format := "gzip"
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z, err = gzip.NewReader(in)
	case ".zst":
		format = "zstd"
		var d *zstd.Decoder
		if d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
			z = d
		}
	default:
		return nil
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		return unreadable("%s is not compressed by %s; name it by what it is", path, format)
	case err != nil:
		return unreadable("%s is damaged, or its end is missing: %v; fetch it again", path, err)
	}
	return nil
}

// keep notes in the open transaction which files the table has, and of a new table the lengths of
// its texts.
func (im *importer) keep(ctx context.Context, exists bool, files []byte) error {
	if _, err := im.r.exec(ctx, putSQL, store.BucketImports, store.TableKey(im.table), files); err != nil || exists {
		return err
	}
	shown := map[string]string{}
	for c, n := range im.source.lengths {
		shown[strings.ToLower(c)] = fmt.Sprintf("varchar(%d)", n)
	}
	value, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	_, err = im.r.exec(ctx, putSQL, store.BucketColumns, store.TableKey(im.table), value)
	return err
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
