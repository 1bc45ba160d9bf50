package encode

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"scrim/planner/plan"
)

func encoded(values ...any) []byte {
	e := new(Encoding)
	e.Put(values...)
	return e.b
}

type pair struct{ A, B string }

type pairOther struct{ A, B string }

type hidden struct {
	shown int
	next  *hidden
	f     func()
}

// TestEncodingTellsValuesApart: lists that differ anywhere, in a value, a type, a length or where
// one ends and the next begins, are encoded differently.
func TestEncodingTellsValuesApart(t *testing.T) {
	decimal := func(s string) apd.Decimal { d, _, _ := apd.NewFromString(s); return *d }
	one, other := 1, 2
	list := [][]any{
		{"a", "b"}, {"ab", ""}, {"", "ab"}, {"a"}, {[]string{"a"}, "b"}, {[]string{"a", "b"}}, {[]string{}, "a", "b"}, {[]string(nil)}, {nil},
		{1}, {uint(1)}, {int64(2)}, {-1}, {uint64(math.MaxUint64)}, {1.0}, {math.Nextafter(1, 2)}, {math.Copysign(0, -1)}, {0.0}, {true}, {false}, {"1"}, {"true"},
		{pair{"a", "b"}}, {pair{"ab", ""}}, {pairOther{"a", "b"}}, {[]any{"a", "b"}}, {[]any{"a", 1}}, {[]any{1}}, {[]any{int64(1)}}, {[]any{nil}}, {[]any{}},
		{map[string]int{"a": 1, "b": 2}}, {map[string]int{"a": 2, "b": 1}}, {map[string]int{"a": 1}}, {map[string]int{}},
		{&one}, {&other}, {(*int)(nil)}, {hidden{shown: 1}}, {hidden{shown: 2}}, {hidden{shown: 1, next: &hidden{}}}, {hidden{shown: 1, next: &hidden{shown: 3}}},
		{decimal("1.0")}, {decimal("1.00")}, {decimal("-1.0")}, {big.NewRat(1, 2)}, {big.NewRat(1, 3)},
		{time.Unix(5, 0)}, {time.Unix(5, 1)}, {plan.SecretArg{Index: 0}}, {plan.SecretArg{Index: 1}}, {plan.Scan{SQL: "x"}}, {plan.Scan{SQL: "x", Rows: true}}, {plan.Scan{SQL: "x", Args: []any{"1"}}}, {plan.Scan{SQL: "x", Args: []any{int64(1)}}},
	}
	for i, a := range list {
		for j, b := range list {
			if same := bytes.Equal(encoded(a...), encoded(b...)); same != (i == j) {
				t.Errorf("%#v and %#v are encoded alike: %v", a, b, same)
			}
		}
	}
}

// TestEncodingTakesEqualValuesForOne, however they are held.
func TestEncodingTakesEqualValuesForOne(t *testing.T) {
	zone := time.FixedZone("zone", 3600)
	a, _, _ := apd.NewFromString("123456789012345678901234567890.5")
	b := new(apd.Decimal)
	if _, err := apd.BaseContext.WithPrecision(60).Sub(b, apd.New(0, 0), new(apd.Decimal).Neg(a)); err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]any{
		{time.Unix(5, 7), time.Unix(5, 7).In(zone)},
		{*a, *b},
		{map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"c": 3, "b": 2, "a": 1}},
		{hidden{f: func() {}}, hidden{f: func() { panic("other") }}},
	} {
		if !bytes.Equal(encoded(p[0]), encoded(p[1])) {
			t.Errorf("%v and %v are encoded differently", p[0], p[1])
		}
	}
}

// TestEncodingOfRandomValues: random nested values are encoded alike only where they are deeply
// equal.
func TestEncodingOfRandomValues(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	var random func(depth int) any
	random = func(depth int) any {
		switch n := r.IntN(8); {
		case n == 0 || depth == 0:
			return []string{"", "a", "b", "ab", "\x00"}[r.IntN(5)]
		case n == 1:
			return r.IntN(3)
		case n == 2:
			return pair{[]string{"", "a"}[r.IntN(2)], []string{"", "a"}[r.IntN(2)]}
		case n == 3:
			return map[string]any{[]string{"", "a"}[r.IntN(2)]: random(depth - 1)}
		default:
			list := make([]any, r.IntN(3))
			for i := range list {
				list[i] = random(depth - 1)
			}
			return list
		}
	}
	seen := map[string]any{}
	same := 0
	for range 20_000 {
		v := random(4)
		key := string(encoded(v))
		if other, ok := seen[key]; ok {
			if same++; !reflect.DeepEqual(v, other) {
				t.Fatalf("%#v and %#v are encoded alike", v, other)
			}
		}
		seen[key] = v
	}
	if same == 0 || len(seen) < 1000 {
		t.Errorf("%d values, %d repeated: the test compares nothing", len(seen), same)
	}
}
