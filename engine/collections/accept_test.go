package collections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

func TestLifeOfALocalCollection(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPKV2)
	tokens := w.issue("commute", 4000)
	_, err := w.Params("commute", 1, "")
	wantCode(t, "parameters of a draft", err, refuse.CollectionState)
	w.open("survey.Commute")
	value := func(i int) float64 { return 40 + 5*math.Sin(float64(i)) }
	w.bring("commute", 1, tokens, value)
	_, err = w.Estimate(ctx, "commute", "")
	wantCode(t, "an estimate in round 1", err, refuse.CollectionRounds)
	previews, err := w.Preview(ctx, "commute")
	must(t, err)
	must(t, w.Next(ctx, "commute"))
	p, err := w.Params("commute", 2, "")
	must(t, err)
	equal(t, "centre as previewed", p.Published.Centre[0], previews[0].Published.Centre[0])
	w.bring("commute", 2, tokens, value)
	before, err := w.Estimate(ctx, "commute", "") // while the round is open
	must(t, err)
	must(t, w.Next(ctx, "commute"))
	e, err := w.Estimate(ctx, "commute", "")
	must(t, err)
	mean, stderr, err := e.Mean()
	must(t, err)
	if math.Abs(mean-40) > 6*stderr {
		t.Errorf("mean %v ± %v, want 40", mean, stderr)
	}
	if m, _, _ := before.Mean(); m != mean {
		t.Errorf("the estimate changed from %v to %v without a report", m, mean)
	}
	results, err := w.Results("commute")
	must(t, err)
	if !bytes.Contains(results[""], []byte(`"mean":`)) {
		t.Errorf("results %s", results)
	}
	equal(t, "reports", w.number("SELECT count(*) FROM survey.commute"), 4000)
	equal(t, "spent", w.number("SELECT count(*) FROM "+w.own(tableSpent, "commute")), 4000)
}

// bitWorld has a collection of LDP_BIT, and its tokens.
func bitWorld(t *testing.T, tokens int) (w world, list []Token) {
	w = testWorld(t)
	w.create("commute", collect.LDPBit)
	return w, w.issue("commute", tokens)
}

// TestRefusedReports is what a server refuses, each time with the same state after as before.
func TestRefusedReports(t *testing.T) {
	w, tokens := bitWorld(t, 400)
	ctx := context.Background()
	w.open("commute")
	p, err := w.Params("commute", 1, "")
	must(t, err)
	good := p.EncodeReport(0, []byte{1})
	must(t, w.Accept(ctx, "commute", []Submission{{Token: tokens[0].Secret[:], Report: good}}))
	foreign := append([]byte{}, good...)
	foreign[9] ^= 1
	at := func(i int, report []byte) []Submission {
		return []Submission{{Token: tokens[i].Secret[:], Report: report}}
	}
	for _, tt := range []struct {
		what string
		list []Submission
		code refuse.Code
	}{
		{"no such token", []Submission{{Token: make([]byte, 16), Report: good}}, refuse.UnknownToken},
		{"a short token", []Submission{{Token: tokens[1].Secret[:15], Report: good}}, refuse.UnknownToken},
		{"another report", at(0, p.EncodeReport(0, []byte{0})), refuse.SpentToken},
		{"another fingerprint", at(1, foreign), refuse.MalformedReport},
		{"8 kB", at(1, make([]byte, 8192)), refuse.MalformedReport},
		{"nothing", at(1, nil), refuse.MalformedReport},
		{"too long by one", at(1, append(append([]byte{}, good...), 0)), refuse.MalformedReport},
		{"a bit of 2", at(1, p.EncodeReport(0, []byte{2})), refuse.MalformedReport},
		{"another cell", at(1, p.EncodeReport(1, []byte{1})), refuse.MalformedReport},
		{"one bad among good ones", append(at(1, good), append(at(2, foreign), at(3, good)...)...), refuse.MalformedReport},
		{"one token, two reports", append(at(1, good), at(1, p.EncodeReport(0, []byte{0}))...), refuse.SpentToken},
	} {
		wantCode(t, tt.what, w.Accept(ctx, "commute", tt.list), tt.code)
		equal(t, tt.what+": reports", w.number("SELECT count(*) FROM survey.commute"), 1)
	}
	wantCode(t, "no such collection", w.Accept(ctx, "nothing", at(1, good)), refuse.CollectionState)

	// A retry changes nothing, in whatever state.
	again := append(at(0, good), at(0, good)...)
	must(t, w.Accept(ctx, "commute", again))
	must(t, w.Accept(ctx, "commute", append(at(4, good), at(4, good)...)))
	must(t, w.Close(ctx, "commute"))
	must(t, w.Accept(ctx, "commute", again))
	wantCode(t, "a closed round", w.Accept(ctx, "commute", at(5, good)), refuse.ClosedToken)
	wantCode(t, "too few", w.Next(ctx, "commute"), refuse.TooFewReports)
	must(t, w.Abort(ctx, "commute", "test"))
	must(t, w.Accept(ctx, "commute", again))
	wantCode(t, "an aborted collection", w.Accept(ctx, "commute", at(5, good)), refuse.CollectionState)
	equal(t, "reports", w.number("SELECT count(*) FROM survey.commute"), 2)
}

