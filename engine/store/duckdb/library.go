package duckdb

// extern const char *duckdb_library_version(void);
import "C"

// LibraryVersion is the version of the DuckDB that is linked in, for example v1.4.1. The driver's
// own function frees the text, which is a constant of the library.
func LibraryVersion() string { return C.GoString(C.duckdb_library_version()) }
