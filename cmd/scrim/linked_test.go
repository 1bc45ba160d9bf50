package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// vendored are the namespaces that DuckDB gives the libraries of others within it, by the names
// that deploy/linked.md has for them; "" is DuckDB's own.
var vendored = map[string]string{
	"parquet": "", "adbc": "ADBC", "apache": "Thrift", "brotli": "Brotli", "fast_float": "fast_float", "fastpforlib": "FastPFor", "fmt": "fmt", "hll": "HyperLogLog",
	"httplib": "cpp-httplib", "jaro_winkler": "jaro_winkler", "libpgquery": "libpg_query", "lz4": "LZ4", "mbedtls": "Mbed TLS", "miniz": "miniz",
	"moodycamel": "concurrentqueue", "nanoarrow": "nanoarrow", "pdqsort": "pdqsort", "re2": "RE2", "ska_sort": "ska_sort", "skiplistlib": "skip list",
	"snappy": "Snappy", "tdigest": "t-digest", "vergesort": "vergesort", "yyjson": "yyjson", "zstd": "Zstandard",
}

// TestLinkedLibrariesAreNamed: what is in DuckDB's prebuilt library by a namespace of its own has a
// licence in deploy/linked.md.
func TestLinkedLibrariesAreNamed(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/duckdb/duckdb-go-bindings/lib/linux-amd64").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.a"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d libraries, %v", len(files), err)
	}
	found, table := map[string]bool{}, deployed(t, "linked.md")
	mangled := regexp.MustCompile(`N(\d{1,2})(duckdb_[a-z_0-9]+)`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mangled.FindAllSubmatch(b, -1) {
			if n, _ := strconv.Atoi(string(m[1])); n <= len(m[2]) {
				found[strings.TrimPrefix(string(m[2][:n]), "duckdb_")] = true
			}
		}
	}
	for name := range found {
		if text, known := vendored[name]; !known || !strings.Contains(table, text) {
			t.Errorf("DuckDB's library has %q, which deploy/linked.md does not name with its licence", name)
		}
	}
	for name := range vendored {
		if !found[name] {
			t.Errorf("DuckDB's library has no %q any more", name)
		}
	}
}
