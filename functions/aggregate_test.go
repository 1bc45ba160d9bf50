package functions

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// fixture is an engine with the functions and an empty table t(g, x), and nothing that plans them.
type fixture struct {
	engine *sqle.Engine
	pro    *memory.DbProvider
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db := memory.NewDatabase("db")
	f := &fixture{pro: memory.NewDBProvider(db)}
	f.engine = sqle.New(analyzer.NewDefault(f.pro), nil)
	t.Cleanup(func() { _ = f.engine.Close() })
	ctx := f.context()
	f.engine.Analyzer.Catalog.RegisterFunction(ctx, Register()...)
	for _, q := range []string{"CREATE TABLE t (g VARCHAR(9), x INT)", "INSERT INTO t VALUES ('a', 1), ('A', 2)"} {
		if err := f.run(q); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fixture) context() *sql.Context {
	ctx := sql.NewContext(context.Background(), sql.WithSession(memory.NewSession(sql.NewBaseSession(), f.pro)))
	ctx.SetCurrentDatabase("db")
	return ctx
}

func (f *fixture) run(q string) error {
	ctx := f.context()
	_, it, _, err := f.engine.Query(ctx, q)
	if err != nil {
		return err
	}
	for {
		if _, err := it.Next(ctx); errors.Is(err, io.EOF) {
			return it.Close(ctx)
		} else if err != nil {
			return errors.Join(err, it.Close(ctx))
		}
	}
}

// aggregates returns the markers of the bound query, in order.
func (f *fixture) aggregates(t *testing.T, q string) []*Aggregate {
	t.Helper()
	ctx := f.context()
	node, err := f.engine.AnalyzeQuery(ctx, q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	var out []*Aggregate
	transform.InspectWithOpaque(ctx, node, func(_ *sql.Context, n sql.Node) bool {
		if g, ok := n.(*plan.GroupBy); ok {
			for _, e := range g.SelectDeps {
				if a, ok := e.(*Aggregate); ok {
					out = append(out, a)
				}
			}
		}
		return true
	})
	return out
}

func TestBinding(t *testing.T) {
	f := newFixture(t)
	for q, want := range map[string]int{
		"SELECT DP_MEAN(x) FROM t":            1,
		"SELECT dp_avg(x), DP_MEAN(x) FROM t": 1, // an alias is the same release
		"SELECT DP_MEAN(x), DP_MEAN(x) + 1 FROM t HAVING DP_MEAN(x) > 1 ORDER BY DP_MEAN(x)":           1,
		"SELECT DP_MEAN(x), DP_MEAN(x, 'epsilon=1') FROM t":                                            2,
		"SELECT DP_QUANTILE(x, 0.5), DP_QUANTILE(x, 0.9) FROM t":                                       2,
		"SELECT DP_SUM(IF(g = 'a', x, 0)), DP_SUM(IF(g = 'A', x, 0)) FROM t":                           2,
		"SELECT DP_SUM(IF(g = 'A', x, 0)), 1 + DP_SUM(IF(g = 'A', x, 0)) FROM t ORDER BY 1":            1,
		"SELECT g, DP_COUNT(1), DP_COUNT(DISTINCT x) FROM t GROUP BY g ORDER BY DP_SUM(x)":             3,
		"SELECT DP_VALUE(DP_MEAN(DP_VECTOR(x, 1)), 1), DP_VALUE(DP_MEAN(DP_VECTOR(x, 1)), 2) FROM t":   1,
		"SELECT DP_MEAN(DP_ONEHOT(x, 'dimension=3')), DP_MEAN(DP_ONEHOT(x, 'dimension=4')) FROM t":     2,
		"SELECT ROUND(DP_VARIANCE(x), 1), DP_STDDEV(x), DP_MEDIAN(x), DP_QUANTILES(x, '[0.5]') FROM t": 4,
	} {
		if got := f.aggregates(t, q); len(got) != want {
			t.Errorf("%s: %d aggregates, want %d: %v", q, len(got), want, got)
		}
	}
	for q, want := range map[string]sql.Type{
		"SELECT DP_COUNT(x) FROM t": types.Int64, "SELECT DP_SUM(x) FROM t": types.Float64,
		"SELECT DP_QUANTILE(x, 0.5) FROM t": types.Float64, "SELECT DP_QUANTILES(x, '[0.5]') FROM t": types.JSON,
	} {
		if got := f.aggregates(t, q); len(got) != 1 || got[0].Type(nil) != want || !got[0].IsNullable(nil) {
			t.Errorf("%s: want one nullable aggregate of type %s, have %v", q, want, got)
		}
	}
}

// TestBoundNames checks that the table knows every plain aggregate by the name that it has when
// bound.
func TestBoundNames(t *testing.T) {
	f := newFixture(t)
	for _, fn := range All() {
		if fn.Role == Private {
			continue
		}
		for _, name := range append([]string{fn.Name}, fn.Aliases...) {
			arg := "x"
			if name == "JSON_OBJECTAGG" || fn.Two {
				arg = "g, x"
			}
			ctx := f.context()
			node, err := f.engine.AnalyzeQuery(ctx, "SELECT g, "+name+"("+arg+") FROM t GROUP BY g")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			found := false
			transform.InspectWithOpaque(ctx, node, func(_ *sql.Context, n sql.Node) bool {
				if g, ok := n.(*plan.GroupBy); ok {
					for _, e := range g.SelectDeps {
						if a, ok := e.(sql.Aggregation); ok {
							got, known := ByName(a.(sql.FunctionExpression).FunctionName())
							found = found || known && got == fn
						}
					}
				}
				return true
			})
			if !found {
				t.Errorf("%s is not known by its bound name", name)
			}
		}
	}
}

// TestFailsClosed runs what no planner has replaced: every shape must refuse, and none may answer.
func TestFailsClosed(t *testing.T) {
	f := newFixture(t)
	for _, q := range []string{
		"SELECT DP_MEAN(x) FROM t",
		"SELECT g, DP_COUNT(1) FROM t GROUP BY g",
		"SELECT DP_COUNT() FROM t",
		"SELECT g FROM t GROUP BY g HAVING DP_SUM(x) > 0",
		"SELECT g FROM t GROUP BY g ORDER BY DP_SUM(x)",
		"SELECT (SELECT DP_SUM(x) FROM t)",
		"SELECT * FROM (SELECT DP_SUM(x) s FROM t) d",
		"SELECT DP_SUM(x) OVER (PARTITION BY g) FROM t",
		"SELECT DP_MEAN(x) + 1 FROM t",
		"INSERT INTO t SELECT 'b', DP_COUNT(x) FROM t",
		"SELECT x FROM t WHERE DP_MEAN(x) > 0",
		"SELECT DP_QUANTILE(x) FROM t",
		"SELECT DP_COUNT('epsilon=1') FROM t",
		"SELECT DP_MEAN(x, 'a=1', 'b=1') FROM t",
		"SELECT DP_MEAN() FROM t",
		"SELECT DP_MEAN(DP_VECTOR(x, x)) FROM t",
		"SELECT DP_ONEHOT(x, 'dimension=3') FROM t",
		"SELECT DP_VECTOR() FROM t",
		"SELECT DP_VALUE(g) FROM t",
	} {
		if err := f.run(q); err == nil {
			t.Errorf("%s was answered", q)
		}
	}
	err := f.run("SELECT DP_MEAN(x) FROM t")
	if e, ok := refuse.As(err); !ok || e.Code != refuse.Aggregate || !strings.Contains(e.Error(), "DP_MEAN") {
		t.Errorf("got %v", err)
	}
	err = f.run("SELECT DP_COUNT('epsilon=1') FROM t")
	if e, ok := refuse.As(err); !ok || e.Code != refuse.Option {
		t.Errorf("options in the place of the argument: got %v", err)
	}
	if err := f.run("SELECT DP_VALUE(DP_VECTOR(x, 2), 1), DP_VALUE('[1, 2]', 2) FROM t"); err != nil {
		t.Errorf("a vector of a public row: %v", err)
	}
	if err := f.run("SELECT AVG(x), MIN(g) FROM t"); err != nil {
		t.Errorf("a plain aggregate on a public table: %v", err)
	}
}

// TestPrepare binds with place holders: what they stand for is checked later.
func TestPrepare(t *testing.T) {
	f := newFixture(t)
	for _, q := range []string{"SELECT DP_QUANTILE(x, ?) FROM t", "SELECT DP_MEAN(x, ?) FROM t", "SELECT DP_MEAN(x + ?) FROM t",
		"SELECT DP_MEAN(DP_ONEHOT(x, ?)) FROM t", "SELECT DP_VALUE(DP_MEAN(DP_VECTOR(x, ?)), ?) FROM t"} {
		if _, err := f.engine.PrepareQuery(f.context(), q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}
