package shuffle

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

const one = exact.Epsilon(10000) // ε = 1

// plan returns the parameters of a round.
func plan(t testing.TB, protocol collect.Protocol, d collect.Declaration, round int, pub collect.Published) *collect.Params {
	t.Helper()
	if d.Delta == 0 {
		d.Delta = 1e-9
	}
	d.Trust = "separate"
	g, err := collect.Plan("survey.shuffled", "11111111-2222-4333-8444-555555555555", protocol, d)
	fatal(t, err)
	key := make([]byte, 32)
	key[0] = 1
	var signs []byte
	if protocol == collect.ShufSCM3 {
		signs = key
	}
	p, err := g.Params(round, "", pub, key, signs)
	fatal(t, err)
	return p
}

func first(t testing.TB, protocol collect.Protocol, d collect.Declaration) *collect.Params {
	t.Helper()
	return plan(t, protocol, d, 1, collect.Published{})
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code refuse.Code) {
	t.Helper()
	if r, ok := refuse.As(err); !ok || r.Code != code {
		t.Errorf("want %s, have %v", code, err)
	}
}

// bag lets n devices make their messages of cell 0.
func bag(t testing.TB, r *exact.Rand, p *collect.Params, n int, value func(i int) collect.Value) []byte {
	t.Helper()
	var out []byte
	for i := range n {
		messages, err := device.Messages(r, p, 0, value(i))
		fatal(t, err)
		for _, m := range messages {
			out = append(out, m[:]...)
		}
	}
	return out
}

// tally is that of one batch of cell 0.
func tally(t testing.TB, p *collect.Params, n int, bag []byte) *Tally {
	t.Helper()
	out := NewTally(p)
	b, err := out.Batch(0, uint64(n))
	fatal(t, err)
	fatal(t, b.AddAll(bag))
	return out
}

func decode(t testing.TB, p *collect.Params, n int, bag []byte) Estimate {
	t.Helper()
	e, err := Decode(p, tally(t, p, n, bag))
	fatal(t, err)
	return e
}

// TestMessagesAreCheckedAsTheVocabularySays compares what a batch leaves out with CheckMessageOf,
// over messages with one field off.
func TestMessagesAreCheckedAsTheVocabularySays(t *testing.T) {
	r := rand.New(stattest.Source(t, "messages"))
	pick := func(x ...uint64) uint64 { return x[r.IntN(len(x))] }
	for _, p := range []*collect.Params{
		first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: 1000, Hi: 1}),
		first(t, collect.ShufVec, collect.Declaration{Epsilon: one, Expected: 1000, Dimension: 3, Radius: 1}),
		first(t, collect.ShufHier, collect.Declaration{Epsilon: one, Expected: 10000, Hi: 1, Levels: 2}),
		first(t, collect.ShufSCM3, collect.Declaration{Epsilon: one, Expected: 100000, Dimension: 8, Radius: 10, SigmaMin: 1}),
	} {
		kept := 0
		for range 4000 {
			cell := uint32(r.IntN(len(p.Cells)))
			b, err := NewTally(p).Batch(cell, p.Batch.Min)
			fatal(t, err)
			q := 1 << p.Batch.Bits
			m := collect.NewMessage(p.Protocol, uint16(pick(0, 1, 2, 3, uint64(cell), 65535)), uint32(pick(0, 1, 19, 20, math.MaxUint32)), pick(0, 1, uint64(q-1), uint64(q), math.MaxUint64))
			switch r.IntN(6) {
			case 0:
				m[0] = byte(r.IntN(3))
			case 1:
				m[1] = byte(15 + r.IntN(6))
			}
			b.Add(m)
			refused := p.CheckMessageOf(cell, m) != nil
			if refused != (b.dropped == 1) {
				t.Fatalf("%s cell %d: message % x is refused: %v, left out: %d", p.Protocol, cell, m, refused, b.dropped)
			}
			if !refused {
				kept++
			}
		}
		if kept < 100 {
			t.Errorf("%s: only %d messages were kept", p.Protocol, kept)
		}
	}
}

// TestBatches checks the refusals of batches: sizes, cells, cut bags, too few, the wrong round.
func TestBatches(t *testing.T) {
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: 100, Hi: 1})
	tally := NewTally(p)
	_, err := tally.Batch(1, 100)
	wantCode(t, err, refuse.MalformedReport)
	_, err = tally.Batch(0, p.Batch.Min-1)
	wantCode(t, err, refuse.TooFewReports)
	_, err = tally.Batch(0, p.Batch.Max+1)
	wantCode(t, err, refuse.BatchWindow)
	_, err = Decode(p, tally)
	wantCode(t, err, refuse.TooFewReports)
	b, err := tally.Batch(0, p.Batch.Min)
	fatal(t, err)
	wantCode(t, b.AddAll(make([]byte, 33)), refuse.MalformedReport)
	_, err = Decode(p, tally)
	wantCode(t, err, refuse.BatchWindow)
	_, _, err = Publish(p, tally)
	wantCode(t, err, refuse.CollectionState)

	d := collect.Declaration{Epsilon: one, Expected: 100000, Dimension: 8, Radius: 10, SigmaMin: 1}
	p = first(t, collect.ShufSCM3, d)
	tally = NewTally(p)
	_, err = Decode(p, tally)
	wantCode(t, err, refuse.CollectionRounds)
	for cell := range uint32(7) {
		_, err := tally.Batch(cell, p.Batch.Min)
		fatal(t, err)
	}
	_, _, err = Publish(p, tally) // the last coordinate is missing
	wantCode(t, err, refuse.TooFewReports)
	_, info, err := Publish(p, tally)
	if wantCode(t, err, refuse.TooFewReports); info.Reports != 7*p.Batch.Min || len(info.Cells) != 8 {
		t.Errorf("preview %+v", info)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic for parameters of the local model")
			}
		}()
		NewTally(&collect.Params{Protocol: collect.LDPBit})
	}()
}

