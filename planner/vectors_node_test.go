package planner

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// TestVerifyNoticesVectors checks that Verify rejects vectors whose scan is of another form.
func TestVerifyNoticesVectors(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for form, q := range map[plan.VectorForm]string{
		plan.Arrays:      "SELECT kind, DP_MEAN(vec) FROM clicks GROUP BY kind",
		plan.Coordinates: "SELECT page, DP_MEAN(DP_VECTOR(x, y)) FROM clicks GROUP BY page",
		plan.Pairs:       "SELECT DP_SUM(DP_ONEHOT(page, 'dimension=9')) FROM clicks",
	} {
		for name, spoil := range map[string]func(a *plan.Aggregate, sc *plan.Scan){
			"no columns":   func(a *plan.Aggregate, _ *plan.Scan) { a.Columns = nil },
			"other column": func(a *plan.Aggregate, _ *plan.Scan) { a.Columns[0]-- },
			"too many":     func(a *plan.Aggregate, _ *plan.Scan) { a.Columns = append(a.Columns, 0) },
			"no scan":      func(a *plan.Aggregate, _ *plan.Scan) { a.Scan = 9 },
			"rows":         func(_ *plan.Aggregate, sc *plan.Scan) { sc.Rows = !sc.Rows },
			"type":         func(a *plan.Aggregate, sc *plan.Scan) { sc.Types[a.Columns[0]] = store.ScanFloat64 },
			"form":         func(a *plan.Aggregate, _ *plan.Scan) { a.Vector.Form = (a.Vector.Form + 1) % 3 },
			"number":       func(a *plan.Aggregate, _ *plan.Scan) { a.Vector = nil },
		} {
			s, n, err := h.plan(q)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
				t.Fatalf("sound plan: %v", err)
			}
			r := s.Releases[0]
			spoil(&r.Aggregates[0], &r.Scans[r.Aggregates[0].Scan])
			if err := plan.Verify(sql.NewEmptyContext(), s, n); err == nil {
				t.Errorf("form %d, %s: passed", form, name)
			}
		}
	}
}

// TestKeysOfVectors checks that the key of a release follows what decides a vector's answer.
func TestKeysOfVectors(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	seen := map[string]string{}
	for _, q := range []string{
		"SELECT DP_MEAN(embedding) FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=clipped') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=shifted') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=shifted, rotate=on') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=plan') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=plan, p=1') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=plan, relative=on') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=plan, sigma=2') FROM profiles",
		"SELECT DP_MEAN(embedding, 'method=plan, sigma=3') FROM profiles",
		"SELECT DP_MEAN(embedding, 'answer=vector') FROM profiles",
		"SELECT DP_MEAN(embedding, 'lower=0, upper=1') FROM profiles",
		"SELECT DP_SUM(embedding) FROM profiles",
		"SELECT DP_MEAN(doc, 'dimension=4') FROM profiles",
		"SELECT DP_MEAN(doc, 'dimension=5') FROM profiles",
		"SELECT DP_MEAN(DP_VECTOR(age, income)) FROM profiles",
		"SELECT DP_MEAN(DP_VECTOR(income, age)) FROM profiles",
		"SELECT DP_MEAN(DP_ONEHOT(age, 'dimension=4')) FROM profiles",
		"SELECT DP_MEAN(DP_ONEHOT(age, 'dimension=5')) FROM profiles",
		"SELECT /*+ SET_VAR(dp_method='clipped') */ DP_SUM(embedding), DP_MEAN(embedding) FROM profiles",
		"SELECT /*+ SET_VAR(dp_method=plan) */ DP_SUM(embedding), DP_MEAN(embedding) FROM profiles",
	} {
		s, _, err := h.plan(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		k := s.Releases[0].Key
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", q, other)
		}
		seen[k] = q
	}
}

