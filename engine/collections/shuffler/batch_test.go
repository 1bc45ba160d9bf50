package shuffler

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
	"scrim/test/testenv"
)

var first = batchName{collection: "survey.commute", round: 1, batch: 1}

func numbered(batch uint32) batchName { k := first; k.batch = batch; return k }

func TestLifeOfABatch(t *testing.T) {
	w := sumWorld(t)
	tokens := w.issue(100)
	w.send(tokens, 0)
	equal(t, "open reports", w.wait(1, Open).Reports, 100)
	done, err := w.close(false, false)
	must(t, err)
	equal(t, "closed batches", len(done), 1)
	s := w.wait(1, Acknowledged)
	equal(t, "parts", s.Parts, 13)
	bag, reports := w.up.bag(first)
	equal(t, "reports", reports, 100)
	by := senders(t, bag)
	equal(t, "senders", len(by), 100)
	for sender, n := range by {
		equal(t, "messages of a sender", n, int(w.p.Messages()))
		_ = sender
	}
	equal(t, "spent tokens", w.spent(), 100)
	w.gone()
	err = w.Accept(context.Background(), tokens[0].Secret[:], bundleOf(w.p, 0))
	wantCode(t, "retry after the hashes were erased", err, refuse.SpentToken)
	more := w.issue(1)
	wantCode(t, "after the end", w.Accept(context.Background(), more[0].Secret[:], bundleOf(w.p, 0)), refuse.ClosedToken)
	n, err := w.Reopen(Selection{Collection: "survey.commute"})
	must(t, err)
	equal(t, "reopened", n, 1)
	w = w.again()
	must(t, w.Accept(context.Background(), more[0].Secret[:], bundleOf(w.p, 0)))
	equal(t, "the next batch", w.wait(2, Open).Reports, 1)
}

func TestNoBatchBelowTheMinimum(t *testing.T) {
	w := sumWorld(t)
	least := int(w.p.Batch.Min)
	tokens := w.issue(100)
	w.send(tokens[:least-1], 0)
	_, err := w.close(false, false)
	wantCode(t, "one too few", err, refuse.TooFewReports)
	equal(t, "reports after the refusal", w.wait(1, Open).Reports, uint64(least-1))

	done, err := w.close(true, true)
	must(t, err)
	equal(t, "state", done[0].State, Destroyed)
	equal(t, "spent tokens", w.spent(), least-1)
	w.gone()
	err = w.Accept(context.Background(), tokens[0].Secret[:], bundleOf(w.p, 9))
	wantCode(t, "a token of the destroyed batch", err, refuse.SpentToken)
	w = w.again()
	err = w.Accept(context.Background(), tokens[0].Secret[:], bundleOf(w.p, 0))
	wantCode(t, "the same after a restart", err, refuse.SpentToken)

	w.send(tokens[least-1:], least-1)
	w.send(w.issue(least), 1000)
	_, err = w.close(false, false)
	must(t, err)
	w.wait(2, Acknowledged)
	bag, _ := w.up.bag(numbered(2))
	for sender := range senders(t, bag) {
		if sender < uint64(least-1) {
			t.Errorf("sender %d of the destroyed batch was released", sender)
		}
	}
	if bag, _ := w.up.bag(first); len(bag) > 0 {
		t.Error("messages of the destroyed batch were sent")
	}
}

func TestExactlyTheMinimumIsReleased(t *testing.T) {
	w := sumWorld(t)
	w.send(w.issue(int(w.p.Batch.Min)), 0)
	_, err := w.close(false, false)
	must(t, err)
	w.wait(1, Acknowledged)
}

