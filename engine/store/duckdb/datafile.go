package duckdb

// extern const char *duckdb_library_version(void);
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// Messages of DuckDB's about a damaged block of the data file, and about a file that ends too
// early. Only positions, in bytes, are taken out of them.
var (
	damagedBlock = regexp.MustCompile(`^(?:[A-Za-z]+ Error: |.*: IO Error: )?Corrupt database file: .* in block at location (\d+)`)
	cutShort     = regexp.MustCompile(`^(?:[A-Za-z]+ Error: |.*: IO Error: )?Could not read enough bytes from file ".*data\.duckdb": attempted to read \d+ bytes from location (\d+)`)
)

// damagedAt finds the damaged byte of the data file in a message of DuckDB's. ok is false if the
// message is about something else.
func damagedAt(msg string) (at int64, ok bool) {
	for _, form := range []*regexp.Regexp{damagedBlock, cutShort} {
		if m := form.FindStringSubmatch(msg); m != nil {
			at, err := strconv.ParseInt(m[1], 10, 64)
			return at, err == nil
		}
	}
	return 0, false
}

// corrupt makes e an error about a damaged file, where the message of DuckDB's is about one.
func corrupt(e *store.Error, msg string) bool {
	at, ok := damagedAt(msg)
	if ok {
		e.Kind, e.At, e.Detail = store.Corrupt, at, fmt.Sprintf("data.duckdb, the block at byte %d", at)
	}
	return ok
}

// DamagedAt returns the byte at which the data file is damaged. ok is false if err, which a
// function of this package returned, is about something else.
func DamagedAt(err error) (at int64, ok bool) {
	var e *store.Error
	switch {
	case err == nil:
		return 0, false
	case errors.As(err, &e):
		return e.At, e.Kind == store.Corrupt
	}
	return damagedAt(err.Error())
}

// The beginning of a DuckDB file: a checksum of 8 bytes, "DUCK", the storage version and flags of
// five times 8 bytes, and the text of the version of DuckDB that made the file, of 32 bytes.
const (
	magic      = "DUCK"
	magicAt    = 8
	madeByAt   = magicAt + len(magic) + 5*8
	madeByLong = 32
)

// MadeBy returns which version of DuckDB made the file at path, such as v1.4.1, without opening it
// as a database: "" where it does not say so. A later version that opens the file leaves this as it
// is. It must not be called while the process has the store open: closing a file gives its locks
// back.
func MadeBy(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("duckdb: %w", err)
	}
	defer f.Close()
	head := make([]byte, madeByAt+madeByLong)
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("duckdb: %w", err)
	}
	if string(head[magicAt:magicAt+len(magic)]) != magic {
		return "", nil
	}
	text, _, _ := bytes.Cut(head[madeByAt:], []byte{0})
	return string(text), nil
}

// LibraryVersion is the version of the DuckDB that is linked in, for example v1.4.1. The driver's
// own function frees the text, which is a constant of the library.
func LibraryVersion() string { return C.GoString(C.duckdb_library_version()) }

// TablesAt lists the tables with rows in the block at a byte of the data file. Tables whose
// description cannot be read are left out.
func (s *Store) TablesAt(ctx context.Context, at int64) (names []string) {
	_ = s.use(func(keeper *conn) error {
		size, err := keeper.collect(ctx, "SELECT block_size FROM pragma_database_size() WHERE database_name = current_database()")
		if err != nil || len(size) == 0 {
			return err
		}
		block, _ := size[0][0].(int64)
		tables, err := keeper.collect(ctx, "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary ORDER BY ALL")
		if err != nil || block == 0 {
			return err
		}
		for _, t := range tables {
			ref := store.TableRef{Schema: t[0].(string), Name: t[1].(string)}
			rows, err := keeper.collect(ctx, "SELECT count(*) FROM pragma_storage_info("+sqltext.StoreText(sqltext.StoreName(ref.Schema)+"."+sqltext.StoreName(ref.Name))+
				") WHERE block_id = $1 OR list_contains(additional_block_ids, $1)", (at-firstBlock)/block)
			there := err == nil && rows[0][0] != int64(0)
			if err != nil { // it may have looked into that block
				damaged, ok := damagedAt(err.Error())
				there = ok && damaged == at
			}
			if there && ref.Schema != hidden {
				names = append(names, ref.String())
			}
		}
		return nil
	})
	return names
}

// firstBlock is where the blocks begin, behind three headers of 4096 bytes.
const firstBlock = 3 * 4096
