package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkOf    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingOf = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	blockOf   = regexp.MustCompile("(?ms)^```.*?^```$")
	unwanted  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that a document's headings may be linked by.
func anchors(document string) map[string]bool {
	out := map[string]bool{}
	for _, h := range headingOf.FindAllStringSubmatch(blockOf.ReplaceAllString(document, ""), -1) {
		out[strings.ReplaceAll(unwanted.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return out
}

// TestLinks: what a document links to within the tree is there, with its heading.
func TestLinks(t *testing.T) {
	root, links := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (strings.HasPrefix(name, ".") && len(name) > 2 || name == "node_modules" || name == "bin") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range linkOf.FindAllStringSubmatch(blockOf.ReplaceAllString(string(text), ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			links++
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			there, err := os.Stat(to)
			if err != nil {
				t.Errorf("%s: nothing is at %s", path, m[1])
				continue
			}
			if anchor == "" || there.IsDir() {
				continue
			}
			target, err := os.ReadFile(to)
			if err != nil {
				return err
			}
			if !anchors(string(target))[anchor] {
				t.Errorf("%s: no heading is %s", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// TestREADMEIsShort: what does not fit has a page of its own.
func TestREADMEIsShort(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 12<<10 {
		t.Errorf("%d bytes, at most 12 KB are wanted", len(b))
	}
}
