package infile

import (
	"errors"
	"io"
	"strings"
	"testing"

	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/store"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/rs/zerolog"
)

// TestFaultIsOfARow: an error about a value names its row, and one of disk, memory or other
// transactions stays what it is.
func TestFaultIsOfARow(t *testing.T) {
	f := &File{
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("1\n2\n")), nil },
		Format: Format{fieldEnd: []byte("\t"), lineEnd: []byte("\n"), escape: '\\'}, Fields: []int{0},
	}
	for range 2 {
		if _, err := f.Next(sql.NewEmptyContext()); err != nil {
			t.Fatal(err)
		}
	}
	full := &store.Error{Kind: store.DiskFull}
	for kind, want := range map[store.Kind]int{
		store.BadValue: 1366, store.DuplicateKey: 1062, store.NotNull: 1048,
		store.DiskFull: 1021, store.OutOfMemory: 1041, store.Conflict: 1213, store.InDoubt: 1180, store.Halted: 1836, store.Damaged: 1836, store.Corrupt: 1194,
	} {
		err := (&mysqlerr.Translator{Log: zerolog.Nop()}).Public(f.Fault(&store.Error{Kind: kind, Cause: full}), mysqlerr.Context{})
		own, ok := mysqlerr.AsSQLError(err)
		if !ok || own.Num != want {
			t.Errorf("%v: got %v, want number %d", kind, err, want)
		}
		if names := strings.Contains(err.Error(), "row 2"); names != (want == 1366 || want == 1062 || want == 1048) {
			t.Errorf("%v: %v", kind, err)
		}
	}
	if err := f.Fault(io.ErrClosedPipe); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("another error: %v", err)
	}
}
