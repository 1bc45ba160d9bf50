package lower_test

import (
	"math/rand/v2"
	"testing"

	"scrim/planner/canon"
	"scrim/planner/lower"
)

// TestOrderedOperandsMeanTheSame runs random expressions as they are written and with their
// operands in the planner's order: types and values are the same on every row, overflows, NULL and
// NaN included, and what is ordered already stays as it is.
func TestOrderedOperandsMeanTheSame(t *testing.T) {
	each := 500
	if testing.Short() {
		each = 150
	}
	b := newBinder(t)
	db := openHostile(t)
	r := rand.New(rand.NewPCG(11+*fuzzSeed, 13))
	ran, moved := 0, 0
	for range each {
		text := generate(r, "bnb"[r.IntN(3)], 2+r.IntN(3))
		e, err := b.bind(text)
		if err != nil {
			continue
		}
		var args, orderedArgs, againArgs lower.Binder
		x, err := lower.Lower(b.ctx, e, &args, resolve)
		ordered := canon.Expr(b.ctx, e, resolve)
		y, err2 := lower.Lower(b.ctx, ordered, &orderedArgs, resolve)
		if (err == nil) != (err2 == nil) {
			t.Errorf("%s: refused %v, ordered %v", text, err, err2)
			continue
		}
		if err != nil {
			continue
		}
		ran++
		if x.Type != y.Type {
			t.Errorf("%s: of type %v, ordered %v", text, x.Type, y.Type)
		}
		if z, err := lower.Lower(b.ctx, canon.Expr(b.ctx, ordered, resolve), &againArgs, resolve); err != nil || z.SQL != y.SQL {
			t.Errorf("%s: ordered twice is another expression:\n%s\n%s", text, y.SQL, z.SQL)
		}
		if x.SQL == y.SQL {
			continue
		}
		moved++
		if was, is := storeValues(t, db, x, args.Args()), storeValues(t, db, y, orderedArgs.Args()); was != is {
			t.Errorf("%s\n%s\n%s\nwas\n%sis\n%s", text, x.SQL, y.SQL, was, is)
		}
	}
	if ran < each/3 || moved < each/10 {
		t.Errorf("%d of %d expressions ran, %d were ordered", ran, each, moved)
	}
	t.Logf("%d expressions, %d ordered", ran, moved)
}

// TestTurnedComparisonsAreSeen makes sure that the comparison of values above can fail.
func TestTurnedComparisonsAreSeen(t *testing.T) {
	b := newBinder(t)
	db := openHostile(t)
	value := func(text string) string {
		e, err := b.bind(text)
		if err != nil {
			t.Fatal(err)
		}
		var args lower.Binder
		x, err := lower.Lower(b.ctx, e, &args, resolve)
		if err != nil {
			t.Fatal(err)
		}
		return storeValues(t, db, x, args.Args())
	}
	if value("i < j") == value("j < i") || value("i <= j") != value("j >= i") {
		t.Error("the values do not tell a comparison from its reverse")
	}
}