// TestForecasts compares what is foretold for the planned number of contributors with what
// estimates then state.
func TestForecasts(t *testing.T) {
	for protocol, d := range map[collect.Protocol]collect.Declaration{
		collect.ShufSum:  {Epsilon: one, Delta: 1e-9, Expected: 1000, Lo: -2, Hi: 8},
		collect.ShufVec:  {Epsilon: one, Delta: 1e-9, Expected: 1000, Dimension: 5, Radius: 3},
		collect.ShufHier: {Epsilon: one, Delta: 1e-9, Expected: 100_000, Lo: -2, Hi: 8, Levels: 3},
	} {
		p := first(t, protocol, d)
		d.Trust = "separate"
		g, err := collect.Plan("survey.shuffled", "11111111-2222-4333-8444-555555555555", protocol, d)
		fatal(t, err)
		tally := NewTally(p)
		b, err := tally.Batch(0, d.Expected)
		fatal(t, err)
		for j := range b.counts {
			b.counts[j] = d.Expected * uint64(p.Batch.Shares)
		}
		e, err := Decode(p, tally)
		fatal(t, err)
		_, got, err := e.Mean()
		room := 1e-3
		switch protocol {
		case collect.ShufVec:
			_, got, err = e.Vector()
			got /= math.Sqrt(5)
		case collect.ShufHier:
			got, room, err = tally.hier(0).PrefixError(), 0.2, nil
		}
		fatal(t, err)
		if want := g.Forecast().StdErr; math.Abs(got/want-1) > room {
			t.Errorf("%s: standard error %v, foretold %v", protocol, got, want)
		}
	}
}

// TestAnswersOfOtherProtocols asks every estimate everything: what is refused names a function that
// is not.
func TestAnswersOfOtherProtocols(t *testing.T) {
	r := exact.New(stattest.Source(t, "answers"))
	sum := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: 100, Hi: 1})
	vec := first(t, collect.ShufVec, collect.Declaration{Epsilon: one, Expected: 100, Dimension: 2, Radius: 1})
	hier := first(t, collect.ShufHier, collect.Declaration{Epsilon: 40000, Expected: 1000, Hi: 1, Levels: 2})
	for _, c := range []struct {
		p       *collect.Params
		n       int
		value   collect.Value
		answers map[string]bool
	}{
		{sum, 100, collect.Value{0.5}, map[string]bool{"sum": true, "mean": true, "interval": true}},
		{vec, 100, collect.Value{0.5, 0}, map[string]bool{"vector": true}},
		{hier, 1000, collect.Value{0.5}, map[string]bool{"sum": true, "mean": true, "interval": true, "range": true, "quantile": true}},
	} {
		e := decode(t, c.p, c.n, bag(t, r, c.p, c.n, func(int) collect.Value { return c.value }))
		asked := map[string]error{}
		_, _, asked["sum"] = e.Sum()
		_, _, asked["mean"] = e.Mean()
		_, _, asked["sd"] = e.SD()
		_, _, asked["vector"] = e.Vector()
		_, _, asked["range"] = e.Range(0, 1)
		_, asked["quantile"] = e.Quantile(0.5)
		_, _, asked["interval"] = e.Interval(0.9)
		for name, err := range asked {
			if c.answers[name] {
				fatal(t, err)
			} else {
				wantCode(t, err, refuse.Aggregate)
			}
		}
		if info := e.Info(); info.Covers == "" || info.Omits == "" || info.Reports != uint64(c.n) || len(info.Cells) != 1 || info.Cells[0].Received != uint64(c.n) {
			t.Errorf("%s: %+v", c.p.Protocol, info)
		}
		if !c.answers["interval"] {
			continue
		}
		for _, level := range []float64{0, 1, math.NaN()} {
			_, _, err := e.Interval(level)
			wantCode(t, err, refuse.Option)
		}
		if c.answers["range"] {
			_, _, err := e.Range(1, 0)
			wantCode(t, err, refuse.Option)
			_, err = e.Quantile(math.NaN())
			wantCode(t, err, refuse.Option)
		}
	}
}
