package functions

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/vector"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

func vectorCall(t *testing.T, name, options string) Call {
	t.Helper()
	f, ok := ByName(name)
	if !ok {
		t.Fatal(name)
	}
	c, err := NewCall(f, "", options)
	if err != nil {
		t.Fatalf("%s %q: %v", name, options, err)
	}
	return c
}

// TestVectorParams checks what the options become for the core.
func TestVectorParams(t *testing.T) {
	c := vectorCall(t, "DP_MEAN", "Method=PLAN, p=1.5, tail=sqrt_n, clip=tails, quantile=em, sigma=[1, 2.5,3], sigma_min=0.5, sigma_max=4, radius=10, relative=ON, answer=Vector")
	if err := c.Vector(Vectors{Dim: 3}, "coinpress", false); err != nil {
		t.Fatal(err)
	}
	p := c.vectorParams(estimator.Params{Rho: 0.5})
	want := vector.Params{Params: estimator.Params{Rho: 0.5}, Dim: 3, Method: vector.Plan, P: 1.5, Tail: vector.SqrtN, Clip: vector.Tails, Search: vector.Exponential,
		Scale: vector.Declared, Radius: 10, SigmaMin: 0.5, SigmaMax: 4, Sigma: []float64{1, 2.5, 3}, Relative: true}
	if !reflect.DeepEqual(p, want) || !c.Options.Binary {
		t.Errorf("got %+v", p)
	}
	for options, scale := range map[string]vector.Scale{
		"": vector.Direct, "pairs=2": vector.Pairs, "sigma=1": vector.Declared, "method=plan, scale=none": vector.Unscaled, "sigma=1, scale=direct": vector.Direct,
	} {
		c := vectorCall(t, "DP_MEAN", options)
		if err := c.Vector(Vectors{Dim: 3}, "", false); err != nil {
			t.Errorf("%q: %v", options, err)
		}
		if p := c.vectorParams(estimator.Params{}); p.Scale != scale {
			t.Errorf("%q: scale %v, want %v", options, p.Scale, scale)
		}
	}
	sparse := vectorCall(t, "DP_MEAN", "")
	if err := sparse.Vector(Vectors{Dim: 3, Sparse: true}, "", false); err != nil {
		t.Fatal(err)
	}
	if p := sparse.vectorParams(estimator.Params{}); p.Scale != vector.Binary || !p.Sparse {
		t.Errorf("sparse: %+v", p)
	}
}

// TestColumnsAreDifferentThings: the error of columns is relative unless something says otherwise.
func TestColumnsAreDifferentThings(t *testing.T) {
	for options, want := range map[string]bool{
		"": true, "method=plan": true, "relative=off": false, "p=1": false, "rotate=on": false, "scale=none": false, "method=shifted": false, "method=plan, relative=on": true,
	} {
		for _, columns := range []bool{true, false} {
			c := vectorCall(t, "DP_MEAN", options)
			if err := c.Vector(Vectors{Dim: 3, Columns: columns}, "", false); err != nil {
				t.Fatal(err)
			}
			if got := c.vectorParams(estimator.Params{}).Relative; got != (want && (columns || options == "method=plan, relative=on")) {
				t.Errorf("%q, columns %v: relative is %v", options, columns, got)
			}
		}
	}
}

// TestMethodOfSession checks that the session's method serves means alone, and yields to the
// call's.
func TestMethodOfSession(t *testing.T) {
	for _, c := range []struct{ function, options, want string }{
		{"DP_MEAN", "", "shifted"}, {"AVG", "", "shifted"}, {"DP_MEAN", "method=auto", "auto"}, {"DP_MEAN", "method=plan", "plan"},
		{"DP_SUM", "", ""}, {"DP_VARIANCE", "", ""},
	} {
		call := vectorCall(t, c.function, c.options)
		if err := call.Vector(Vectors{Dim: 2}, "shifted", true); err != nil || call.Options.Method != c.want {
			t.Errorf("%s %q: method %q (%v), want %q", c.function, c.options, call.Options.Method, err, c.want)
		}
	}
	call := vectorCall(t, "DP_MEAN", "p=1")
	if err := call.Vector(Vectors{Dim: 2}, "clipped", true); err == nil || !strings.Contains(err.Error(), "dp_method") {
		t.Errorf("an option that does not fit the session's method: got %v", err)
	}
}

