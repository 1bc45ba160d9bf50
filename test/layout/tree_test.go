package layout

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the module's directory as seen from this package's tests.
const root = "../.."

// treeFiles returns the text files of the tree by their slash path from the module's directory.
// Hidden directories other than .ci, and the built binary's, are not part of it.
func treeFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "bin" || strings.HasPrefix(name, ".") && name != ".ci" && p != root {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil || !utf8.Valid(b) {
			return err
		}
		rel, err := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files["go.mod"] == "" {
		t.Fatalf("no go.mod among %d files", len(files))
	}
	return files
}

// documents are the Markdown files among files.
func documents(files map[string]string) map[string]string {
	docs := map[string]string{}
	for name, text := range files {
		if strings.HasSuffix(name, ".md") {
			docs[name] = text
		}
	}
	return docs
}

func exists(p string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
	return err == nil
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestRelativeLinksLeadSomewhere(t *testing.T) {
	n := 0
	for name, text := range documents(treeFiles(t)) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			n++
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			if !exists(target) {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
				continue
			}
			if heading != "" && !slices.Contains(headings(t, target), heading) {
				t.Errorf("%s links to %s, but there is no such heading", name, m[1])
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d relative links found", n)
	}
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// headings returns the anchors of a document's headings.
func headings(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			anchor := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			out = append(out, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	return out
}

var quoted = regexp.MustCompile("`([.A-Za-z][-A-Za-z0-9_./]*)`")

// TestNamedPathsExist checks every quoted word of the documents that begins with a directory of the
// tree; it may also be meant from the document's own directory.
func TestNamedPathsExist(t *testing.T) {
	top, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, d := range top {
		if d.IsDir() {
			dirs = append(dirs, d.Name())
		}
	}
	n := 0
	for name, text := range documents(treeFiles(t)) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			named := strings.TrimSuffix(strings.TrimPrefix(m[1], "./"), "/...")
			first, _, deep := strings.Cut(named, "/")
			if !deep || !slices.Contains(dirs, first) || first == "bin" {
				continue
			}
			n++
			if !exists(named) && !exists(path.Join(path.Dir(name), named)) {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d named paths found", n)
	}
}

var citation = regexp.MustCompile(`\[[A-Z][A-Za-z+]*[0-9]{2}[a-z]?\]`)

func TestCitedReferencesAreListed(t *testing.T) {
	files := treeFiles(t)
	listed := citation.FindAllString(files["docs/references.md"], -1)
	if len(listed) < 3 {
		t.Fatalf("only %d references listed", len(listed))
	}
	n := 0
	for name, text := range files {
		if name == "docs/references.md" || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, key := range citation.FindAllString(text, -1) {
			if n++; !slices.Contains(listed, key) {
				t.Errorf("%s cites %s, which docs/references.md does not list", name, key)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d citations found", n)
	}
}

// TestNoPathsOfAMachine keeps directories that exist on one machine only out of the tree.
func TestNoPathsOfAMachine(t *testing.T) {
	// Put together here, so that this file does not hold them.
	private := regexp.MustCompile(`(^|[^A-Za-z0-9_.-])/(` + strings.Join([]string{"work", "root", "home", "Users"}, "|") + `)/[A-Za-z]`)
	for name, text := range treeFiles(t) {
		for i, line := range strings.Split(text, "\n") {
			if private.MatchString(line) {
				t.Errorf("%s:%d mentions a path of a machine: %s", name, i+1, strings.TrimSpace(line))
			}
		}
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
