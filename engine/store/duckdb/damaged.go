package duckdb

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"scrim/engine/store"
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
