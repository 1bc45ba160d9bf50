//go:build !linux

package duckdb

// giveBack does nothing where DuckDB allocates with the system's allocator.
func giveBack() {}
