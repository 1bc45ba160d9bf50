package planner

import (
	"errors"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// TestNoRowsWithoutReservation checks that a DPAggregate outside its Budget, or under the Budget of
// another statement, yields nothing.
func TestNoRowsWithoutReservation(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	ctx := h.context("")
	find := func() *plan.DPAggregate {
		_, n, err := h.plan("SELECT region, COUNT(*) FROM orders GROUP BY region")
		if err != nil {
			t.Fatal(err)
		}
		var d *plan.DPAggregate
		tree.Inspect(ctx, n, func(n sql.Node) {
			if x, ok := n.(*plan.DPAggregate); ok {
				d = x
			}
		}, nil)
		return d
	}
	a, b := find(), find()
	if _, err := a.RowIter(ctx, nil); !errors.Is(err, plan.ErrNoReservation) {
		t.Errorf("without a Budget: got %v, want %v", err, plan.ErrNoReservation)
	}
	if _, err := a.RowIter(plan.Reserved(ctx, b.Statement, h), nil); !errors.Is(err, plan.ErrNoReservation) {
		t.Errorf("under another statement's Budget: got %v, want %v", err, plan.ErrNoReservation)
	}
	if _, err := a.RowIter(plan.Reserved(ctx, a.Statement, h), nil); err != nil {
		t.Errorf("under its own Budget: %v", err)
	}
}

// TestVerifyNotices checks that Verify rejects plans whose invariants are broken.
func TestVerifyNotices(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for name, spoil := range map[string]func(*plan.Statement, sql.Node) sql.Node{
		"no Budget": func(_ *plan.Statement, n sql.Node) sql.Node { return n.(*plan.Budget).Child },
		"second Budget": func(_ *plan.Statement, n sql.Node) sql.Node {
			b := *n.(*plan.Budget)
			b.UnaryNode = gmsplan.UnaryNode{Child: n}
			return &b
		},
		"loss too small":     func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Loss.Rho--; return n },
		"not charged":        func(s *plan.Statement, n sql.Node) sql.Node { s.Tables = nil; return n },
		"entity not charged": func(s *plan.Statement, n sql.Node) sql.Node { s.Entities[0].Loss.Rho--; return n },
		"groups":             func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Groups++; return n },
		"groups per unit":    func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].PerUnit = 0; return n },
		"exchange":           func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Aggregates[0].Exchange = 0; return n },
		"columns":            func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Aggregates[0].Columns = nil; return n },
		"error bars": func(s *plan.Statement, n sql.Node) sql.Node {
			s.Releases[0].Output[0].ErrorBar, s.Releases[0].Output[0].Part = 1, 9
			return n
		},
		"outputs":   func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Output[0].Key = 7; return n },
		"no key":    func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Key = ""; return n },
		"written":   func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Written = []int{1}; return n },
		"no tables": func(s *plan.Statement, n sql.Node) sql.Node { s.Releases[0].Tables = nil; return n },
	} {
		spoiled(t, h, "SELECT /*+ SET_VAR(dp_group_by=separate) */ region, AVG(amount) FROM orders GROUP BY region", name, spoil)
		if name != "exchange" { // the vector of all groups has its own sensitivities
			spoiled(t, h, "SELECT region, AVG(amount) FROM orders GROUP BY region", name, spoil)
		}
	}
}

// spoiled checks that a plan is sound, and that Verify rejects it when it has been spoilt.
func spoiled(t *testing.T, h *harness, query, name string, spoil func(*plan.Statement, sql.Node) sql.Node) {
	t.Helper()
	s, n, err := h.plan(query)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
		t.Fatalf("%s: sound plan: %v", query, err)
	}
	if err := plan.Verify(sql.NewEmptyContext(), s, spoil(s, n)); err == nil || !strings.HasPrefix(err.Error(), "invariant ") {
		t.Errorf("%s: %s: got %v, want a broken invariant", query, name, err)
	}
}

// TestVerifyNoticesTheFormOfAllGroups spoils what is special to groups that are answered together.
func TestVerifyNoticesTheFormOfAllGroups(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for name, spoil := range map[string]func(*plan.Release){
		"a scan that bounds groups":   func(r *plan.Release) { r.Scans[0].Args = append(r.Scans[0].Args, plan.SecretArg{}) },
		"a scan without units":        func(r *plan.Release) { r.Scans[0].Units = false },
		"a scan of rows":              func(r *plan.Release) { r.Scans[0].Rows = true },
		"a scan for a selection":      func(r *plan.Release) { r.Scans[0].Kept = true },
		"the unit as a column":        func(r *plan.Release) { r.Aggregates[0].Columns[0] = 1 },
		"a text as a column":          func(r *plan.Release) { r.Scans[0].Types[2] = store.ScanText },
		"another relation":            func(r *plan.Release) { r.Aggregates[0].Groups.Relation = estimator.ReplaceOne },
		"another number of groups":    func(r *plan.Release) { r.Aggregates[0].Groups.Groups++ },
		"parts missing":               func(r *plan.Release) { r.Aggregates[0].Parts = nil },
		"a loss that is too small":    func(r *plan.Release) { r.Loss.Rho-- },
		"another aggregate of a scan": func(r *plan.Release) { r.Aggregates = append(r.Aggregates, plan.Aggregate{Text: "x"}) },
	} {
		spoiled(t, h, "SELECT region, COUNT(*), AVG(amount) FROM orders GROUP BY region", name, func(s *plan.Statement, n sql.Node) sql.Node {
			spoil(s.Releases[0])
			return n
		})
	}
	spoiled(t, h, "SELECT status, COUNT(*) FROM orders GROUP BY status", "a selection that counts nobody", func(s *plan.Statement, n sql.Node) sql.Node {
		s.Releases[0].Scans[0].Kept = false
		return n
	})
}

