package collections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

// counts counts tokens by round and cell.
func counts(list []Token) map[string]int {
	out := map[string]int{}
	for _, t := range list {
		out[fmt.Sprint(t.Round, "/", t.Cell)]++
	}
	return out
}

func uniform(name string, counts []int64) stattest.Fit {
	p := make([]float64, len(counts))
	for i := range p {
		p[i] = 1 / float64(len(p))
	}
	return stattest.ChiSquare(name, counts, p)
}

func TestQuotasAreExact(t *testing.T) {
	w := testWorld(t)
	g := w.create("commute", collect.LDPKV2)
	var all []Token
	for _, n := range []int{1, 999, 2500, 500} { // 4000 in all
		all = append(all, w.issue("commute", n)...)
	}
	got := counts(all)
	for round := 1; round <= 2; round++ {
		for _, c := range g.Cells(round) {
			equal(t, fmt.Sprint("round ", round, " cell ", c.Cell), got[fmt.Sprint(round, "/", c.Cell)], int(c.Quota))
		}
	}
	equal(t, "cells of a draft", len(w.Cells()), len(g.Cells(1))+len(g.Cells(2)))
	for _, c := range w.Cells() {
		equal(t, fmt.Sprint("tokens of round ", c.Round, " cell ", c.Cell.Cell), int(c.Issued), got[fmt.Sprint(c.Round, "/", c.Cell.Cell)])
	}
	// After a restart the counts go on where they were.
	path := w.path
	must(t, w.Shutdown())
	must(t, w.st.Close())
	w = testReopen(t, path)
	all = append(all, w.issue("commute", 4000)...)
	for round := 1; round <= 2; round++ {
		for _, c := range g.Cells(round) {
			equal(t, "twice the quota", counts(all)[fmt.Sprint(round, "/", c.Cell)], 2*int(c.Quota))
		}
	}
}

// TestIssueOrderIsRandom: the place of a token in the list tells nothing of its cell. The statistic
// must reject a list in the order of cells.
func TestIssueOrderIsRandom(t *testing.T) {
	w := testWorld(t)
	w.create("commute", collect.LDPKV2)
	list := w.issue("commute", 40_000)
	observed := func(list []Token) []int64 {
		out := make([]int64, 20)
		for i, tk := range list {
			if tk.Round == 1 {
				out[i*20/len(list)]++
			}
		}
		return out
	}
	stattest.Accept(t, uniform("tokens of round 1 over the list", observed(list)))
	slices.SortFunc(list, func(a, b Token) int { return a.Round - b.Round })
	stattest.Reject(t, uniform("tokens in order", observed(list)))
}

func TestStrataAreApart(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPBit, func(d *collect.Declaration) { d.Strata = []string{"North", "South"} })
	_, err := w.IssueTokens(ctx, "commute", Issue{Tokens: 10})
	wantCode(t, "tokens of no stratum", err, refuse.CollectionParameter)
	_, err = w.IssueTokens(ctx, "commute", Issue{Tokens: 10, Stratum: "East"})
	wantCode(t, "tokens of another stratum", err, refuse.CollectionParameter)
	by := map[string][]Token{}
	for _, s := range []string{"North", "south"} {
		list, err := w.IssueTokens(ctx, "commute", Issue{Tokens: 400, Stratum: s})
		must(t, err)
		by[list[0].Stratum] = list
	}
	w.open("commute")
	w.bring("commute", 1, by["North"], func(int) float64 { return 10 })
	wantCode(t, "a stratum without reports", w.Next(ctx, "commute"), refuse.TooFewReports)
	north := w.report("commute", Token{Round: 1, Stratum: "North"}, collect.Value{1})
	wantCode(t, "a report of another stratum", w.Accept(ctx, "commute", []Submission{{Token: by["South"][0].Secret[:], Report: north.Report}}), refuse.MalformedReport)
	w.bring("commute", 1, by["South"], func(int) float64 { return 90 })
	must(t, w.Next(ctx, "commute"))
	_, err = w.Estimate(ctx, "commute", "")
	wantCode(t, "an estimate of all strata", err, refuse.CollectionFilter)
	for s, want := range map[string]float64{"North": 10, "SOUTH": 90} {
		e, err := w.Estimate(ctx, "commute", s)
		must(t, err)
		if m, stderr, _ := e.Mean(); m < want-6*stderr || m > want+6*stderr || stderr == 0 {
			t.Errorf("%s: %v ± %v, want %v", s, m, stderr, want)
		}
	}
	results, err := w.Results("commute")
	must(t, err)
	equal(t, "results", len(results), 2)
	equal(t, "rounds", len(w.Rounds()), 2)
}

