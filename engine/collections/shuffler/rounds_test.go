package shuffler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/refuse"
)

// declaredSCM3 has two strata, three rounds, and two coordinates in the first.
var declaredSCM3 = collect.Declaration{
	Epsilon: 20000, Delta: 1e-6, Expected: 20_000, Dimension: 2, Centre: 10, SigmaMin: 1, SigmaMax: 4, Strata: []string{"south", "north"}, Trust: "separate",
}

// scm3World pins round 1 of both strata of a collection of several rounds, and returns the
// parameters of round 2.
func scm3World(t *testing.T) (w world, design *collect.Design, second *collect.Params) {
	t.Helper()
	g, err := collect.Plan("survey.commute", testUUID, collect.ShufSCM3, declaredSCM3)
	must(t, err)
	key, err := seal.Generate()
	must(t, err)
	signs := bytes.Repeat([]byte{7}, 32)
	south, err := g.Params(1, "south", collect.Published{}, key.Public(), signs)
	must(t, err)
	north, err := g.Params(1, "north", collect.Published{}, key.Public(), signs)
	must(t, err)
	second, err = g.Params(2, "south", collect.Published{Centre: make([]float64, south.Derived.Padded)}, key.Public(), signs)
	must(t, err)
	w = world{t: t, up: newFake(south, north, second), dir: t.TempDir(), p: south}
	w = w.start()
	w.pin(south)
	w.pin(north)
	return w, g, second
}

func TestQuotasOfTokens(t *testing.T) {
	w, g, _ := scm3World(t)
	for range 2 { // 20,000 at once, and in steps
		list, err := w.Issue("commute", 10_000, "NORTH", 0)
		must(t, err)
		last := 0
		sorted := true
		for _, tk := range list {
			equal(t, "stratum", tk.Stratum, "north")
			sorted = sorted && tk.Round >= last
			last = tk.Round
		}
		if sorted {
			t.Error("tokens are in the order of rounds")
		}
	}
	shares, err := w.shares(w.all()[0], g, 1, 1, 0)
	must(t, err)
	total := uint64(0)
	for _, h := range shares {
		equal(t, fmt.Sprintf("tokens of round %d cell %d", h.Place.round, h.Place.cell), h.Taken, h.Quota)
		total += h.Taken
	}
	equal(t, "tokens", total, 20_000)
	for what, f := range map[string]func() error{
		"no stratum":         func() error { _, err := w.Issue("commute", 1, "", 0); return err },
		"another stratum":    func() error { _, err := w.Issue("commute", 1, "east", 0); return err },
		"another collection": func() error { _, err := w.Issue("trips", 1, "north", 0); return err },
		"none":               func() error { _, err := w.Issue("commute", 0, "north", 0); return err },
		"too many":           func() error { _, err := w.Issue("commute", issue.Most+1, "north", 0); return err },
		"round 4":            func() error { _, err := w.Issue("commute", 1, "north", 4); return err },
	} {
		wantCode(t, what, f(), refuse.CollectionParameter)
	}
}

func TestTokensOfOtherRoundsAndStrata(t *testing.T) {
	w, _, second := scm3World(t)
	ctx := context.Background()
	issue := func(stratum string, round int) []byte {
		t.Helper()
		list, err := w.Issue("survey.commute", 1, stratum, round)
		must(t, err)
		return list[0].Secret[:]
	}
	one, two, north := issue("south", 1), issue("south", 2), issue("north", 1)
	wantCode(t, "a round that has not begun", w.Accept(ctx, two, bundleOf(w.p, 1)), refuse.ClosedToken)
	wantCode(t, "another stratum", w.Accept(ctx, north, bundleOf(w.p, 1)), refuse.ClosedToken)
	must(t, w.Accept(ctx, one, bundleOf(w.p, 1)))
	_, err := w.Pin(ctx, "commute", second.Fingerprint())
	wantCode(t, "a pin while a batch of the round before is open", err, refuse.CollectionState)
	_, err = w.CloseBatches(ctx, Selection{Collection: "commute", Round: 1, Stratum: ptr("south")}, true, false)
	must(t, err)
	late := issue("south", 1)
	w.pin(second)
	wantCode(t, "a closed round", w.Accept(ctx, late, bundleOf(w.p, 2)), refuse.ClosedToken)
	wantCode(t, "the parameters of the round before", w.Accept(ctx, two, bundleOf(w.p, 2)), refuse.ClosedToken)
	must(t, w.Accept(ctx, two, bundleOf(second, 2)))
	_, err = w.Issue("commute", 1, "south", 1)
	wantCode(t, "tokens of a round that is over", err, refuse.CollectionParameter)
	w = w.again()
	wantCode(t, "a closed round after a restart", w.Accept(ctx, late, bundleOf(w.p, 2)), refuse.ClosedToken)
	must(t, w.Accept(ctx, two, bundleOf(second, 2)))
}

func ptr[T any](v T) *T { return &v }

func TestHashesOfAnIndependentIssuer(t *testing.T) {
	w := sumWorld(t)
	var text strings.Builder
	text.WriteString("sha256\tround\tcell\tstratum\n")
	for i := range 5 {
		fmt.Fprintf(&text, "%x\t1\t0\t\n", sha256.Sum256(fixedToken(i)))
	}
	list, err := ParseHashes([]byte(text.String()))
	must(t, err)
	for _, want := range []int{5, 0} { // and again
		n, err := w.AddHashes("commute", list)
		must(t, err)
		equal(t, "added", n, want)
	}
	equal(t, "tokens", w.wait(1, Open).Tokens, 5)
	must(t, w.Accept(context.Background(), fixedToken(3), bundleOf(w.p, 3)))
	for _, bad := range []string{"zz\t1\t0\t", "00\t1\t0\t", strings.Repeat("0", 64), strings.Repeat("0", 64) + "\t0\t0", strings.Repeat("0", 64) + "\t1\tx"} {
		_, err := ParseHashes([]byte(bad))
		wantCode(t, bad, err, refuse.CollectionParameter)
	}
	for what, h := range map[string]Hash{"cell": {Round: 1, Cell: 1}, "round": {Round: 2}, "stratum": {Round: 1, Stratum: "north"}} {
		_, err := w.AddHashes("commute", []Hash{h})
		wantCode(t, what, err, refuse.CollectionParameter)
	}
}

func TestOneProcessADirectory(t *testing.T) {
	w := sumWorld(t)
	if _, err := Start(w.dir, Options{Upstream: w.up}); err != ErrInUse {
		t.Errorf("a second process: %v", err)
	}
}