// TestVectorsAskedTwice checks that what is read once is scanned once, and what is asked twice
// released once.
func TestVectorsAskedTwice(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for q, want := range map[string][2]int{ // aggregates and scans of the first release
		"SELECT DP_MEAN(embedding), DP_VALUE(DP_MEAN(embedding), 1) FROM profiles HAVING DP_VALUE(DP_MEAN(embedding), 2) > 0": {1, 1},
		"SELECT DP_MEAN(embedding), DP_SUM(embedding), DP_VARIANCE(embedding), DP_STDDEV(embedding) FROM profiles":            {4, 1},
		// other grids
		"SELECT DP_MEAN(embedding), DP_SUM(embedding, 'lower=0, upper=1') FROM profiles":                     {2, 2},
		"SELECT DP_MEAN(embedding), DP_MEAN(small) FROM profiles":                                            {2, 2},
		"SELECT DP_MEAN(DP_VECTOR(x, y)), DP_SUM(DP_VECTOR(x, y)), COUNT(*) FROM clicks":                     {3, 2},
		"SELECT DP_MEAN(DP_ONEHOT(page, 'dimension=9')), DP_SUM(DP_ONEHOT(page, 'dimension=9')) FROM clicks": {2, 1},
	} {
		s, n, err := h.plan(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		if r := s.Releases[0]; len(r.Aggregates) != want[0] || len(r.Scans) != want[1] {
			t.Errorf("%s: %d aggregates in %d scans, want %v", q, len(r.Aggregates), len(r.Scans), want)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestVectorAnswers checks the types of answers, and what an estimate becomes.
func TestVectorAnswers(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for q, want := range map[string]struct {
		typ   sql.Type
		value any
	}{
		"SELECT DP_MEAN(embedding) FROM profiles":                       {types.JSON, types.JSONDocument{Val: []any{1.5, -2.0, 1e300, 0.0}}},
		"SELECT AVG(embedding) FROM profiles":                           {types.JSON, types.JSONDocument{Val: []any{1.5, -2.0, 1e300, 0.0}}},
		"SELECT DP_MEAN(embedding, 'answer=vector') FROM profiles":      {types.VectorType{Dimensions: 4}, sql.EncodeVector([]float32{1.5, -2, 3.4028234663852886e38, 0})},
		"SELECT DP_VALUE(DP_MEAN(embedding), 1) AS first FROM profiles": {types.JSON, types.JSONDocument{Val: []any{1.5, -2.0, 1e300, 0.0}}},
	} {
		s, _, err := h.plan(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		r := s.Releases[0]
		got := r.Aggregates[0].Present(estimator.Estimate{Values: []float64{1.5, -2, 1e300, 0}})
		eq, err := want.typ.Compare(t.Context(), got, want.value)
		if !r.Schema[0].Type.Equals(want.typ) || err != nil || eq != 0 {
			t.Errorf("%s: got %v of type %s, want %v of type %s (%v)", q, got, r.Schema[0].Type, want.value, want.typ, err)
		}
	}
}

// TestPreparedVectors checks that what stands in an options string or in DP_VALUE may be a place
// holder.
func TestPreparedVectors(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for q, value := range map[string]string{
		"SELECT DP_MEAN(embedding, ?) FROM profiles":                "method=clipped",
		"SELECT DP_MEAN(DP_ONEHOT(age, ?)) FROM profiles":           "dimension=9",
		"SELECT DP_VALUE(DP_MEAN(embedding), ?) FROM profiles":      "1",
		"SELECT DP_MEAN(DP_VECTOR(age, height + ?)) FROM profiles":  "1",
		"SELECT DP_MEAN(embedding) FROM profiles WHERE city = ?":    "Rome",
		"SELECT DP_MEAN(DP_VALUE(embedding, 1 )) + ? FROM profiles": "2",
	} {
		ctx := h.context(q)
		if _, err := h.engine.PrepareQuery(ctx, q); err != nil {
			t.Errorf("prepare %s: %v", q, err)
			continue
		}
		v, err := sqlparser.ExprFromValue(sqltypes.MakeTrusted(querypb.Type_VARCHAR, []byte(value)))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err = h.engine.QueryWithBindings(ctx, q, nil, map[string]sqlparser.Expr{"v1": v}, nil); err != nil {
			t.Errorf("execute %s: %v", q, err)
		}
	}
}

// TestExplainVectors checks what EXPLAIN tells of vectors.
func TestExplainVectors(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for q, want := range map[string][]string{
		"SELECT DP_MEAN(embedding) FROM profiles":                                   {"vectors of arrays  dim=4  step=9.53674e-07 in [-1.07374e+09, 1.07374e+09]  memory=64 bytes a person", "method: "},
		"SELECT DP_SUM(DP_VECTOR(x, y)) FROM clicks":                                {"vectors of columns  dim=2  step=9.53674e-07"},
		"SELECT DP_MEAN(DP_VECTOR(age, age)) FROM profiles":                         {"vectors of columns  dim=2  step=2.98023e-08 in [0, 120]"},
		"SELECT DP_MEAN(DP_ONEHOT(page, 'dimension=100')) FROM clicks":              {"vectors of items  dim=100  step=1 in [0, 1]  memory=16 bytes an item of a person"},
		"SELECT kind, DP_MEAN(vec, 'lower=0, upper=2') FROM clicks GROUP BY kind":   {"vectors of arrays  dim=2", " in [0, 2]"},
		"EXPLAIN SELECT DP_VALUE(DP_MEAN(small, 'answer=vector'), 2) FROM profiles": {"dim=3"},
	} {
		s, _, err := h.plan(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		text := plan.Format(s)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", q, w, text)
			}
		}
	}
}