// TestMinimumToTheReport: with one report less the round does not end, with one more it does.
func TestMinimumToTheReport(t *testing.T) {
	w, tokens := bitWorld(t, 400)
	ctx := context.Background()
	w.open("commute")
	p, err := w.Params("commute", 1, "")
	must(t, err)
	w.bring("commute", 1, tokens[:p.Min-1], func(int) float64 { return 30 })
	wantCode(t, "one report short", w.Next(ctx, "commute"), refuse.TooFewReports)
	_, err = w.Estimate(ctx, "commute", "")
	wantCode(t, "an estimate of too few", err, refuse.TooFewReports)
	s, _ := w.Lookup("commute")
	equal(t, "state", s.State, Open)
	w.bring("commute", 1, tokens[p.Min-1:p.Min], func(int) float64 { return 30 })
	must(t, w.Next(ctx, "commute"))
}

func TestTokensOfAnotherRound(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPKV2)
	tokens := w.issue("commute", 4000)
	w.open("commute")
	w.bring("commute", 1, tokens[1000:], func(int) float64 { return 30 })
	var first, second Token
	for _, tk := range tokens[:1000] {
		if tk.Round == 1 {
			first = tk
		} else {
			second = tk
		}
	}
	p, err := w.Params("commute", 1, "")
	must(t, err)
	report := p.EncodeReport(first.Cell, []byte{0, 0})
	wantCode(t, "a token of round 2", w.Accept(ctx, "commute", []Submission{{Token: second.Secret[:], Report: report}}), refuse.ClosedToken)
	other := p.EncodeReport((first.Cell+1)%uint32(len(p.Cells)), []byte{0, 0})
	wantCode(t, "a report of another cell", w.Accept(ctx, "commute", []Submission{{Token: first.Secret[:], Report: other}}), refuse.ClosedToken)
	must(t, w.Next(ctx, "commute"))
	wantCode(t, "a token of round 1 in round 2", w.Accept(ctx, "commute", []Submission{{Token: first.Secret[:], Report: report}}), refuse.ClosedToken)
	wantCode(t, "a report of round 1 in round 2", w.Accept(ctx, "commute", []Submission{{Token: second.Secret[:], Report: report}}), refuse.MalformedReport)
}

// TestManySubmitters: every token reports once whoever else is there, failures hurt nobody, and
// retries of all change nothing.
func TestManySubmitters(t *testing.T) {
	const n, workers = 3000, 32
	w := testWorld(t)
	w.create("commute", collect.LDPBit, func(d *collect.Declaration) { d.Expected = n })
	tokens := w.issue("commute", n)
	w.open("commute")
	p, err := w.Params("commute", 1, "")
	must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	winners := map[int]byte{}
	for k := range workers {
		all.Go(func() {
			// two goroutines want each token, with different bits
			for i := k; i < 2*n; i += workers {
				at, bit := i%n, byte(i/n)
				err := w.Accept(context.Background(), "commute", []Submission{{Token: tokens[at].Secret[:], Report: p.EncodeReport(0, []byte{bit})}})
				if err == nil {
					mu.Lock()
					if _, twice := winners[at]; twice {
						t.Errorf("token %d reported twice", at)
					}
					winners[at] = bit
					mu.Unlock()
				} else {
					wantCode(t, "the loser", err, refuse.SpentToken)
				}
			}
		})
	}
	all.Wait()
	ones := 0
	for at, bit := range winners {
		ones += int(bit)
		must(t, w.Accept(context.Background(), "commute", []Submission{{Token: tokens[at].Secret[:], Report: p.EncodeReport(0, []byte{bit})}}))
	}
	equal(t, "tokens spent", len(winners), n)
	equal(t, "reports", w.number("SELECT count(*) FROM survey.commute"), n)
	equal(t, "ones", w.number("SELECT count(*) FROM survey.commute WHERE report = $1", p.EncodeReport(0, []byte{1})), ones)
	equal(t, "received", int(w.Cells()[0].Received), n)
}

