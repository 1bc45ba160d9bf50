//go:build linux

package duckdb

/*
#include <stddef.h>

// Of jemalloc, which DuckDB allocates with on Linux: as its header declares it.
extern int duckdb_je_mallctl(const char *name, void *old, size_t *old_size, void *value, size_t size);

// 4096 stands for all arenas (MALLCTL_ARENAS_ALL).
static void give_back(void) { duckdb_je_mallctl("arena.4096.purge", NULL, NULL, NULL, 0); }
*/
import "C"

// giveBack returns the memory that DuckDB has freed to the operating system. By itself the
// allocator keeps it for a second or more, beside DuckDB's memory limit, and statements that end
// one after the other would leave several times as much as each may take.
func giveBack() { C.give_back() }
