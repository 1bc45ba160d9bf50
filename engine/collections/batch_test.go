package collections

import (
	"context"
	"encoding/hex"
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/refuse"
)

// bundles seals the messages of n contributors of a cell, permuted as a shuffler would, all holding
// value.
func (w world) bundles(name string, round int, stratum string, cell uint32, n int, value float64) []byte {
	w.t.Helper()
	p, err := w.Params(name, round, stratum)
	must(w.t, err)
	sealer, err := seal.NewSealer(p.SealKey, p.Fingerprint())
	must(w.t, err)
	d, r := device.New(p), exact.Secure()
	var messages [][]byte
	for range n {
		list, err := d.Messages(r, cell, collect.Value{value})
		must(w.t, err)
		for _, m := range list {
			b, err := sealer.Seal(m)
			must(w.t, err)
			messages = append(messages, b)
		}
	}
	exact.Secure().Permute(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	var bag []byte
	for _, m := range messages {
		bag = append(bag, m...)
	}
	return bag
}

// sumWorld has a collection of SHUF_SUM that is open.
func sumWorld(t *testing.T) (w world, n int) {
	w = testWorld(t)
	g := w.create("commute", collect.ShufSum)
	w.open("commute")
	return w, int(g.Cells(1)[0].Quota)
}

// whole is a bag in one part.
func whole(batch, reports int, bag []byte) Part {
	return Part{Round: 1, Batch: batch, Reports: uint64(reports), Part: 1, Parts: 1, Sealed: bag}
}

func TestLifeOfAShuffleCollection(t *testing.T) {
	w, n := sumWorld(t)
	ctx := context.Background()
	bag := w.bundles("commute", 1, "", 0, n, 70)
	p, err := w.Params("commute", 1, "")
	must(t, err)
	cut := len(bag) / seal.SealedSize / 3 * seal.SealedSize
	parts := []Part{whole(1, n, bag[:cut]), whole(1, n, bag[cut:2*cut]), whole(1, n, bag[2*cut:])}
	for i := range parts {
		parts[i].Part, parts[i].Parts = i+1, 3
	}
	wantCode(t, "before any batch", w.Next(ctx, "commute"), refuse.TooFewReports)
	for _, i := range []int{2, 0, 0, 2} { // in any order, and again
		done, err := w.LoadBatch(ctx, "commute", parts[i])
		must(t, err)
		equal(t, "done", done, false)
	}
	equal(t, "messages before the bag is whole", w.number("SELECT count(*) FROM survey.commute"), 0)
	for range 2 {
		done, err := w.LoadBatch(ctx, "commute", parts[1])
		must(t, err)
		equal(t, "done", done, true)
	}
	done, err := w.LoadBatch(ctx, "commute", parts[0])
	must(t, err)
	equal(t, "done after all", done, true)
	equal(t, "messages", w.number("SELECT count(*) FROM survey.commute"), n*int(p.Messages()))
	equal(t, "parts left", w.number("SELECT count(*) FROM "+w.own(tableBag, "commute")), 0)
	var sum bagSum
	sum.add(bag)
	hash := sum.hash(uint64(len(bag) / seal.SealedSize))
	equal(t, "bag", w.Batches()[0].Bag, hex.EncodeToString(hash[:]))

	_, err = w.LoadBatch(ctx, "commute", whole(2, n, bag))
	wantCode(t, "the same bag under another number", err, refuse.BatchReplay)
	_, err = w.LoadBatch(ctx, "commute", whole(1, n, bag))
	wantCode(t, "another cut of a bag that is there", err, refuse.BatchReplay)
	permuted := append(append([]byte{}, bag[64:]...), bag[:64]...)
	_, err = w.LoadBatch(ctx, "commute", whole(2, n, permuted))
	wantCode(t, "the same bag in another order", err, refuse.BatchReplay)

	must(t, w.Next(ctx, "commute"))
	e, err := w.Estimate(ctx, "commute", "")
	must(t, err)
	mean, stderr, err := e.Mean()
	must(t, err)
	if math.Abs(mean-70) > 6*stderr || stderr > 5 {
		t.Errorf("mean %v ± %v, want 70", mean, stderr)
	}
	equal(t, "keys left", w.number("SELECT count(*) FROM __scrim.meta WHERE bucket = 'collection_key' AND value IS NOT NULL"), 0)
	_, err = w.LoadBatch(ctx, "commute", whole(2, n, w.bundles("commute", 1, "", 0, n, 70)))
	wantCode(t, "after the end", err, refuse.CollectionState)
}

func TestBatchesThatNoShufflerReleases(t *testing.T) {
	w, n := sumWorld(t)
	ctx := context.Background()
	bag := w.bundles("commute", 1, "", 0, n, 50)
	p, err := w.Params("commute", 1, "")
	must(t, err)
	for _, tt := range []struct {
		what string
		part Part
		code refuse.Code
	}{
		{"too few reports", whole(1, int(p.Batch.Min)-1, bag), refuse.TooFewReports},
		{"too many reports", whole(1, int(p.Batch.Max)+1, bag), refuse.MalformedReport},
		{"half a message", whole(1, n, bag[:len(bag)-1]), refuse.MalformedReport},
		{"nothing", whole(1, n, nil), refuse.MalformedReport},
		{"part 2 of 1", Part{Round: 1, Batch: 1, Reports: uint64(n), Part: 2, Parts: 1, Sealed: bag}, refuse.MalformedReport},
		{"batch 0", whole(0, n, bag), refuse.CollectionParameter},
		{"no such cell", Part{Round: 1, Cell: 7, Batch: 1, Reports: uint64(n), Part: 1, Parts: 1, Sealed: bag}, refuse.CollectionParameter},
		{"no such stratum", Part{Round: 1, Stratum: "x", Batch: 1, Reports: uint64(n), Part: 1, Parts: 1, Sealed: bag}, refuse.CollectionParameter},
		{"a later round", Part{Round: 2, Batch: 1, Reports: uint64(n), Part: 1, Parts: 1, Sealed: bag}, refuse.CollectionState},
	} {
		_, err := w.LoadBatch(ctx, "commute", tt.part)
		wantCode(t, tt.what, err, tt.code)
	}
	equal(t, "batches", len(w.Batches()), 0)

	// A message that does not open leaves the sum without one: no estimate, for good.
	broken := append([]byte{}, bag...)
	broken[40] ^= 1
	for range 2 {
		_, err = w.LoadBatch(ctx, "commute", whole(1, n, broken))
		wantCode(t, "a broken message", err, refuse.BatchWindow)
	}
	equal(t, "messages kept of it", w.number("SELECT count(*) FROM survey.commute"), 0)
	// Another batch makes up for it.
	if _, err := w.LoadBatch(ctx, "commute", whole(2, n, bag)); err != nil {
		t.Error(err)
	}
	must(t, w.Next(ctx, "commute"))
}

// TestKeysAreDeletedWithTheLastBatch: as soon as the round is closed and all batches are there.
func TestKeysAreDeletedWithTheLastBatch(t *testing.T) {
	ctx := context.Background()
	for _, closeFirst := range []bool{false, true} {
		w, n := sumWorld(t)
		bag := w.bundles("commute", 1, "", 0, n, 50)
		if closeFirst {
			must(t, w.Close(ctx, "commute"))
		}
		equal(t, "keys before", w.number("SELECT count(*) FROM __scrim.meta WHERE bucket = 'collection_key' AND value IS NOT NULL"), 1)
		_, err := w.LoadBatch(ctx, "commute", whole(1, n, bag))
		must(t, err)
		if !closeFirst {
			equal(t, "keys while open", w.number("SELECT count(*) FROM __scrim.meta WHERE bucket = 'collection_key' AND value IS NOT NULL"), 1)
			must(t, w.Close(ctx, "commute"))
		}
		equal(t, "keys after", w.number("SELECT count(*) FROM __scrim.meta WHERE bucket = 'collection_key' AND value IS NOT NULL"), 0)
		wantCode(t, "reopen", w.Open(ctx, "commute"), refuse.CollectionState)
		_, err = w.LoadBatch(ctx, "commute", whole(2, n, w.bundles("commute", 1, "", 0, n, 50)))
		wantCode(t, "another batch", err, refuse.CollectionState)
		must(t, w.Next(ctx, "commute"))
	}
}

// TestStoredMessagesAreSorted: no order of a bag is left.
func TestStoredMessagesAreSorted(t *testing.T) {
	w, n := sumWorld(t)
	_, err := w.LoadBatch(context.Background(), "commute", whole(1, n, w.bundles("commute", 1, "", 0, n, 50)))
	must(t, err)
	rows := w.rows("SELECT msg FROM survey.commute ORDER BY rowid")
	for i := 1; i < len(rows); i++ {
		if string(rows[i-1][0].([]byte)) > string(rows[i][0].([]byte)) {
			t.Fatalf("message %d is out of order", i)
		}
	}
}

func TestTokensOfShuffleCollections(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("same", collect.ShufSum)
	w.create("apart", collect.ShufSum, func(d *collect.Declaration) { d.Trust = "separate" })
	equal(t, "tokens", len(w.issue("same", 100)), 100)
	_, err := w.IssueTokens(ctx, "apart", Issue{Tokens: 100})
	wantCode(t, "tokens of a separate shuffler", err, refuse.CollectionState)
	w.open("same")
	wantCode(t, "a report to the server", w.Accept(ctx, "same", []Submission{{Token: make([]byte, 16), Report: make([]byte, 17)}}), refuse.CollectionState)
}

// TestPartsSurviveARestart: a shuffler that sends its parts again after one goes on where it was.
func TestPartsSurviveARestart(t *testing.T) {
	w, n := sumWorld(t)
	ctx := context.Background()
	bag := w.bundles("commute", 1, "", 0, n, 50)
	cut := len(bag) / seal.SealedSize / 2 * seal.SealedSize
	parts := []Part{whole(1, n, bag[:cut]), whole(1, n, bag[cut:])}
	for i := range parts {
		parts[i].Part, parts[i].Parts = i+1, 2
	}
	_, err := w.LoadBatch(ctx, "commute", parts[0])
	must(t, err)
	again := func() {
		path := w.path
		must(t, w.Shutdown())
		must(t, w.st.Close())
		w = testReopen(t, path)
	}
	again()
	other := parts[0]
	other.Sealed = bag[cut:]
	_, err = w.LoadBatch(ctx, "commute", other)
	wantCode(t, "another part 1", err, refuse.BatchReplay)
	for _, p := range parts {
		_, err := w.LoadBatch(ctx, "commute", p)
		must(t, err)
	}
	again()
	for _, p := range parts {
		done, err := w.LoadBatch(ctx, "commute", p)
		must(t, err)
		equal(t, "done", done, true)
	}
	equal(t, "batches", len(w.Batches()), 1)
	must(t, w.Next(ctx, "commute"))
}