// TestSameReleaseOnce checks that what a statement asks twice is one release, and what differs is
// two.
func TestSameReleaseOnce(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for q, want := range map[string]int{
		"WITH c AS (SELECT region, COUNT(*) AS n FROM orders GROUP BY region) SELECT a.n, b.n FROM c a JOIN c b ON a.region = b.region":    1,
		"SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM orders), (SELECT 1 + COUNT(*) FROM orders)":                           1,
		"SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM orders WHERE qty > 1)":                                                2,
		"SELECT (SELECT COUNT(*) FROM orders WHERE qty > 2), (SELECT COUNT(*) FROM orders WHERE qty > 1)":                                  2,
		"SELECT (SELECT DP_MEAN(amount) FROM orders), (SELECT DP_MEAN(amount, 'weight=row') FROM orders)":                                  2,
		"SELECT (SELECT DP_QUANTILE(amount, 0.1) FROM orders), (SELECT DP_QUANTILE(amount, 0.2) FROM orders)":                              2,
		"SELECT region, COUNT(*), COUNT(*) + 1 FROM orders GROUP BY region HAVING COUNT(*) > 3 ORDER BY COUNT(*)":                          1,
		"SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM archive":                         2,
		"SELECT COUNT(*), (SELECT MAX(n) FROM (SELECT region, COUNT(*) AS n FROM orders GROUP BY region) x) FROM orders WHERE region > ''": 2,
	} {
		s, n, err := h.plan(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if len(s.Releases) != want {
			t.Errorf("%s: %d releases, want %d", q, len(s.Releases), want)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestKeysOfReleases checks that the key of a release follows everything that decides its answer.
func TestKeysOfReleases(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	seen := map[string]string{}
	key := func(label, q string) string {
		s, _, err := h.plan(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return s.Releases[0].Key
	}
	add := func(label, q string) {
		k := key(label, q)
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", label, other)
		}
		seen[k] = label
		if again := key(label, q); again != k {
			t.Errorf("%s has two keys", label)
		}
	}
	q := "SELECT region, AVG(amount) FROM orders WHERE qty > 1 GROUP BY region"
	add("plain", q)
	add("other constant", strings.Replace(q, "> 1", "> 2", 1))
	add("other aggregate", strings.Replace(q, "AVG", "SUM", 1))
	add("other epsilon", "SELECT /*+ SET_VAR(dp_epsilon=0.5) */"+strings.TrimPrefix(q, "SELECT"))
	apart := "SELECT /*+ SET_VAR(dp_group_by=separate) BOUND */" + strings.TrimPrefix(q, "SELECT")
	add("each group by itself", strings.Replace(apart, "BOUND", "", 1))
	add("other bound on groups", strings.Replace(apart, "BOUND", "SET_VAR(dp_max_groups_contributed=2)", 1))
	if k := key("", "SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */"+strings.TrimPrefix(q, "SELECT")); seen[k] != "plain" {
		t.Error("a bound that has no part in the answer changes its key")
	}
	h.declare(`domain shop.orders region ["north"]`)
	add("other domain", q)
	h.declare("protect shop.orders id customer")
	add("other unit", q)
}

// TestPreparedStatements checks that preparing begins nothing, whatever the place of the place
// holders, and that executing plans with the values.
func TestPreparedStatements(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for _, c := range []struct {
		query string
		rule  rule.Rule
	}{
		{"SELECT COUNT(*) FROM orders WHERE qty > ?", ""},
		{"SELECT COUNT(*) FROM (SELECT amount FROM orders) x WHERE amount > ?", ""},
		{"SELECT (SELECT COUNT(*) FROM orders), ? + 1", ""},
		{"SELECT DP_QUANTILE(amount, 0.5), ? FROM orders", ""},
		{"SELECT * FROM orders WHERE qty > ?", rule.RawRows},
		{"SELECT id FROM orders WHERE id = (SELECT ?)", rule.Subquery},
	} {
		ctx := h.context(c.query)
		if _, err := h.engine.PrepareQuery(ctx, c.query); err != nil {
			t.Errorf("prepare %s: %v", c.query, err)
			continue
		}
		if h.begun != 0 {
			t.Fatalf("prepare %s began an execution", c.query)
		}
		v, err := sqlparser.ExprFromValue(sqltypes.MakeTrusted(querypb.Type_INT64, []byte("5")))
		if err != nil {
			t.Fatal(err)
		}
		_, it, _, err := h.engine.QueryWithBindings(ctx, c.query, nil, map[string]sqlparser.Expr{"v1": v}, nil)
		if err == nil {
			_, err = sql.RowIterToRows(ctx, it)
		}
		if rule.Of(err) != c.rule || c.rule == "" && err != nil {
			t.Errorf("execute %s: got %v, want rule %q", c.query, err, c.rule)
		}
		if c.rule == "" && h.begun != 1 {
			t.Errorf("execute %s: %d executions begun", c.query, h.begun)
		}
		h.begun = 0
	}
}