// TestFits checks every option against every method: one that fits no named method would be lost.
func TestFits(t *testing.T) {
	values := map[string]string{"p": "2", "tail": "sqrt_n", "clip": "tails", "rotate": "on", "quantile": "em", "scale": "none", "pairs": "2", "relative": "on",
		"radius": "3", "sigma_min": "1", "sigma_max": "2", "sigma": "1", "rounds": "2", "moment": "3", "sigma_k": "2", "rows": "9", "stages": "single",
		"split": "persons", "histogram": "stability", "persons": "100", "top": "4"}
	for option, of := range fits {
		for _, method := range params.Method.Words {
			c := vectorCall(t, "DP_MEAN", "method="+method+", "+option+"="+values[option])
			err := c.Vector(Vectors{Dim: 4}, "", false)
			if fits := fit(method, of); fits != (err == nil) || method != "auto" && fits != slices.Contains(of, method) {
				t.Errorf("%s with method=%s: %v", option, method, err)
			}
			if err != nil && !strings.Contains(err.Error(), of[0]) {
				t.Errorf("%s with method=%s: the message names no method that fits: %v", option, method, err)
			}
		}
		if o := documented(option); !slices.Contains(meanOptions, o.Name) {
			t.Errorf("DP_MEAN does not list %s", option)
		}
	}
	values["dimension"], values["answer"] = "3", "json"
	for o, value := range values {
		for _, method := range []string{"auto", "person", "cover"} {
			c := vectorCall(t, "DP_MEAN", "method="+method+", "+o+"="+value)
			want := slices.Contains(fits[o], method) || method == "auto" && slices.Contains(fits[o], "person")
			if err := c.Scalar(""); (err == nil) != want {
				t.Errorf("%s for a number, with method=%s: %v", o, method, err)
			}
		}
	}
	for _, text := range []string{"method=plan", "method=friendly", "method=person, sigma=[1, 2]", "method=person, weight=row"} {
		if c := vectorCall(t, "DP_MEAN", text); c.Scalar("") == nil {
			t.Errorf("%s passed for a number", text)
		}
	}
}

// TestRowsOfVectors: without one row a person, a mean over rows is refused, and the answer says
// what serves.
func TestRowsOfVectors(t *testing.T) {
	for name, instead := range map[string]string{"AVG": "DP_MEAN(v)", "VAR_POP": "DP_VARIANCE(v)", "STDDEV": "DP_STDDEV(v)"} {
		c := vectorCall(t, name, "")
		err := c.Vector(Vectors{Dim: 2}, "", false)
		if e, ok := refuse.As(err); !ok || e.Code != refuse.Aggregate || !strings.Contains(e.Error(), instead) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := c.Vector(Vectors{Dim: 2}, "", true); err != nil {
			t.Errorf("%s with one row a person: %v", name, err)
		}
	}
	c := vectorCall(t, "SUM", "")
	if err := c.Vector(Vectors{Dim: 2}, "", false); err != nil {
		t.Errorf("SUM: %v", err)
	}
}

// TestVectorEstimators builds the estimator of every function that takes vectors, by every method.
func TestVectorEstimators(t *testing.T) {
	lo, hi := int64(0), int64(1)
	dense := estimator.Params{Rho: 0.5, Grid: estimator.Grid{Step: 0x1p-20, Lo: -1 << 50, Hi: 1 << 50}}
	bits := estimator.Params{Rho: 0.5, Grid: estimator.Grid{Step: 1, Lo: lo, Hi: hi}, Lower: &lo, Upper: &hi}
	for _, c := range []struct {
		function, options string
		sparse            bool
	}{
		{"DP_MEAN", "", false}, {"DP_MEAN", "", true}, {"AVG", "", false}, {"DP_SUM", "", false}, {"SUM", "", true}, {"DP_VARIANCE", "", false}, {"DP_VARIANCE", "", true},
		{"DP_STDDEV", "", false}, {"VAR_POP", "", false}, {"STDDEV_SAMP", "", true}, {"DP_MEAN", "method=clipped, tail=sqrt_n", false}, {"DP_MEAN", "method=shifted, rotate=on", false},
		{"DP_MEAN", "method=plan, quantile=em, relative=on", false}, {"DP_MEAN", "method=plan, pairs=3", false}, {"DP_MEAN", "method=plan, sigma=[1, 2, 3]", false},
		{"DP_MEAN", "method=coinpress, sigma_max=4, radius=10, rounds=3", false}, {"DP_MEAN", "method=plan, p=2", true}, {"DP_MEAN", "method=clipped", true},
	} {
		call, p := vectorCall(t, c.function, c.options), dense
		if c.sparse {
			p = bits
		}
		if err := call.Vector(Vectors{Dim: 3, Sparse: c.sparse}, "", true); err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		e, err := call.Estimator(p)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := e.Loss().Rho.Float(); !(got > 0) || got > p.Rho*(1+1e-9) || !slices.Equal(e.Columns(), []estimator.Kind{estimator.Vector}) {
			t.Errorf("%+v costs rho %v of %v and reads %v", c, got, p.Rho, e.Columns())
		}
	}
	// no spread is declared; lists of items are not rotated
	for _, options := range []string{"method=coinpress", "rotate=on"} {
		call := vectorCall(t, "DP_MEAN", options)
		if err := call.Vector(Vectors{Dim: 3, Sparse: options == "rotate=on"}, "", false); err != nil {
			t.Fatal(err)
		}
		_, err := call.Estimator(map[bool]estimator.Params{true: bits, false: dense}[call.Vectors.Sparse])
		if e, ok := refuse.As(err); !ok || e.Code != refuse.Option || !strings.Contains(e.Error(), "method=auto") {
			t.Errorf("%s: got %v", options, err)
		}
	}
}

