package collections

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// reach brings a new collection of LDP_KV2 into a state.
func (w world) reach(name string, s State) {
	w.t.Helper()
	ctx := context.Background()
	w.create(name, collect.LDPKV2)
	if s == Draft {
		return
	}
	tokens := w.issue(name, 4000)
	w.open(name)
	switch s {
	case Between:
		must(w.t, w.Close(ctx, name))
	case Failed:
		w.fail(name, tokens)
	case Aborted:
		must(w.t, w.Abort(ctx, name, "no longer wanted"))
	case Final:
		for round := 1; round <= 2; round++ {
			w.bring(name, round, tokens, func(i int) float64 { return 40 })
			must(w.t, w.Next(ctx, name))
		}
	}
}

// fail makes round 1 inconclusive: every residue is reported equally often, so that no mean stands
// out.
func (w world) fail(name string, tokens []Token) {
	w.t.Helper()
	ctx, list, n := context.Background(), []Submission(nil), map[uint32]byte{}
	p, err := w.Params(name, 1, "")
	must(w.t, err)
	for i, t := range tokens {
		if t.Round == 1 {
			list = append(list, Submission{Token: tokens[i].Secret[:], Report: p.EncodeReport(t.Cell, []byte{0, n[t.Cell] % 4})})
			n[t.Cell]++
		}
	}
	must(w.t, w.Accept(ctx, name, list))
	wantCode(w.t, "no mean stands out", w.Next(ctx, name), refuse.RoundInconclusive)
}

// TestTransitions tries every transition in every state.
func TestTransitions(t *testing.T) {
	ctx := context.Background()
	type transition struct {
		name string
		run  func(w world, name string) error
		from map[State]State // where it is allowed, and where it leads; "" for no collection
	}
	transitions := []transition{
		{"open", func(w world, n string) error { return w.Open(ctx, n) }, map[State]State{Draft: Open, Between: Open, Failed: Open}},
		{"close", func(w world, n string) error { return w.Close(ctx, n) }, map[State]State{Open: Between}},
		{"abort", func(w world, n string) error { return w.Abort(ctx, n, "x") }, map[State]State{Draft: Aborted, Open: Aborted, Between: Aborted, Failed: Aborted}},
		{"drop", func(w world, n string) error { return w.Drop(ctx, n) }, map[State]State{Draft: "", Final: "", Aborted: ""}},
		{"issue", func(w world, n string) error {
			_, err := w.IssueTokens(ctx, n, Issue{Tokens: 1})
			return err
		}, map[State]State{Draft: Draft, Open: Open, Between: Between, Failed: Failed}},
		{"preview", func(w world, n string) error { _, err := w.Preview(ctx, n); return err },
			map[State]State{Open: Open, Between: Between, Failed: Failed, Final: Final}},
		{"next", func(w world, n string) error { return w.Next(ctx, n) }, map[State]State{}},
	}
	w := testWorld(t)
	n := 0
	for _, s := range []State{Draft, Open, Between, Failed, Final, Aborted} {
		for _, tr := range transitions {
			n++
			name, what := fmt.Sprintf("c%d", n), fmt.Sprintf("%s in %s", tr.name, s)
			if s == Final && tr.name != "drop" {
				name = "final" // takes longest to reach, and nothing else changes it
				if _, ok := w.Lookup(name); !ok {
					w.reach(name, s)
				}
			} else {
				w.reach(name, s)
			}
			err := tr.run(w, name)
			after, there := w.Lookup(name)
			to, allowed := tr.from[s]
			switch {
			case allowed:
				must(t, err)
				equal(t, what, after.State, to)
				equal(t, what+": there", there, to != "")
			case tr.name == "next" && (s == Open || s == Between):
				wantCode(t, what, err, refuse.TooFewReports)
				equal(t, what+": state", after.State, s)
			default:
				wantCode(t, what, err, refuse.CollectionState)
				equal(t, what+": state", after.State, s)
				w.remedy(what, err, name, s)
			}
		}
	}
}