func TestFullBatchesCloseByThemselves(t *testing.T) {
	for when, size := range map[When]uint64{AtMax: 144, AtExpected: 100, AtMin: 80} {
		t.Run(string(when), func(t *testing.T) {
			w := sumWorld(t, func(o *Options) { o.When = when })
			n := 2*size + 7
			w.send(w.issue(int(n)), 0)
			seen := map[uint64]bool{}
			for batch := range uint32(2) {
				w.wait(batch+1, Acknowledged)
				bag, reports := w.up.bag(numbered(batch + 1))
				equal(t, "reports", reports, size)
				for sender, messages := range senders(t, bag) {
					if seen[sender] || messages != int(w.p.Messages()) {
						t.Errorf("sender %d has %d messages in batch %d, or was in another", sender, messages, batch+1)
					}
					seen[sender] = true
				}
			}
			equal(t, "those left over", w.wait(3, Open).Reports, 7)
		})
	}
}

func TestRefusedBundlesChangeNothing(t *testing.T) {
	w := sumWorld(t)
	ctx := context.Background()
	tokens := w.issue(10)
	good := bundleOf(w.p, 1)
	must(t, w.Accept(ctx, tokens[0].Secret[:], good))
	for range 3 {
		must(t, w.Accept(ctx, tokens[0].Secret[:], good)) // a retry
	}
	wantCode(t, "other bytes", w.Accept(ctx, tokens[0].Secret[:], bundleOf(w.p, 2)), refuse.SpentToken)
	foreign := bytes.Clone(good)
	foreign[0] ^= 1
	count := bytes.Clone(good)
	count[35]--
	for what, c := range map[string]struct {
		token, bundle []byte
		code          refuse.Code
	}{
		"unknown token":        {randomToken(), good, refuse.UnknownToken},
		"no token":             {nil, good, refuse.UnknownToken},
		"long token":           {append(bytes.Clone(tokens[1].Secret[:]), 0), good, refuse.UnknownToken},
		"unpinned fingerprint": {tokens[1].Secret[:], foreign, refuse.MalformedReport},
		"8 kB":                 {tokens[1].Secret[:], make([]byte, 8192), refuse.MalformedReport},
		"8 kB, pinned":         {tokens[1].Secret[:], append(bytes.Clone(good[:32]), make([]byte, 8160)...), refuse.MalformedReport},
		"nothing":              {tokens[1].Secret[:], nil, refuse.MalformedReport},
		"short":                {tokens[1].Secret[:], good[:len(good)-1], refuse.MalformedReport},
		"a message less":       {tokens[1].Secret[:], count, refuse.MalformedReport},
	} {
		wantCode(t, what, w.Accept(ctx, c.token, c.bundle), c.code)
	}
	equal(t, "reports", w.wait(1, Open).Reports, 1)
	must(t, w.Accept(ctx, tokens[1].Secret[:], good)) // the token is still free
	w = w.again()
	equal(t, "reports after a restart", w.wait(1, Open).Reports, 2)
	must(t, w.Accept(ctx, tokens[0].Secret[:], good))
	wantCode(t, "other bytes after a restart", w.Accept(ctx, tokens[0].Secret[:], bundleOf(w.p, 2)), refuse.SpentToken)
}

// TestOneBundleATokenAtOnce races bundles of few tokens, over the closing of batches.
func TestOneBundleATokenAtOnce(t *testing.T) {
	w := sumWorld(t, func(o *Options) { o.When = AtMin })
	tokens := w.issue(200)
	var mu sync.Mutex
	accepted := map[int]map[uint64]bool{}
	var all sync.WaitGroup
	for try := range 3 {
		for i, tk := range tokens {
			for _, sender := range []uint64{uint64(i), uint64(i) + 1000} {
				all.Go(func() {
					err := w.Accept(context.Background(), tk.Secret[:], bundleOf(w.p, sender))
					if r, ok := refuse.As(err); err != nil && (!ok || r.Code != refuse.SpentToken) {
						t.Errorf("try %d: %v", try, err)
					}
					if err == nil {
						mu.Lock()
						defer mu.Unlock()
						if accepted[i] == nil {
							accepted[i] = map[uint64]bool{}
						}
						accepted[i][sender] = true
					}
				})
			}
		}
	}
	all.Wait()
	equal(t, "tokens that reported", len(accepted), len(tokens))
	for i, by := range accepted {
		if len(by) != 1 {
			t.Errorf("token %d brought %d bundles", i, len(by))
		}
	}
	w.wait(1, Acknowledged)
	w.wait(2, Acknowledged)
	seen := map[uint64]int{}
	for batch := range uint32(2) {
		bag, _ := w.up.bag(numbered(batch + 1))
		for sender := range senders(t, bag) {
			seen[sender%1000]++
		}
	}
	equal(t, "released", len(seen), 160)
	for i, n := range seen {
		if n != 1 {
			t.Errorf("token %d was released %d times", i, n)
		}
	}
}

