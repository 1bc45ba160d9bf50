package duckdb

import (
	"context"
	"errors"
	"fmt"
	"testing"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// What a test can hardly bring about, by DuckDB's wording.
func TestClassifyByWording(t *testing.T) {
	tests := []struct {
		typ  duckdb.ErrorType
		msg  string
		want store.Kind
	}{
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: could not allocate block of size 256.0 KiB (953.6 MiB/953.6 MiB used)", store.OutOfMemory},
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: failed to offload data block of size 256.0 KiB (1.0 GiB/1.0 GiB used).\nThis limit was set by the 'max_temp_directory_size' setting.", store.DiskFull},
		{duckdb.ErrorTypeIO, "IO Error: Could not write all bytes to file \"x.wal\": wanted=4096 wrote=0: No space left on device", store.DiskFull},
		{duckdb.ErrorTypeIO, "IO Error: Could not read enough bytes", store.Internal},
		{duckdb.ErrorTypeTransaction, "TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint violation: duplicate key \"1\"", store.DuplicateKey},
		{duckdb.ErrorTypeTransaction, "TransactionContext Error: Failed to commit: write-write conflict on key: \"1\"", store.Conflict},
		{duckdb.ErrorTypeTransaction, "TransactionContext Error: Current transaction is aborted (please ROLLBACK)", store.Aborted},
		{duckdb.ErrorTypeCatalog, "Catalog Error: Catalog write-write conflict on create with \"t\"", store.Conflict},
		{duckdb.ErrorTypeFatal, "FATAL Error: Failed: database has been invalidated because of a previous fatal error", store.Damaged},
		{duckdb.ErrorTypeNotImplemented, "Not implemented Error: x", store.Unsupported},
		{duckdb.ErrorTypeInternal, "INTERNAL Error: assertion", store.Internal},
		{duckdb.ErrorTypeInvalid, "?", store.Internal},
	}
	for _, tt := range tests {
		err := classify(context.Background(), fmt.Errorf("wrapped: %w", &duckdb.Error{Type: tt.typ, Msg: tt.msg}))
		e := wantKind(t, tt.msg, err, tt.want)
		equal(t, "driver text", e.Driver, tt.msg)
		equal(t, "public text", e.Error(), "store: "+tt.want.String())
		equal(t, "crowded", store.Crowded(err), tt.want == store.OutOfMemory || tt.want == store.DiskFull)
	}
}

// The detail of what ran out holds sizes and nothing else of the message.
func TestDetail(t *testing.T) {
	tests := []struct {
		typ       duckdb.ErrorType
		msg, want string
	}{
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: could not allocate block of size 256.0 KiB (953.6 MiB/953.6 MiB used)\n\nPossible solutions: topsecret",
			"out of memory: wanted 256.0 KiB, 953.6 MiB of 953.6 MiB in use"},
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: failed to pin block of size 256.0 KiB (95.4 MiB/95.3 MiB used)",
			"out of memory: wanted 256.0 KiB, 95.4 MiB of 95.3 MiB in use"},
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: failed to allocate data of size 512.0 MiB (0 bytes/244.1 MiB used)",
			"out of memory: wanted 512.0 MiB, 0 bytes of 244.1 MiB in use"},
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: failed to offload data block of size 256.0 KiB (46.0 MiB/46.0 MiB used).\nThis limit was set by the 'max_temp_directory_size' setting.",
			"disk full: wanted 256.0 KiB, 46.0 MiB of 46.0 MiB in use"},
		{duckdb.ErrorTypeIO, "IO Error: Could not write file \"/srv/topsecret\": No space left on device", "disk full"},
		{duckdb.ErrorTypeOutOfMemory, "Out of Memory Error: of size topsecret KiB (topsecret/1.0 GiB used)", "out of memory"},
		{duckdb.ErrorTypeConversion, "Conversion Error: of size 1.0 KiB", ""},
	}
	for _, tt := range tests {
		equal(t, tt.msg, detailOf(classify(context.Background(), &duckdb.Error{Type: tt.typ, Msg: tt.msg})), tt.want)
	}
	equal(t, "no error", detailOf(nil), "")
}

func TestClassifyTextOnly(t *testing.T) {
	tests := []struct {
		msg  string
		want store.Kind
	}{
		{"database/sql/driver: could not append row: Constraint Error: Duplicate key \"IO Error: x\" violates unique constraint", store.DuplicateKey},
		{"database/sql/driver: Conversion Error: Could not convert string 'Constraint Error: NOT NULL constraint' to INT32", store.BadValue},
		{"anything else", store.Internal},
	}
	for _, tt := range tests {
		wantKind(t, tt.msg, classify(context.Background(), errors.New(tt.msg)), tt.want)
	}
	if classify(context.Background(), nil) != nil {
		t.Error("no error became one")
	}
	equal(t, "kind of a foreign error", store.KindOf(errors.New("x")), store.Internal)
	equal(t, "kind of a context's error", store.KindOf(context.DeadlineExceeded), store.Interrupted)
}

// detailOf returns the detail of a store error, "" where there is none.
func detailOf(err error) string {
	var e *store.Error
	if errors.As(err, &e) {
		return e.Detail
	}
	return ""
}