func lit(v any, t sql.Type) sql.Expression { return expression.NewLiteral(v, t) }

func TestValue(t *testing.T) {
	ctx := sql.NewEmptyContext()
	doc := types.JSONDocument{Val: []any{1.5, int64(-2), nil, "4", []any{5.0}}}
	vec := make([]byte, 8)
	binary.LittleEndian.PutUint32(vec, math.Float32bits(0.5))
	binary.LittleEndian.PutUint32(vec[4:], math.Float32bits(float32(math.Inf(1))))
	for _, c := range []struct {
		v    any
		i    any
		want any
	}{
		{doc, int64(1), 1.5}, {doc, int64(2), -2.0}, {doc, int64(3), nil}, {doc, int64(4), nil}, {doc, int64(5), nil},
		{doc, int64(0), nil}, {doc, int64(6), nil}, {doc, int64(-1), nil}, {doc, int64(math.MaxInt64), nil}, {doc, int64(math.MinInt64), nil},
		{doc, 1.5, nil}, {doc, 2.0, -2.0}, {doc, nil, nil}, {doc, "1", nil}, {nil, int64(1), nil},
		{"[7, 8]", int64(2), 8.0}, {"[7, 8", int64(2), nil}, {`{"a": 1}`, int64(1), nil}, {"", int64(1), nil},
		{vec, int64(1), 0.5}, {vec, int64(2), nil}, {vec, int64(3), nil}, {vec, int64(0), nil}, {vec[:5], int64(1), nil},
	} {
		got, err := newScalar(t, "DP_VALUE", lit(c.v, types.JSON), lit(c.i, types.Int64)).Eval(ctx, nil)
		if err != nil || got != c.want {
			t.Errorf("DP_VALUE(%v, %v): got %v, %v, want %v", c.v, c.i, got, err, c.want)
		}
	}
}

func newScalar(t *testing.T, name string, args ...sql.Expression) sql.Expression {
	t.Helper()
	for _, f := range scalars {
		if f.Name == name {
			e, err := f.function().(sql.FunctionN).Fn(nil, args...)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	t.Fatal(name)
	return nil
}

// TestMakers checks the functions that stand under aggregates: their values elsewhere, and that
// their text tells them apart, as the binder merges aggregates by it.
func TestMakers(t *testing.T) {
	ctx := sql.NewEmptyContext()
	one, text := lit(int64(1), types.Int64), lit("x", types.LongText)
	for _, c := range []struct {
		args []sql.Expression
		want any
	}{
		{[]sql.Expression{one, lit(2.5, types.Float64)}, []any{1.0, 2.5}},
		{[]sql.Expression{one, lit(nil, types.Null)}, nil},
		{[]sql.Expression{one, text}, nil},
	} {
		got, err := newScalar(t, "DP_VECTOR", c.args...).Eval(ctx, nil)
		if d, ok := got.(types.JSONDocument); ok {
			got = d.Val
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("DP_VECTOR%v: got %v, %v", c.args, got, err)
		}
	}
	onehot := newScalar(t, "DP_ONEHOT", one, lit("dimension=3", types.LongText))
	if _, err := onehot.Eval(ctx, nil); err == nil {
		t.Error("DP_ONEHOT was answered")
	}
	a, b := newScalar(t, "DP_VECTOR", lit("A", types.LongText)), newScalar(t, "DP_VECTOR", lit("a", types.LongText))
	if strings.EqualFold(a.String(), b.String()) {
		t.Errorf("%s and %s would be one", a, b)
	}
	for _, f := range scalars {
		if _, err := f.function().(sql.FunctionN).Fn(nil); err == nil {
			t.Errorf("%s takes no arguments", f.Name)
		}
		if f.build == nil { // a call that the parser has left over
			if _, err := f.function().(sql.FunctionN).Fn(nil, one, one); err == nil || !strings.Contains(err.Error(), f.Signature) {
				t.Errorf("%s: %v", f.Name, err)
			}
			continue
		}
		if e := newScalar(t, f.Name, one, one); e.String() != f.Name+"(1, 1)" || !e.Resolved() || len(e.Children()) != 2 {
			t.Errorf("%s: %s", f.Name, e)
		}
	}
}
