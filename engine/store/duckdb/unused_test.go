//go:build linux

package duckdb

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestStatementsGiveMemoryBack: what a heavy statement took is the system's again when it has
// ended, not after the allocator's own time.
func TestStatementsGiveMemoryBack(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2, MemoryLimit: "512MiB"})
	before := residentMiB(t)
	equal(t, "groups", ask(t, s, "SELECT count(*) FROM (SELECT DISTINCT hash(range) FROM range(4000000))"), int64(4_000_000))
	if after := residentMiB(t); after > before+48 {
		t.Errorf("%d MiB were resident before a statement and %d MiB after it", before, after)
	}
}

// residentMiB is the memory of this process.
func residentMiB(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
