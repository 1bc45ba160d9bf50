package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/internal/client"
)

// sample has what the forms have to tell apart: NULL and the text NULL, quotes, lines, wide
// characters, control characters, big and small numbers, decimals, JSON.
var sample = client.Answer{
	Columns: []string{"city", "n", "share", "price", "doc"},
	Types:   []string{"VARCHAR", "BIGINT", "DOUBLE", "DECIMAL", "JSON"},
	Rows: [][]any{
		{"Łódź", int64(12), 0.25, "10.50", `{"a": [1, 2]}`},
		{"a \"quoted\", | text", int64(-3), 1e20, "-0.000000000000000000001", nil},
		{"two\nlines\x1b[31m", nil, 1234567.0, "7", "null"},
		{"NULL", int64(1) << 60, 1e-9, nil, "[]"},
	},
}

// charted has values on both sides of 0, intervals, none, and NULL.
var charted = client.Answer{
	Columns: []string{"city", "n", "DP_LOW(n)", "DP_HIGH(n)"},
	Types:   []string{"VARCHAR", "DOUBLE", "DOUBLE", "DOUBLE"},
	Rows: [][]any{
		{"north", 40.0, 35.0, 45.123456789},
		{"south of the river", -12.5, -20.0, -5.0},
		{"east", 30.0, nil, nil},
		{"west", nil, nil, nil},
		{nil, 0.0, 0.0, 0.0},
	},
}

func TestFormatsMatchTheirFiles(t *testing.T) {
	for _, name := range Formats() {
		a := sample
		if name == "chart" {
			a = charted
		}
		var b strings.Builder
		if err := writers[name](&b, a, 60); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join("testdata", name+".txt")
		if os.Getenv("SCRIM_REWRITE") != "" {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, b.String(), want)
		}
		if strings.Contains(b.String(), "\x1b") && name != "csv" {
			t.Errorf("%s: a control character reaches the terminal", name)
		}
	}
}

func TestChartsAreOfLabelsAndNumbers(t *testing.T) {
	for _, a := range []client.Answer{
		{Columns: []string{"n"}, Types: []string{"BIGINT"}},
		{Columns: []string{"a", "b"}, Types: []string{"BIGINT", "VARCHAR"}},
		{Columns: []string{"a", "n", "m"}, Types: []string{"VARCHAR", "BIGINT", "BIGINT"}},
	} {
		err := writeChart(&strings.Builder{}, a, 80)
		if err == nil || !strings.Contains(err.Error(), "this answer has "+columnsOf(a)) {
			t.Errorf("%v: got %v", a.Columns, err)
		}
	}
}
