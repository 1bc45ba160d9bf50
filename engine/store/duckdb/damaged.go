package duckdb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// A message of DuckDB's that tells that a block of the data file is not what was written, or that
// the file ends before it. Numbers of bytes are all that is taken out of it.
var (
	damagedBlock = regexp.MustCompile(`^(?:[A-Za-z]+ Error: |.*: IO Error: )?Corrupt database file: .* in block at location (\d+)`)
	cutShort     = regexp.MustCompile(`^(?:[A-Za-z]+ Error: |.*: IO Error: )?Could not read enough bytes from file ".*data\.duckdb": attempted to read \d+ bytes from location (\d+)`)
)

// damagedAt returns at which byte the data file is damaged, by a message of DuckDB's; ok is false
// where the message is about something else.
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

// DamagedAt returns at which byte the data file is damaged, where an error of this package, from
// opening on, says that it is.
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

// TablesAt returns the tables that have rows in the block at that byte of the data file, as far as
// what describes them can be read.
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
