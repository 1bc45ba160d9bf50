package duckdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

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