// TestVersionsChangeWithReports: caches rest on it.
func TestVersionsChangeWithReports(t *testing.T) {
	w, tokens := bitWorld(t, 400)
	ctx, ref := context.Background(), store.TableRef{Schema: "survey", Name: "commute"}
	w.open("commute")
	version := func() string {
		v, err := w.st.Versions(ctx, ref)
		must(t, err)
		return v[0]
	}
	before := version()
	list := w.bring("commute", 1, tokens[:300], func(int) float64 { return 30 })
	after := version()
	if before == after {
		t.Error("reports came and the version is the same")
	}
	must(t, w.Accept(ctx, "commute", list))
	equal(t, "version after a retry", version(), after)
	first, err := w.Estimate(ctx, "commute", "")
	must(t, err)
	equal(t, "reports of the first estimate", first.Info().Reports, 300)
	w.bring("commute", 1, tokens[300:], func(int) float64 { return 90 })
	second, err := w.Estimate(ctx, "commute", "")
	must(t, err)
	equal(t, "reports of the second", second.Info().Reports, 400)
}

// TestEstimatesAreKept for one version; refusals too, failures not.
func TestEstimatesAreKept(t *testing.T) {
	var e estimates
	made := 0
	get := func(stratum, version string, err error) error {
		_, err = e.get(stratum, version, func() (Estimate, error) { made++; return nil, err })
		return err
	}
	refusal := refuse.New(refuse.TooFewReports, "Few.")
	for i, tt := range []struct {
		stratum, version string
		err              error
		made             int
	}{{"", "1", nil, 1}, {"", "1", nil, 1}, {"a", "1", nil, 2}, {"", "2", refusal, 3}, {"", "2", nil, 3}, {"", "3", io.ErrUnexpectedEOF, 4}, {"", "3", nil, 5}} {
		_ = get(tt.stratum, tt.version, tt.err)
		equal(t, fmt.Sprint("made after call ", i), made, tt.made)
	}
}

// TestReportsHaveADay and nothing finer.
func TestReportsHaveADay(t *testing.T) {
	w, tokens := bitWorld(t, 2)
	w.now = func() time.Time { return time.Date(2026, 5, 6, 23, 59, 59, 7, time.FixedZone("", -3600)) }
	w.open("commute")
	w.bring("commute", 1, tokens, func(int) float64 { return 30 })
	for _, r := range w.rows("SELECT day FROM survey.commute") {
		equal(t, "day", r[0].(time.Time), time.Date(2026, 5, 7, 0, 0, 0, 0, time.UTC))
	}
}

// TestContextEnds: whoever gives up waiting can ask again.
func TestContextEnds(t *testing.T) {
	w, tokens := bitWorld(t, 10)
	w.open("commute")
	s := w.report("commute", tokens[0], collect.Value{1})
	w.bring("commute", 1, tokens[1:2], func(int) float64 { return 1 }) // the tokens are read
	w.writing.Lock()                                                   // the flush waits
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := w.Accept(ctx, "commute", []Submission{s}); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	w.writing.Unlock()
	must(t, w.Accept(context.Background(), "commute", []Submission{s}))
	equal(t, "reports", w.number("SELECT count(*) FROM survey.commute"), 2)
}

// TestShutdown: nobody waits for an answer that does not come, and retries after FINAL find their
// token again.
func TestShutdown(t *testing.T) {
	w, tokens := bitWorld(t, 400)
	w.open("commute")
	list := w.bring("commute", 1, tokens[1:], func(int) float64 { return 1 })
	must(t, w.Next(context.Background(), "commute"))
	if w.names["commute"].tokens != nil {
		t.Error("the tokens of a collection that has ended are in memory")
	}
	must(t, w.Accept(context.Background(), "commute", list))
	s := w.report("commute", tokens[0], collect.Value{1})
	wantCode(t, "after the end", w.Accept(context.Background(), "commute", []Submission{s}), refuse.ClosedToken)

	w, tokens = bitWorld(t, 400)
	w.open("commute")
	s = w.report("commute", tokens[0], collect.Value{1})
	w.bring("commute", 1, tokens[1:2], func(int) float64 { return 1 })
	must(t, w.Shutdown())
	if err := w.Accept(context.Background(), "commute", []Submission{s}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want %v", err, store.ErrClosed)
	}
}

// TestNothingIsLeftOfSecrets: neither secrets nor bare hashes of reports are in the file.
func TestNothingIsLeftOfSecrets(t *testing.T) {
	w, tokens := bitWorld(t, 400)
	w.open("commute")
	list := w.bring("commute", 1, tokens, func(int) float64 { return 30 })
	must(t, w.Close(context.Background(), "commute"))
	file := w.file()
	for i, s := range list {
		bare := sha256.Sum256(s.Report)
		if bytes.Contains(file, s.Token) || bytes.Contains(file, bare[:]) {
			t.Fatalf("the secret of token %d, or its report's hash, is in the file", i)
		}
	}
	if hash := sha256.Sum256(list[0].Token); !bytes.Contains(file, hash[:]) {
		t.Error("no hash of a token was found: the test looks in the wrong place")
	}
}