// remedy runs what a refusal recommends, on the collection that was refused.
func (w world) remedy(what string, err error, name string, s State) {
	w.t.Helper()
	r, _ := refuse.As(err)
	if r.Remedy == "" {
		return
	}
	if strings.Contains(r.Remedy, "%s") || strings.Contains(r.Remedy, "CALL") && !strings.Contains(r.Remedy, "'"+name+"'") {
		w.t.Errorf("%s: remedy %q does not name %s", what, r.Remedy, name)
	}
	calls := map[string]bool{
		"dp_open_collection": s == Draft || s == Between || s == Failed, "dp_close_collection": s == Open, "dp_next_round": s == Open || s == Between,
		"dp_preview_round": s == Open, "dp_drop_collection": s == Draft || s == Final || s == Aborted,
		"dp_abort_collection": s != Final && s != Aborted,
	}
	for call, right := range calls {
		if strings.Contains(r.Remedy, call) && !right {
			w.t.Errorf("%s: remedy %q recommends %s", what, r.Remedy, call)
		}
	}
}

func TestReopenAfterAnInconclusiveRound(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPKV2)
	first := w.issue("commute", 4000)
	w.open("commute")
	w.fail("commute", first)
	s, _ := w.Lookup("commute")
	equal(t, "state", s.State, Failed)
	if s.Reason == "" {
		t.Error("no reason")
	}
	// Nobody reports while it is FAILED, and nobody twice.
	more := w.issue("commute", 20_000)
	for _, tk := range more[:50] {
		equal(t, "round of an additional token", tk.Round, 1)
	}
	late := w.report("commute", more[0], collect.Value{10})
	wantCode(t, "while FAILED", w.Accept(ctx, "commute", []Submission{late}), refuse.ClosedToken)
	must(t, w.Open(ctx, "commute"))
	for _, tk := range first {
		if tk.Round == 1 {
			p, err := w.Params("commute", 1, "")
			must(t, err)
			other := p.EncodeReport(tk.Cell, []byte{0, 1}) // the first one of a cell reported 0
			wantCode(t, "a second report", w.Accept(ctx, "commute", []Submission{{Token: tk.Secret[:], Report: other}}), refuse.SpentToken)
			break
		}
	}
	w.bring("commute", 1, more[:15_000], func(int) float64 { return 10 })
	must(t, w.Next(ctx, "commute"))
	s, _ = w.Lookup("commute")
	equal(t, "state", s.State, Open)
	equal(t, "round", s.Round, 2)
	equal(t, "reason", s.Reason, "")
}

func TestDropLeavesNothing(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	entries := func() int {
		return w.number("SELECT count(*) FROM __scrim.meta WHERE value IS NOT NULL AND bucket LIKE 'collection%'")
	}
	tables := func() int {
		return w.number("SELECT count(*) FROM duckdb_tables() WHERE schema_name IN ('__scrim', 'survey')")
	}
	before := tables()
	w.reach("commute", Final)
	w.reach("other", Open)
	must(t, w.Abort(ctx, "other", "x"))
	must(t, w.Drop(ctx, "survey.commute"))
	must(t, w.Drop(ctx, "other"))
	equal(t, "entries", entries(), 0)
	equal(t, "tables", tables(), before)
	if w.Holds(store.TableRef{Schema: "survey", Name: "commute"}) || w.Holds(store.TableRef{Schema: "survey"}) {
		t.Error("a dropped collection holds its table")
	}
	w.create("commute", collect.LDPBit) // the name is free again
}

// TestCollectionWithoutItsTable, whose database went away under it: the server starts, and it can
// be dropped.
func TestCollectionWithoutItsTable(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.reach("commute", Open)
	w.reach("other", Open)
	s, err := w.st.Session(ctx)
	must(t, err)
	ref := store.TableRef{Schema: "survey", Name: "commute"}
	_, err = s.Write(ctx, []store.TableRef{ref}, "DROP TABLE survey.commute")
	must(t, err)
	must(t, s.Close())
	must(t, w.Shutdown())
	must(t, w.st.Close())
	w = testReopen(t, w.path)
	found, _ := w.Lookup("commute")
	equal(t, "state", found.State, Aborted)
	found, _ = w.Lookup("other")
	equal(t, "state of another", found.State, Open)
	_, err = w.Estimate(ctx, "commute", "")
	wantCode(t, "an estimate", err, refuse.CollectionState)
	must(t, w.Drop(ctx, "commute"))
}

