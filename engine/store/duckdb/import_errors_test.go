package duckdb

import (
	"compress/gzip"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Files that cannot be read are told in our words, wherever the reader notices it.
func TestImportSaysWhatIsWrong(t *testing.T) {
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte("a,b\n" + strings.Repeat("1,2\n", 20_000)))
	must(t, err)
	must(t, z.Close())
	e, err := zstd.NewWriter(nil)
	must(t, err)
	packed := string(e.EncodeAll([]byte("a,b\n"+strings.Repeat("1,2\n", 20_000)), nil))
	foreign := regexp.MustCompile(`Error:|LINE \d|read_|store:|union_by_name|sample_size`)
	for _, c := range []struct {
		name, text, want string
		types            map[string]string
	}{
		{"a.ndjson", "{\"a\":1}\n{\"a\":\n", "a.ndjson:3: this is no JSON: unexpected end of data", nil},
		{"a.json", `[{"a":1},{"a":2`, "value 3: this is no JSON", nil},
		{"a.json", "not json", "this is no JSON: invalid literal", nil},
		{"a.ndjson", "{\"a\":1}\n{\"a\":\"x\"}\n", `column a: "x" does not fit the type`, map[string]string{"a": "BIGINT"}},
		{"a.ndjson", "{\"a\":\"x\"}\n", "column a: 'x' is no", map[string]string{"a": "BIGINT"}},
		{"a.parquet", "PAR1 and no more", "is no Parquet file, or its end is missing", nil},
		{"a.csv.gz", "junk of a page\n", "is not compressed by gzip", nil},
		{"a.csv.gz", zipped.String()[:zipped.Len()-20], "its end is missing", nil},
		{"a.csv.zst", "junk of a page\n", "not compressed by zstd", nil},
		{"a.csv.zst", packed[:len(packed)-4], "its end is missing", nil},
		{"a.csv", "", "is empty", nil},
		{"a.csv", "a,b\n1,2\n3\n4,5\n", "a.csv:3: column b: the columns are 2, and this line has 1", nil},
		{"a.csv", "a,b\n1,x\xff\n", "a.csv:2: column b: this is not UTF-8", nil},
		{"a.csv", "a,d\n1,2024-02-30\n", `a.csv:2: column d: "2024-02-30" is no DATE`, map[string]string{"d": "DATE"}},
		{"a.csv", "a\n1\n", "there is no type NOSUCH", map[string]string{"a": "NOSUCH"}},
	} {
		_, err := ImportFile(context.Background(), filepath.Join(t.TempDir(), "rows.duckdb"), testFile(t, c.name, c.text), visits, ImportOptions{Types: c.types}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || foreign.MatchString(err.Error()) {
			t.Errorf("%s %.20q: got %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

// Rows that are streamed are those that an import has, and its errors too; what is read for a table
// is read by its types.
func TestStreamFile(t *testing.T) {
	read := func(file string, o ImportOptions) (string, Import, error) {
		var b strings.Builder
		im, err := StreamFile(context.Background(), file, o, func(Described) error { return nil },
			func(line []byte) error { b.Write(line); return nil }, nil)
		return b.String(), im, err
	}
	file := testFile(t, "a.csv", "a,b,c,d\n007,\"x\ty\\\n\",true,2024-01-02 03:04:05.5\n8,,,\n")
	lines, im, err := read(file, ImportOptions{Into: map[string]string{"A": "VARCHAR"}})
	must(t, err)
	equal(t, "lines", lines, "007\tx\\ty\\\\\\n\t1\t2024-01-02 03:04:05.5\n8\t\\N\t\\N\t\\N\n")
	equal(t, "rows", im.Rows, int64(2))
	if _, _, err = read(testFile(t, "b.csv", "a\n1\nx\n"), ImportOptions{Types: map[string]string{"a": "BIGINT"}}); err == nil {
		t.Error("a line that cannot be read was left out")
	}
	if _, _, err = read(testFile(t, "v.ndjson", `{"v":[1,2]}`), ImportOptions{}); err == nil || !strings.Contains(err.Error(), "DOUBLE[3]") {
		t.Errorf("lists without a length: %v", err)
	}
}
