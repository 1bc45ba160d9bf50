package duckdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scrim/engine/store"
)

// bucketImports has, under a table's key, the files that were imported into it, as JSON.
const bucketImports = "imports"

// imported is a file that is in a table.
type importedFile struct {
	SHA256 string    `json:"sha256"`
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
}

// Repeated tells that a file is in the table already. Nothing was imported.
type Repeated struct {
	File, As string // the file, and its name when it was imported
	At       time.Time
}

// Error tells when it was.
func (r *Repeated) Error() string {
	as := ""
	if r.As != filepath.Base(r.File) {
		as = " as " + r.As
	}
	return fmt.Sprintf("%s was imported%s on %s", r.File, as, r.At.UTC().Format("2006-01-02 15:04 UTC"))
}

// record is what the table's list of files will be; *Repeated where a file would come twice.
func (im *importer) record(ctx context.Context, exists bool) ([]importedFile, error) {
	var list []importedFile
	if exists && im.o.Mode == ImportAppend {
		var err error
		if list, err = im.c.importedInto(ctx, im.table); err != nil {
			return nil, err
		}
	}
	for _, path := range im.source.paths {
		sum, err := sumOf(path)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(f importedFile) bool { return f.SHA256 == sum })
		if i >= 0 && !im.o.Again {
			return nil, &Repeated{File: path, As: list[i].Name, At: list[i].At}
		}
		list = append(list, importedFile{SHA256: sum, Name: filepath.Base(path), At: time.Now().UTC()})
	}
	return list, nil
}

// importedInto is the list of files that are in a table: none of one without rows, which was
// emptied or made anew since.
func (c *conn) importedInto(ctx context.Context, table store.TableRef) (list []importedFile, err error) {
	value, ok, err := c.get(ctx, bucketImports, store.TableKey(table))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := c.collect(ctx, "SELECT 1 FROM "+quoteRef(table)+" LIMIT 1")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, internal("the list of imported files is damaged")
	}
	return list, nil
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keep notes in the open transaction which files the table has, and of a new table the lengths of
// its texts.
func (im *importer) keep(ctx context.Context, exists bool, files []importedFile) error {
	value, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if _, err := im.r.exec(ctx, putSQL, bucketImports, store.TableKey(im.table), value); err != nil || exists {
		return err
	}
	shown := map[string]string{}
	for c, n := range im.source.lengths {
		shown[strings.ToLower(c)] = fmt.Sprintf("varchar(%d)", n)
	}
	if value, err = json.Marshal(shown); err != nil {
		return err
	}
	_, err = im.r.exec(ctx, putSQL, store.BucketColumns, store.TableKey(im.table), value)
	return err
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
