package planner

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/tree"
)

// byCode lists the rules that no statement of the corpus reaches, because the binder gives no such
// tree today, because it depends on a limit, or because it is of sources of simulations or of
// views; Go tests reach them.
var byCode = map[rule.Rule]bool{rule.Node: true, rule.TooManyReleases: true, rule.Context: true, rule.Sample: true, rule.View: true}

// TestEveryRuleIsReached checks that the corpus refuses by each rule at least twice.
func TestEveryRuleIsReached(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*")
	if err != nil {
		t.Fatal(err)
	}
	var corpus strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		corpus.Write(b)
	}
	for _, bad := range []string{"UNEXPECTED", "NOT REFUSED", "NO PRIVATE PART", "INVARIANT", "\nerror: ", "stays: "} {
		if strings.Contains(corpus.String(), bad) {
			t.Errorf("the corpus has a case that is %q", bad)
		}
	}
	rules := declaredRules(t)
	if len(rules) < 40 {
		t.Fatalf("only %d rules found", len(rules))
	}
	for _, r := range rules {
		if n := strings.Count(corpus.String(), "refused by "+string(r)+" ("); n < 2 && !byCode[r] {
			t.Errorf("rule %s is reached %d times", r, n)
		}
	}
	if n := strings.Count(corpus.String(), "\nrefused by "); n < 150 {
		t.Errorf("%d refused cases, want 150", n)
	}
	if n := strings.Count(corpus.String(), "| charges ") + strings.Count(corpus.String(), "\nprivate statement"); n < 150 {
		t.Errorf("%d allowed cases, want 150", n)
	}
}

// declaredRules reads the constants of package rule.
func declaredRules(t *testing.T) []rule.Rule {
	f, err := goparser.ParseFile(token.NewFileSet(), filepath.Join("rule", "rule.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rule.Rule
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && v.Type != nil {
			if l, ok := v.Values[0].(*ast.BasicLit); ok {
				s, _ := strconv.Unquote(l.Value)
				rules = append(rules, rule.Rule(s))
			}
		}
		return true
	})
	return rules
}

// oddNode is an operation that the planner does not know.
type oddNode struct{ plan.UnaryNode }

func (n *oddNode) String() string   { return "odd" }
func (n *oddNode) IsReadOnly() bool { return true }
func (n *oddNode) WithChildren(_ *sql.Context, c ...sql.Node) (sql.Node, error) {
	return &oddNode{plan.UnaryNode{Child: c[0]}}, nil
}

// TestUnknownNodesAreRefused checks that an operation the planner does not know fails closed, at
// the top of a statement and under an aggregate.
func TestUnknownNodesAreRefused(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for _, at := range []position{{top: true}, {aggregate: true}} {
		ctx := h.context("SELECT COUNT(*) FROM orders")
		raw, err := h.ddlBind("SELECT id FROM orders")
		if err != nil {
			t.Fatal(err)
		}
		s := &statement{Writer: rel.NewWriter(ctx, rel.Tables{Catalog: h.policies}), ctx: ctx, catalog: h.policies, params: &settings.Settings{}, retyped: tree.Types{}}
		s.Begin()
		if _, err := s.build(&oddNode{plan.UnaryNode{Child: raw}}, at); rule.Of(err) != rule.Node {
			t.Errorf("%+v: got %v, want a refusal by %s", at, err, rule.Node)
		}
	}
}

// TestTooManyReleases checks the bound on private parts of one statement.
func TestTooManyReleases(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for _, n := range []int{maxReleases, maxReleases + 1, maxReleases + 30} {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf("(SELECT COUNT(*) FROM orders WHERE qty = %d)", i)
		}
		_, _, err := h.plan("SELECT " + strings.Join(parts, ", "))
		if got := rule.Of(err) == rule.TooManyReleases; got != (n > maxReleases) {
			t.Errorf("%d releases: %v", n, err)
		}
	}
}

// TestStoredProgramsAreRefused checks that a private query does not run inside another statement.
func TestStoredProgramsAreRefused(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	h.dba = true
	for _, c := range []struct {
		define, run string
		want        rule.Rule
	}{
		{"CREATE PROCEDURE p1() SELECT COUNT(*) FROM orders", "CALL p1()", rule.Context},
		{"CREATE PROCEDURE p2() BEGIN DECLARE n INT; SELECT AVG(amount) FROM orders; END", "CALL p2()", rule.Context},
		{"CREATE TRIGGER tr1 BEFORE INSERT ON stores FOR EACH ROW SET NEW.size = (SELECT COUNT(*) FROM orders)", "INSERT INTO stores VALUES (1, 'x', 2)", rule.UserVariable},
	} {
		before := h.begun
		_, err := h.run(c.define)
		if err == nil {
			_, err = h.run(c.run)
		}
		if err == nil || rule.Of(err) != c.want {
			t.Errorf("%s; %s: got %v, want a refusal by %s", c.define, c.run, err, c.want)
		}
		if h.begun != before {
			t.Errorf("%s: an execution was begun", c.run)
		}
	}
}
