package strict

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dirs are the packages whose results must have the same bits everywhere.
var dirs = []string{".", "../../mix", "../../blanket", "../../skellam"}

// mathAllowed are the functions of package math that are exact, or rounded as IEEE 754 says, on
// every machine.
var mathAllowed = []string{"Sqrt", "Floor", "Ceil", "Frexp", "Ldexp", "Inf", "NaN", "IsInf", "IsNaN", "Nextafter", "Abs", "Float64bits", "Max", "Min", "Trunc"}

// stubs has the types of what the packages import; what comes from anywhere else has no known type
// and counts as a float.
var stubs = map[string]string{
	"math": "func Sqrt(float64) float64; func Floor(float64) float64; func Ceil(float64) float64; func Ldexp(float64, int) float64; func Frexp(float64) (float64, int)",
	"scrim/engine/collections/collect/internal/strict": "func Exp(float64) float64; func Rest(float64) float64; func Log(float64) float64; func Log1p(float64) float64",
}

type stubImporter struct{}

func (stubImporter) Import(path string) (*types.Package, error) {
	fset, name := token.NewFileSet(), path[strings.LastIndex(path, "/")+1:]
	f, err := parser.ParseFile(fset, name, "package "+name+"\n"+stubs[path], 0)
	if err != nil {
		return nil, err
	}
	conf := types.Config{Error: func(error) {}} // the functions have no bodies
	p, _ := conf.Check(path, fset, []*ast.File{f}, nil)
	return p, nil
}

// complaints checks a package's files: a product that may be of floats is the whole argument of a
// conversion to float64, and of package math only what is allowed is called.
func complaints(fset *token.FileSet, files []*ast.File) (out []string) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: stubImporter{}, Error: func(error) {}}
	_, _ = conf.Check("p", fset, files, info) // what is unknown counts as a float
	for _, f := range files {
		rounded := map[ast.Expr]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "float64" && len(n.Args) == 1 {
					rounded[n.Args[0]] = true
				}
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "math" && info.Types[n].Value == nil && !constant(n.Sel.Name) && !slices.Contains(mathAllowed, n.Sel.Name) {
					out = append(out, fmt.Sprintf("%v: math.%s may differ between machines", fset.Position(n.Pos()), n.Sel.Name))
				}
			case *ast.BinaryExpr:
				if n.Op == token.MUL && !rounded[n] && mayBeFloat(info, n) {
					out = append(out, fmt.Sprintf("%v: product not rounded by float64()", fset.Position(n.Pos())))
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && mayBeFloat(info, n.Lhs[0]) {
					out = append(out, fmt.Sprintf("%v: *= is not rounded by float64()", fset.Position(n.Pos())))
				}
			}
			return true
		})
	}
	return out
}

// constant tells the constants of package math that the packages use.
func constant(name string) bool {
	return slices.Contains([]string{"Ln2", "Log2E", "Sqrt2", "Pi", "MaxFloat64", "MaxInt64", "MaxUint32"}, name)
}

func mayBeFloat(info *types.Info, e ast.Expr) bool {
	tv := info.Types[e]
	if tv.Value != nil {
		return false
	}
	if tv.Type == nil {
		return true
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	return !ok || basic.Info()&types.IsInteger == 0
}

func parse(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

func TestProductsAreRounded(t *testing.T) {
	t.Parallel()
	for _, dir := range dirs {
		fset, files := parse(t, dir)
		if len(files) == 0 {
			t.Errorf("no source in %s", dir)
		}
		for _, c := range complaints(fset, files) {
			t.Error(c)
		}
	}
}

// TestSourceCheckFindsFusing shows that the check above can fail.
func TestSourceCheckFindsFusing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		bad  int
	}{
		{"return x*y + 1", 1},
		{"p := x * y; return p + 1", 1},
		{"x *= y; return x + 1", 1},
		{"return strict.Log(x)*2 + 1", 1},
		{"return math.Exp(x)", 1},
		{"return float64(x*y) + 1", 0},
		{"return float64(float64(x*y)*y) + 1", 0},
		{"return float64(2 * len(`ab`))", 0},
		{"i := 2; i *= 3; return float64(i * i)", 0},
		{"return x - math.Sqrt(y)", 0},
		{"i := uint64(math.Sqrt(x)); return float64(i*i - 1)", 0},
		{"return math.Sqrt(x)*y - 1", 1},
	} {
		src := "package p\nimport (\"math\"; \"strict\")\nfunc f(x, y float64) float64 { " + c.body + " }"
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := complaints(fset, []*ast.File{f}); len(got) != c.bad {
			t.Errorf("%q: complaints %q, want %d", c.body, got, c.bad)
		}
	}
}