// TestALostAnswerSendsTheSameBag loses the server's answers after it took a part, and cuts the
// connection before others: what is sent again is the same.
func TestALostAnswerSendsTheSameBag(t *testing.T) {
	w := sumWorld(t)
	lost := map[int]bool{}
	w.up.lose = func(p Part) error {
		if p.Part%3 == 0 && !lost[p.Part] {
			lost[p.Part] = true
			return errors.New("the connection broke")
		}
		return nil
	}
	w.send(w.issue(90), 0)
	_, err := w.close(false, false)
	must(t, err)
	over := make(chan struct{})
	defer close(over)
	go func() { // so that the test does not wait as long as a shuffler does
		for {
			w.wake()
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	w.wait(1, Acknowledged)
	bag, _ := w.up.bag(first)
	equal(t, "senders", len(senders(t, bag)), 90)
	equal(t, "lost answers", len(lost), 4) // of 12 parts
}

func TestADamagedBagIsNotSent(t *testing.T) {
	w := sumWorld(t)
	w.up.fail = func(Part) error { return errors.New("not now") }
	w.send(w.issue(80), 0)
	_, err := w.close(false, false)
	must(t, err)
	w.wait(1, Releasing)
	must(t, w.Close())
	bag := filepath.Join(w.dir, batchesDir, place{1, 1, 0, 0}.file(1)+suffixBag)
	b, err := os.ReadFile(bag)
	must(t, err)
	b[100] ^= 1
	must(t, os.WriteFile(bag, b, 0o600))
	calls := w.up.calls
	w.up.fail = nil
	w = w.start()
	list, err := w.waiting()
	must(t, err)
	if err := w.release(context.Background(), list[0]); err == nil {
		t.Error("another bag than the one that was recorded is released")
	}
	equal(t, "parts sent", w.up.calls, calls)
}

func TestBatchesThatTheServerNeverTakes(t *testing.T) {
	for _, state := range []string{"45D41", "45D42"} {
		w := sumWorld(t)
		w.up.fail = func(Part) error { return &Rejected{state, "no"} }
		w.send(w.issue(80), 0)
		_, err := w.close(false, false)
		must(t, err)
		s := w.wait(1, Refused)
		if w.gone(); s.Note == "" {
			t.Errorf("%s: nothing is told", state)
		}
	}
}

func TestPins(t *testing.T) {
	w := sumWorld(t)
	ctx := context.Background()
	change := func(f func(*collect.Params)) *collect.Params {
		p := w.p.Clone()
		f(p)
		w.up.params[p.Fingerprint()] = p.Canonical()
		return p
	}
	refused := func(what string, p *collect.Params, code refuse.Code) {
		t.Helper()
		_, err := w.Pin(ctx, short(p.Collection), p.Fingerprint())
		wantCode(t, what, err, code)
	}
	w.pin(w.p) // again
	other, _ := paramsOf(t, "survey.commute", testUUID, collect.ShufSum, declaredSum, "")
	w.up.params[other.Fingerprint()] = other.Canonical()
	refused("another key", other, refuse.CollectionState)
	const another = "0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e2a"
	for _, name := range []string{"survey.commute", "poll.Commute"} {
		p, _ := paramsOf(t, name, another, collect.ShufSum, declaredSum, "")
		w.up.params[p.Fingerprint()] = p.Canonical()
		refused("another collection of the name", p, refuse.CollectionState)
	}
	for what, f := range map[string]func(*collect.Params){
		"a share less":    func(p *collect.Params) { p.Batch.Shares-- },
		"one share":       func(p *collect.Params) { p.Batch.Shares = 1 },
		"a lower minimum": func(p *collect.Params) { p.Batch.Min = 2; p.Min = 2 },
		"more honest":     func(p *collect.Params) { p.Batch.Honest++ },
	} {
		refused(what, change(f), refuse.CollectionParameter)
	}
	_, err := w.Pin(ctx, "trips", w.p.Fingerprint())
	wantCode(t, "under another name", err, refuse.CollectionParameter)
	wrong := [32]byte{1}
	w.up.params[wrong] = w.p.Canonical()
	_, err = w.Pin(ctx, "commute", wrong)
	wantCode(t, "parameters of another fingerprint", err, refuse.CollectionParameter)
	if _, err := w.Pin(ctx, "commute", [32]byte{2}); err == nil {
		t.Error("unknown parameters are pinned")
	}
	equal(t, "pins", len(w.again().pinned()), 1)
}

// TestAFullBatchThatWasNotClosed starts with a batch that was full when the process was killed: its
// contributors, who send again, are not taken into the next one.
func TestAFullBatchThatWasNotClosed(t *testing.T) {
	w := sumWorld(t)
	tokens := w.issue(90)
	w.send(tokens[:80], 0)
	must(t, w.Close())
	w = w.start(func(o *Options) { o.When = AtMin })
	w.send(tokens[80:], 80)
	w.wait(1, Acknowledged)
	equal(t, "reports of the next batch", w.wait(2, Open).Reports, 10)
	err := w.Accept(context.Background(), tokens[0].Secret[:], bundleOf(w.p, 0))
	wantCode(t, "a retry", err, refuse.SpentToken)
}

// BenchmarkClose closes a batch of 20,000 bundles: permutes and marks their tokens.
func BenchmarkClose(b *testing.B) {
	d := declaredSum
	d.Expected = 20_000
	for range b.N {
		b.StopTimer()
		p, _ := paramsOf(b, "survey.commute", testUUID, collect.ShufSum, d, "")
		w := world{t: b, up: newFake(p), dir: filepath.Join(b.TempDir(), "data"), p: p}
		w = w.start()
		w.pin(p)
		w.send(w.issue(20_000), 0)
		b.StartTimer()
		_, err := w.close(false, false)
		must(b, err)
	}
}

func TestABatchThatIsGivenUp(t *testing.T) {
	w := sumWorld(t)
	w.up.fail = func(Part) error { return &Rejected{"45D11", "the key was deleted"} }
	tokens := w.issue(80)
	w.send(tokens, 0)
	_, err := w.close(false, false)
	must(t, err)
	testenv.Until(t, time.Minute, "a note", func() bool { return w.wait(1, Releasing).Note != "" })
	if note := w.wait(1, Releasing).Note; note != "the server refuses (45D11): the key was deleted" {
		t.Errorf("noted %q", note)
	}
	n, err := w.GiveUp(Selection{Collection: "commute"})
	must(t, err)
	equal(t, "given up", n, 1)
	w.gone()
	w = w.again()
	equal(t, "note", w.wait(1, Refused).Note, "given up by the operator")
	wantCode(t, "its token", w.Accept(context.Background(), tokens[0].Secret[:], bundleOf(w.p, 0)), refuse.SpentToken)
}

// TestTheSetTime closes what is there at a time: a batch that has enough is released, one that has
// not is destroyed, also when the time passes while nothing runs.
func TestTheSetTime(t *testing.T) {
	for n, want := range map[int]State{80: Acknowledged, 79: Destroyed} {
		w := sumWorld(t)
		tokens := w.issue(n + 1)
		w.send(tokens[:n], 0)
		must(t, w.Close())
		w = w.start(func(o *Options) { o.At = time.Now().Add(-time.Hour) })
		equal(t, "reports", w.wait(1, want).Reports, uint64(n))
		w.gone()
		wantCode(t, "after the time", w.Accept(context.Background(), tokens[n].Secret[:], bundleOf(w.p, 1)), refuse.ClosedToken)
	}
}
