package lake

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pinOf(t *testing.T, root string, pattern string) ([]string, error) {
	t.Helper()
	roots, err := NewRoots([]string{root}, "/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	p, err := roots.Pattern(roots[0] + "/" + pattern)
	if err != nil {
		return nil, err
	}
	pin, err := p.Pin()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range pin.Paths() {
		names = append(names, strings.TrimPrefix(path, roots[0]+"/"))
	}
	return names, nil
}

func TestPatterns(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"a.parquet", "b.csv", "x/a.parquet", "x/y/ab.parquet", "x/y/z/b.parquet", "q/w*d.parquet"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"*.parquet":          "a.parquet",
		"x/*.parquet":        "x/a.parquet",
		"x/**/*.parquet":     "x/a.parquet x/y/ab.parquet x/y/z/b.parquet",
		"x/**/b.parquet":     "x/y/z/b.parquet",
		"x/**/**/a*.parquet": "x/a.parquet x/y/ab.parquet",
		"*/y/*.parquet":      "x/y/ab.parquet",
		"a.parquet":          "a.parquet",
		"none/*.parquet":     "lake: no file matches",
		"q/*.parquet":        "misread",
		"x/../a.parquet":     "is not a name",
		"x/[ab].parquet":     "is not a name",
		"x//a.parquet":       "is not a name",
		"x/a**.parquet":      "is not a name",
		"b.csv":              "does not end with .parquet",
	} {
		names, err := pinOf(t, root, pattern)
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	for _, link := range []string{"x/link", "x/l.parquet"} {
		if err := os.Symlink(filepath.Join(root, "q"), filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
		if names, err := pinOf(t, root, "x/**/*.parquet"); err == nil {
			t.Errorf("followed %s: %v", link, names)
		}
		os.Remove(filepath.Join(root, link))
	}
	if _, err := NewRoots([]string{"/"}, "/nowhere"); err == nil {
		t.Error("/ is a root")
	}
	for _, own := range []string{root, filepath.Join(root, "data"), filepath.Dir(root)} {
		if _, err := NewRoots([]string{root}, own); err == nil {
			t.Errorf("a root beside the server's own %s", own)
		}
	}
}

// TestOverlaps compares Overlaps with paths that match both of two random patterns: whatever such a
// path shows, Overlaps says. That it says no more than it has to is tested by examples.
func TestOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(letters string, n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	found := 0
	for range 60000 {
		segments := func(letters string) string {
			var out []string
			for range 1 + r.IntN(3) {
				if s := text(letters, 4); s != "" && !strings.Contains(s, "**") {
					out = append(out, s)
				} else {
					out = append(out, "**")
				}
			}
			return strings.Join(append(out, text(letters, 3)+"a"), "/")
		}
		a, b := segments("ab*"), segments("ab*")
		path := strings.ReplaceAll(segments("ab"), "**", "ab")
		if Overlaps(a, path) && Overlaps(path, b) {
			if found++; !Overlaps(a, b) || !Overlaps(b, a) {
				t.Fatalf("%s matches %s and %s, which do not overlap", path, a, b)
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d paths matched two patterns", found)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"/l/orders/*.parquet", "/l/customers/*.parquet", false},
		{"/l/orders_*.parquet", "/l/customers_*.parquet", false},
		{"/l/orders/**/*.parquet", "/l/orders/day=1/a.parquet", true},
		{"/l/**/a.parquet", "/l/x/b.parquet", false},
		{"/l/*/a.parquet", "/l/**/*.parquet", true},
		{"/l/*.parquet", "/l/x/*.parquet", false},
	} {
		if got := Overlaps(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

func TestPartitions(t *testing.T) {
	pattern := Pattern{Root: "/l", Below: []string{"**", "*.parquet"}}
	for paths, want := range map[string]string{
		"/l/n=1/a.parquet /l/n=-20/a.parquet":                       "n BIGINT",
		"/l/d=2025-01-31/a.parquet /l/d=2025-02-28/a.parquet":       "d DATE",
		"/l/d=2025-01-31/a.parquet /l/d=2025-02-30/a.parquet":       "d VARCHAR",
		"/l/x=1/a.parquet /l/x=2025-02-28/a.parquet":                "x VARCHAR",
		"/l/x=2025-02-28/a.parquet /l/x=1/a.parquet":                "x VARCHAR",
		"/l/a=1/b=z/a.parquet /l/a=" + hiveNull + "/b=3/a.parquet":  "a BIGINT, b VARCHAR",
		"/l/a.parquet /l/b.parquet":                                 "",
		"/l/a=1/a.parquet /l/b.parquet":                             "do not name the same columns",
		"/l/a=1/b=1/a.parquet /l/b=1/a=1/b.parquet":                 "do not name the same columns",
		"/l/a=1=2/a.parquet":                                        "do not name the same columns",
		"/l/a b=1/a.parquet":                                        "do not name the same columns",
		"/l/n=1/a.parquet /l/n=1234567890123456789012345/a.parquet": "n VARCHAR",
	} {
		pin := &Pin{pattern: pattern}
		if strings.Contains(paths, "a b") {
			pin.Files = []File{{Path: paths}}
		} else {
			for _, p := range strings.Fields(paths) {
				pin.Files = append(pin.Files, File{Path: p})
			}
		}
		columns, err := pin.Partitions()
		var list []string
		for _, c := range columns {
			list = append(list, c.Name+" "+c.Type)
		}
		got := strings.Join(list, ", ")
		if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", paths, got, err, want)
		}
		if err == nil && pin.Partitioned(columns) != nil {
			t.Errorf("%s: its own columns do not fit", paths)
		}
	}
}
