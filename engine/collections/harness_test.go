package collections

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/refuse"
)

// world is a store with its collections.
type world struct {
	*Collections
	t    testing.TB
	st   *duckdb.Store
	path string
}

// testWorld opens collections on a new store with a database "survey".
func testWorld(t testing.TB) world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	w := testReopen(t, path)
	s, err := w.st.Session(context.Background())
	must(t, err)
	defer s.Close()
	_, err = s.Write(context.Background(), []store.TableRef{{Schema: "survey"}}, "CREATE SCHEMA survey")
	must(t, err)
	return w
}

func testReopen(t testing.TB, path string) world {
	t.Helper()
	st, err := duckdb.Open(path, duckdb.Options{Threads: 2})
	must(t, err)
	t.Cleanup(func() { st.Close() })
	c, err := New(context.Background(), st)
	must(t, err)
	t.Cleanup(func() { c.Shutdown() })
	return world{c, t, st, path}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		if e := (*store.Error)(nil); asStore(err, &e) {
			t.Fatalf("%v (driver: %s)", err, e.Driver)
		}
		t.Fatal(err)
	}
}

func asStore(err error, e **store.Error) bool {
	for ; err != nil; err = unwrap(err) {
		if s, ok := err.(*store.Error); ok {
			*e = s
			return true
		}
	}
	return false
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// wantCode checks that a statement was refused with a code, and that the refusal has texts for a
// person.
func wantCode(t testing.TB, what string, err error, code refuse.Code) {
	t.Helper()
	r, ok := refuse.As(err)
	if !ok || r.Code != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
		return
	}
	if strings.Contains(r.Error(), "%!") || r.Cause == "" {
		t.Errorf("%s: badly worded: %v", what, err)
	}
}

// declared are declarations that are small to run.
var declared = map[collect.Protocol]collect.Declaration{
	collect.LDPBit:  {Epsilon: 10000, Expected: 400, Lo: 0, Hi: 100},
	collect.LDPHier: {Epsilon: 20000, Expected: 4000, Lo: 0, Hi: 100, Levels: 3},
	collect.LDPHaar: {Epsilon: 20000, Expected: 4000, Lo: 0, Hi: 100, Levels: 4},
	collect.LDPKV2:  {Epsilon: 20000, Expected: 4000, Lo: 0, Hi: 100, Sigma: 5},
	collect.LDPUV1:  {Epsilon: 40000, Expected: 6000, Lo: 0, Hi: 100, SigmaMin: 2, SigmaMax: 10},
	collect.ShufSum: {Epsilon: 10000, Delta: 1e-6, Expected: 100, Lo: 0, Hi: 100, Trust: "same_operator"},
}

// create makes survey.<name>.
func (w world) create(name string, p collect.Protocol, change ...func(*collect.Declaration)) *collect.Design {
	w.t.Helper()
	d := declared[p]
	for _, f := range change {
		f(&d)
	}
	g, err := w.Create(context.Background(), store.TableRef{Schema: "survey", Name: name}, p, d, "dba@%")
	must(w.t, err)
	return g
}

func (w world) open(name string) { w.t.Helper(); must(w.t, w.Open(context.Background(), name)) }

func (w world) issue(name string, n int) []Token {
	w.t.Helper()
	list, err := w.IssueTokens(context.Background(), name, Issue{Tokens: uint64(n)})
	must(w.t, err)
	return list
}

// report makes the report of a token's holder.
func (w world) report(name string, t Token, v collect.Value) Submission {
	w.t.Helper()
	p, err := w.Params(name, t.Round, t.Stratum)
	must(w.t, err)
	b, err := device.Report(exact.Secure(), p, t.Cell, v)
	must(w.t, err)
	return Submission{Token: t.Secret[:], Report: b}
}

// bring has the holders of a round's tokens report, some hundred at a time.
func (w world) bring(name string, round int, tokens []Token, value func(i int) float64) []Submission {
	w.t.Helper()
	var all []Submission
	for i, t := range tokens {
		if t.Round == round {
			all = append(all, w.report(name, t, collect.Value{value(i)}))
		}
	}
	for rest := all; len(rest) > 0; rest = rest[min(500, len(rest)):] {
		must(w.t, w.Accept(context.Background(), name, rest[:min(500, len(rest))]))
	}
	return all
}

// rows reads a query's result in a transaction, as tables of the server's own are read.
func (w world) rows(sql string, args ...any) [][]any {
	w.t.Helper()
	ctx := context.Background()
	s, err := w.st.Session(ctx)
	must(w.t, err)
	defer s.Close()
	must(w.t, s.Begin(ctx))
	r, err := s.Query(ctx, sql, args...)
	must(w.t, err)
	var out [][]any
	must(w.t, store.Each(r, func(row []any) error { out = append(out, row); return nil }))
	return out
}

func (w world) number(sql string, args ...any) int {
	w.t.Helper()
	return int(w.rows(sql, args...)[0][0].(int64))
}

// own names a collection's table of the server's own.
func (w world) own(kind, name string) string {
	w.t.Helper()
	w.mu.RLock()
	defer w.mu.RUnlock()
	col, err := w.find(name)
	must(w.t, err)
	return quoted(tx{schema: w.Collections.own.OwnSchema()}.table(kind, col.record))
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, fmt.Sprint(got), want)
	}
}

// file returns what is on disk after a checkpoint.
func (w world) file() []byte {
	w.t.Helper()
	held, err := w.st.Hold(context.Background())
	must(w.t, err)
	defer held.Close()
	b, err := io.ReadAll(held.Reader())
	must(w.t, err)
	return b
}