func TestNamesAreTakenOnce(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	s, err := w.st.Session(ctx)
	must(t, err)
	defer s.Close()
	for _, q := range []string{"CREATE SCHEMA other", "CREATE TABLE survey.there (a INTEGER)"} {
		_, err = s.Write(ctx, []store.TableRef{{Schema: "survey", Name: "there"}}, q)
		must(t, err)
	}
	w.create("Commute", collect.LDPBit)
	for _, tt := range []struct{ schema, name string }{{"survey", "commute"}, {"other", "COMMUTE"}, {"survey", "there"}, {"nowhere", "x"}} {
		_, err := w.Create(ctx, store.TableRef{Schema: tt.schema, Name: tt.name}, collect.LDPBit, declared[collect.LDPBit], "dba")
		wantCode(t, tt.schema+"."+tt.name, err, refuse.CollectionState)
	}
	_, err = w.Create(ctx, store.TableRef{Schema: "survey", Name: "bad name"}, collect.LDPBit, declared[collect.LDPBit], "dba")
	wantCode(t, "a bad name", err, refuse.CollectionParameter)
	for name, ok := range map[string]bool{"commute": true, "SURVEY.commute": true, "other.commute": false, "commuter": false} {
		if _, found := w.Lookup(name); found != ok {
			t.Errorf("Lookup(%s) = %v", name, found)
		}
	}
	equal(t, "holds", w.Holds(store.TableRef{Schema: "survey", Name: "commute"}), true)
	equal(t, "holds another database's", w.Holds(store.TableRef{Schema: "other", Name: "commute"}), false)
	equal(t, "holds the database", w.Holds(store.TableRef{Schema: "survey"}), true)
	// The table is shown as MySQL clients declare such columns.
	table, ok, err := w.st.Table(ctx, store.TableRef{Schema: "survey", Name: "commute"})
	must(t, err)
	if !ok || table.Columns[4].Name != "report" || table.Columns[4].MySQL == "" {
		t.Errorf("table %+v", table)
	}
}

// TestNextThatIsInterrupted leaves the round as it was: open, with the same parameters, and able to
// go on.
func TestNextThatIsInterrupted(t *testing.T) {
	w := testWorld(t)
	w.create("commute", collect.LDPKV2)
	tokens := w.issue("commute", 4000)
	w.open("commute")
	w.bring("commute", 1, tokens[:3900], func(int) float64 { return 30 })
	ctx, cancel := context.WithCancel(context.Background())
	w.hook = func(point string) {
		if point == "between" {
			cancel()
		}
	}
	if err := w.Next(ctx, "commute"); store.KindOf(err) != store.Interrupted {
		t.Errorf("got %v, want an interruption", err)
	}
	s, _ := w.Lookup("commute")
	equal(t, "state", s.State, Open)
	equal(t, "round", s.Round, 1)
	equal(t, "closed", w.Rounds()[0].Closed, "")
	w.bring("commute", 1, tokens[3900:], func(int) float64 { return 30 })
	must(t, w.Next(context.Background(), "commute"))
}

// TestNextWhileAnotherStatementChangesTheCollection: what was evaluated is not what would be
// published.
func TestNextWhileAnotherStatementChangesTheCollection(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPKV2)
	tokens := w.issue("commute", 4000)
	w.open("commute")
	w.bring("commute", 1, tokens, func(int) float64 { return 30 })
	w.hook = func(point string) {
		if point == "between" {
			w.hook = func(string) {}
			must(t, w.Open(ctx, "commute"))
		}
	}
	wantCode(t, "a round that was reopened meanwhile", w.Next(ctx, "commute"), refuse.CollectionState)
	s, _ := w.Lookup("commute")
	equal(t, "round", s.Round, 1)
	equal(t, "state", s.State, Open)
}

// TestStaleRowsAreSorted without anybody asking for it.
func TestStaleRowsAreSorted(t *testing.T) {
	w, tokens := bitWorld(t, 50)
	w.open("commute")
	for i := range tokens {
		w.bring("commute", 1, tokens[i:i+1], func(int) float64 { return 1 })
	}
	hashes := func() [][]byte { return w.order(w.own(tableSpent, "commute"), "hash", "true") }
	if slices.IsSortedFunc(hashes(), bytes.Compare) {
		t.Error("rows of fifty flushes are sorted by themselves: the test sees nothing")
	}
	w.sortStale()
	if !slices.IsSortedFunc(hashes(), bytes.Compare) || w.names["commute"].unsorted != 0 {
		t.Error("stale rows were not sorted")
	}
	equal(t, "rows", len(hashes()), 50)
}
