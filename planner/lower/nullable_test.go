package lower_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// required is resolve for columns that are NOT NULL, as the planner reads them.
func required(gf *expression.GetField) (lower.Expr, bool) {
	e, ok := resolve(gf)
	for name, storeType := range allColumns {
		if name == gf.Name() {
			e.Nullable = !lower.Exact(storeType)
		}
	}
	return e, ok
}

// TestNotNullable runs random expressions over columns without NULL, at the ends of their types:
// what is called not nullable has a value on every row. That a number of persons is public rests on
// it: who has no value would count with a fixed one, which is private but wrong.
func TestNotNullable(t *testing.T) {
	const each = 6000
	b, db := newBinder(t), openHostile(t)
	var null []string
	for name := range allColumns {
		null = append(null, sqltext.StoreName(name)+" IS NULL")
	}
	if _, err := db.Exec("DELETE FROM t WHERE " + strings.Join(null, " OR ")); err != nil {
		t.Fatal(err)
	}
	sometimesNull := func(x lower.Expr, args []any) (n int64) {
		if err := db.QueryRow("SELECT count(*) FROM t WHERE ("+x.SQL+") IS NULL", args...).Scan(&n); err != nil {
			t.Fatalf("%s: %v", x.SQL, err)
		}
		return n
	}
	r := rand.New(rand.NewPCG(17+*fuzzSeed, 19))
	ran := 0
	for range each {
		text := generate(r, "nnnb"[r.IntN(4)], r.IntN(4))
		e, err := b.bind(text)
		if err != nil {
			continue
		}
		var args lower.Binder
		x, err := lower.Lower(b.ctx, e, &args, required)
		if err != nil || x.Nullable {
			continue
		}
		ran++
		if n := sometimesNull(x, args.Args()); n > 0 {
			t.Errorf("%s is called not nullable and is NULL on %d rows\n\t%s %v", text, n, x.SQL, args.Args())
		}
	}
	if ran < each/20 {
		t.Errorf("only %d of %d expressions are not nullable", ran, each)
	}
	t.Logf("%d expressions", ran)
	// It is seen where a value is missing.
	if e, err := b.bind("NULLIF(i, 1)"); err != nil {
		t.Fatal(err)
	} else if x, err := lower.Lower(b.ctx, e, &lower.Binder{}, required); err != nil || !x.Nullable || sometimesNull(lower.Expr{SQL: "NULLIF(t.i, 1)"}, nil) == 0 {
		t.Errorf("NULLIF(i, 1): nullable %v, %v", x.Nullable, err)
	}
}
