package layout

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// knotLimits bound, for a part of the tree, the largest knot of each of its packages. A knot is a
// set of files each of which uses all the others, if only through others: nothing in it can be read
// alone. The last matching prefix counts.
var knotLimits = []struct {
	under string
	files int
}{
	{"scrim", 33},
	{"scrim/planner", 20},
	{"scrim/accounting", 15},
}

// engineRootKnot bounds the knot of the package that assembles the server.
const engineRootKnot = 8

func TestPackagesHaveAnOrderInside(t *testing.T) {
	exported := exportData(t)
	checked := 0
	for _, p := range modulePackages(t) {
		limit := 0
		for _, l := range knotLimits { // from the widest to the narrowest
			if under(p.ImportPath, l.under) {
				limit = l.files
			}
		}
		if p.ImportPath == "scrim/engine" {
			limit = engineRootKnot
		}
		if limit == 0 || len(p.GoFiles) <= limit {
			continue
		}
		checked++
		if knot := largestKnot(fileUses(t, p, exported)); len(knot) > limit {
			t.Errorf("%s: %d of %d files all use each other, at most %d are wanted: %s",
				p.ImportPath, len(knot), len(p.GoFiles), limit, strings.Join(knot, " "))
		}
	}
	if checked == 0 {
		t.Error("no package was large enough to be looked at")
	}
}

// TestKnotsAreFound: three files in a ring and one beside it.
func TestKnotsAreFound(t *testing.T) {
	knot := largestKnot(map[string]map[string]bool{
		"a.go": {"b.go": true}, "b.go": {"c.go": true, "d.go": true}, "c.go": {"a.go": true}, "d.go": {},
	})
	if len(knot) != 3 {
		t.Errorf("found %v, want a, b and c", knot)
	}
}

// exportData maps each package that the module builds on to the compiler's file about it.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-tags", tags, "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "scrim/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if path, file, _ := strings.Cut(s.Text(), "\t"); file != "" {
			files[path] = file
		}
	}
	return files
}

// fileUses returns, for each file of a package, the files whose declarations it names. A field's
// name does not count: what has the field does.
func fileUses(t *testing.T, p goPackage, exported map[string]string) map[string]map[string]bool {
	t.Helper()
	set := token.NewFileSet()
	uses := map[string]map[string]bool{}
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		uses[name] = map[string]bool{}
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", lookup), FakeImportC: true}
	pkg, err := config.Check(p.ImportPath, set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for at, used := range info.Uses {
		if v, ok := used.(*types.Var); used.Pkg() != pkg || ok && v.IsField() {
			continue
		}
		from, to := set.Position(at.Pos()).Filename, set.Position(used.Pos()).Filename
		uses[filepath.Base(from)][filepath.Base(to)] = true
	}
	return uses
}

// largestKnot returns the files of the largest strongly connected part, at least one.
func largestKnot(uses map[string]map[string]bool) []string {
	var names []string
	ids := map[string]int64{}
	g := simple.NewDirectedGraph()
	for name := range uses {
		ids[name] = int64(len(names))
		names = append(names, name)
		g.AddNode(simple.Node(ids[name]))
	}
	for from, all := range uses {
		for to := range all {
			if from != to {
				g.SetEdge(g.NewEdge(simple.Node(ids[from]), simple.Node(ids[to])))
			}
		}
	}
	var largest []string
	for _, part := range topo.TarjanSCC(g) {
		if len(part) <= len(largest) {
			continue
		}
		largest = nil
		for _, n := range part {
			largest = append(largest, names[n.ID()])
		}
	}
	slices.Sort(largest)
	return largest
}