// TestTokensFindTheirHash in any order of adding.
func TestTokensFindTheirHash(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var x tokens
	n := 0
	keyFor := func(i int) key { h := sha256.Sum256(fmt.Append(nil, i)); return keyOf(h[:]) }
	for range 60 {
		var list []token
		for range 1 + r.IntN(200) {
			list = append(list, token{key: keyFor(n), place: place{cell: uint32(n)}})
			n++
		}
		x.add(list)
	}
	for i := range n {
		if e := x.find(keyFor(i)); e == nil || e.place.cell != uint32(i) {
			t.Fatalf("token %d was not found", i)
		}
	}
	if x.find(keyFor(n)) != nil || x.find(key{}) != nil {
		t.Error("a token was found that is not there")
	}
	if len(x.runs) > 15 {
		t.Errorf("%d runs for %d tokens", len(x.runs), n)
	}
}

// order reads a column of hashes in the order of the rows in the file.
func (w world) order(table, column, where string) [][]byte {
	w.t.Helper()
	var out [][]byte
	for _, r := range w.rows("SELECT " + column + " FROM " + table + " WHERE " + where + " ORDER BY rowid") {
		out = append(out, r[0].([]byte))
	}
	return out
}

// TestNothingJoinsTokensAndReports looks at all that is stored: no row has a token and a report,
// tables of tokens are in the order of their hashes, and reports in an order that follows from
// themselves, once the round is closed.
func TestNothingJoinsTokensAndReports(t *testing.T) {
	w := testWorld(t)
	w.create("commute", collect.LDPHaar)
	tokens := w.issue("commute", 4000)
	w.open("commute")
	list := w.bring("commute", 1, tokens, func(i int) float64 { return float64(i % 100) })
	must(t, w.Settle(context.Background()))
	sorted := func(what string, rows [][]byte) {
		t.Helper()
		equal(t, what+": rows", len(rows), 4000)
		if !slices.IsSortedFunc(rows, bytes.Compare) {
			t.Errorf("%s: not in order", what)
		}
	}
	sorted("tokens", w.order(w.own(tableToken, "commute"), "hash", "true"))
	sorted("spent tokens", w.order(w.own(tableSpent, "commute"), "hash", "true"))
	must(t, w.Close(context.Background(), "commute"))
	// the header begins alike, then comes the cell
	sorted("reports", w.order("survey.commute", "report", "true"))
	sorted("spent tokens", w.order(w.own(tableSpent, "commute"), "hash", "true"))
	for _, r := range w.rows("SELECT lower(table_name), lower(column_name) FROM duckdb_columns() WHERE schema_name IN ('__scrim', 'survey')") {
		name := fmt.Sprint(r[0])
		if name == "commute" && slices.Contains([]string{"hash", "token", "id", "time", "at"}, fmt.Sprint(r[1])) {
			t.Errorf("column %v of the reports", r[1])
		}
	}
	// What is kept of a report beside its token is no hash that can be read off by trying all
	// reports.
	for _, s := range list[:50] {
		bare := sha256.Sum256(s.Report)
		equal(t, "bare hashes", w.number("SELECT count(*) FROM "+w.own(tableSpent, "commute")+" WHERE report = $1", bare[:]), 0)
	}
}

// TestOrderWithinAFlush: the rows of one statement are stored in another order than they came in,
// which is random. Without the permutation the test must fail.
func TestOrderWithinAFlush(t *testing.T) {
	const n, times = 8, 4000
	w := testWorld(t)
	w.create("commute", collect.LDPHaar, func(d *collect.Declaration) { d.Expected = n * times })
	col := w.names["commute"]
	tokens := w.issue("commute", n)
	w.open("commute")
	spent := make([]submission, n)
	for i, tk := range tokens {
		s := w.report("commute", tk, collect.Value{1})
		spent[i] = submission{hash: sha256.Sum256(s.Token), place: place{1, 0, uint32(i)}, report: s.Report}
	}
	first, plain := make([]int64, n), make([]int64, n)
	for range times {
		rows := reportRows(col, spent, w.day())
		first[rows[0][1].(uint32)]++
		plain[0]++
	}
	stattest.Accept(t, uniform("which report is the first row", first))
	stattest.Reject(t, uniform("rows as they came", plain))
}
