package enginetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryListIsRunOrSkipped looks for lists in the module's source that lists and skipped do not
// name, as a newer version may have.
func TestEveryListIsRunOrSkipped(t *testing.T) {
	out, err := exec.Command("go", "list", "-tags", "gms_pure_go", "-f", "{{.Dir}}", "github.com/dolthub/go-mysql-server/enginetest/queries").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"TupleQueryTests": true, "CollationCoercionSetup": true}
	for _, l := range lists() {
		if known[l.name] = true; skipped[l.name] != "" {
			t.Errorf("%s is run and skipped", l.name)
		}
	}
	found := map[string]bool{}
	for _, f := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, n := range v.Names {
					if !n.IsExported() || i >= len(v.Values) {
						continue
					}
					c, ok := v.Values[i].(*ast.CompositeLit)
					if !ok {
						continue
					}
					if _, ok := c.Type.(*ast.ArrayType); ok {
						found[n.Name] = true
						if !known[n.Name] && skipped[n.Name] == "" {
							t.Errorf("%s of %s is neither run nor skipped", n.Name, filepath.Base(f))
						}
					}
				}
			}
		}
	}
	for n := range skipped {
		if !found[n] {
			t.Errorf("%s is skipped, but there is no such list", n)
		}
	}
	if len(found) < 100 {
		t.Errorf("only %d lists found", len(found))
	}
}
