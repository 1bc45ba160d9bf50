package collections

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/local"
	"scrim/engine/collections/shuffle"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Simulation runs all rounds of a collection in memory, over values that the server holds: the same
// randomisers, decoders and minima as of a real one, without tokens, seals and tables.
//
// Privacy: every run is one execution of the protocol over the values as inputs of contributors,
// each used by one randomiser once. The order of the values is drawn uniformly and anew for each
// run, so that a run depends on the multiset of values. Exchanging one of them, wherever it stands,
// is under the same draw exchanging one input: a run has the guarantee that the design declares (an
// average over draws has what each of them has, by the joint convexity of the divergences), runs
// compose, and all that follows from reports here is post-processing, refusals of a round included.
// How many values there are is public. With another source than the operating system's (Rand),
// nothing of this holds.
type Simulation struct {
	Design *collect.Design
	Values []collect.Value // nil for NULL; one a slot
	Runs   int
	// Rand gives each run its own randomness. It is called by several goroutines.
	Rand func(run int) *exact.Rand
	// Done, if not nil, is called after each run, by several goroutines.
	Done func()

	slots int // the number of values, where they are not there yet
}

// size is the number of contributors.
func (s Simulation) size() int { return max(len(s.Values), s.slots) }

// Simulated is the outcome of one run: a result, or what the collection would have been refused
// with.
type Simulated struct {
	Result  *Result
	Refusal *refuse.Error
}

// Simulate returns the outcomes of all runs. It refuses values that are too few before any is
// looked at.
func Simulate(ctx context.Context, s Simulation) ([]Simulated, error) {
	seats := s.seats()
	if err := s.enough(seats); err != nil {
		return nil, err
	}
	out := make([]Simulated, s.Runs)
	errs := make([]error, s.Runs)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), s.Runs) {
		all.Go(func() {
			for i := int(next.Add(1) - 1); i < s.Runs && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				out[i], errs[i] = s.run(ctx, seats, s.Rand(i))
				if s.Done != nil {
					s.Done()
				}
			}
		})
	}
	all.Wait()
	if err, ok := lists.Find(errs, func(err error) bool { return err != nil }); ok {
		return nil, err
	}
	return out, ctx.Err()
}

// seats divides the values over rounds and cells as tokens would be; Taken is each one's share.
func (s Simulation) seats() []issue.Seat[place] {
	var out []issue.Seat[place]
	for r := 1; r <= s.Design.Rounds(); r++ {
		for _, cell := range s.Design.Cells(r) {
			out = append(out, issue.Seat[place]{Place: place{round: uint8(r), cell: cell.Cell}, Quota: cell.Quota})
		}
	}
	issue.Apportion(out, uint64(s.size()))
	return out
}

// enough refuses a simulation in which a cell has fewer reports than it needs, which would end each
// run in the same way.
func (s Simulation) enough(seats []issue.Seat[place]) error {
	info, _ := s.Design.Protocol.Info()
	what := map[collect.Model]string{collect.Local: "A cell", collect.Shuffle: "A batch"}[info.Model]
	total := map[uint8]uint64{}
	for _, at := range seats {
		total[at.Place.round] += at.Taken
		if cell := s.Design.Cells(int(at.Place.round))[at.Place.cell]; at.Taken < cell.Min {
			return s.few(fmt.Sprintf("%s of round %d", what, at.Place.round), cell.Min, at.Taken)
		}
	}
	for r := range s.Design.Rounds() {
		if n := total[uint8(r+1)]; n < s.Design.Min(r+1) {
			return s.few(fmt.Sprintf("Round %d", r+1), s.Design.Min(r+1), n)
		}
	}
	return nil
}

func (s Simulation) few(what string, needs, gets uint64) error {
	return refuse.New(refuse.TooFewReports, "%s needs %d values, and of %d values it gets %d.", what, needs, s.size(), gets).
		With("Simulate with n_expected values: %d.", s.Design.Declaration.Expected)
}

// run is one execution of the protocol.
func (s Simulation) run(ctx context.Context, seats []issue.Seat[place], r *exact.Rand) (Simulated, error) {
	order := lists.Make(len(s.Values), func(i int) int { return i })
	r.Permute(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	signs := s.signs(r)
	var pub collect.Published
	var before earlier
	for number := 1; ; number++ {
		p, err := s.params(number, pub, signs)
		if err != nil {
			return outcomeOf(nil, err)
		}
		o, err := s.round(ctx, p, lists.Filter(seats, func(at issue.Seat[place]) bool { return int(at.Place.round) == number }), &order, r, &before)
		if err != nil || number == s.Design.Rounds() {
			return outcomeOf(o.estimate, err)
		}
		pub = o.published
	}
}

// outcomeOf turns a refusal into an outcome: it follows from reports.
func outcomeOf(e Estimate, err error) (Simulated, error) {
	if r, ok := refuse.As(err); ok {
		return Simulated{Refusal: r}, nil
	}
	if err != nil {
		return Simulated{}, err
	}
	result := summarise(e)
	return Simulated{Result: &result}, nil
}

// signs draws the seed of the rotation, where the protocol has one.
func (s Simulation) signs(r *exact.Rand) []byte {
	if s.Design.Protocol != collect.LDPSCM3 && s.Design.Protocol != collect.ShufSCM3 {
		return nil
	}
	var b []byte
	for range 4 {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b
}

// params are those of a round of the first stratum. Nothing is sealed: any key will do.
func (s Simulation) params(number int, pub collect.Published, signs []byte) (*collect.Params, error) {
	stratum := ""
	if len(s.Design.Declaration.Strata) > 0 {
		stratum = s.Design.Declaration.Strata[0]
	}
	var key []byte
	if info, _ := s.Design.Protocol.Info(); info.Model == collect.Shuffle {
		key = make([]byte, 32)
		key[0] = 9
	}
	return s.Design.Params(number, stratum, pub, key, signs)
}

// earlier are the rounds that were run.
type earlier struct {
	local    []local.Before
	shuffled []shuffle.Before
}

// round has the holders of a round's seats report, the next of order, and evaluates it.
func (s Simulation) round(ctx context.Context, p *collect.Params, seats []issue.Seat[place], order *[]int, r *exact.Rand, before *earlier) (outcome, error) {
	if p.Batch != nil {
		return s.roundShuffle(ctx, p, seats, order, r, before)
	}
	t, d := local.NewTally(p), device.New(p)
	for _, at := range seats {
		for range at.Taken {
			if err := ctx.Err(); err != nil {
				return outcome{}, err
			}
			report, err := d.Report(r, at.Place.cell, s.next(order))
			if err == nil {
				err = t.Add(at.Place.cell, report[collect.HeaderSize:], 1)
			}
			if err != nil {
				return outcome{}, err
			}
		}
	}
	o, err := evaluate(p, t, before.local...)
	before.local = append(before.local, local.Before{Params: p, Tally: t})
	return o, err
}

func (s Simulation) next(order *[]int) collect.Value {
	v := s.Values[(*order)[0]]
	*order = (*order)[1:]
	return v
}

// roundShuffle has contributors send their messages, one batch a cell, and evaluates them.
func (s Simulation) roundShuffle(ctx context.Context, p *collect.Params, seats []issue.Seat[place], order *[]int, r *exact.Rand, before *earlier) (outcome, error) {
	t, d := shuffle.NewTally(p), device.New(p)
	for _, at := range seats {
		b, err := t.Batch(at.Place.cell, at.Taken)
		if err != nil {
			return outcome{}, err
		}
		for range at.Taken {
			messages, err := d.Messages(r, at.Place.cell, s.next(order))
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return outcome{}, err
			}
			for _, m := range messages {
				b.Add(m)
			}
		}
	}
	o, err := evaluateShuffle(p, t, before.shuffled...)
	before.shuffled = append(before.shuffled, shuffle.Before{Params: p, Tally: t})
	return o, err
}

// Trial is what is told of one run of a simulation.
type Trial struct {
	Run      int             `json:"run"` // from 1
	Estimate json.RawMessage `json:"estimate,omitempty"`
	// as the estimate states it: of the mean, or of the l2 norm of a vector's error
	StdErr *float64 `json:"stderr,omitempty"`
	// the mean of the values, unclipped; of public values only
	Truth json.RawMessage `json:"truth,omitempty"`
	// estimate less truth; of vectors the l2 norm of it
	Error    *float64 `json:"error,omitempty"`
	Warnings string   `json:"warnings,omitempty"` // or why there is no estimate
}

// Kept is a simulation as the store keeps it.
type Kept struct {
	Number int64   `json:"number"` // counted in the collection from 1
	At     string  `json:"at"`     // UTC, in seconds
	By     string  `json:"by"`     // the account that asked: nobody else but a DBA sees it
	Source string  `json:"source"` // public or protected
	Slots  int     `json:"slots"`
	Trials []Trial `json:"trials"`
}

// keptSimulations is how many of a collection's simulations are kept: the latest.
const keptSimulations = 20

const bucketSimulation = "collection_simulation"

// Trials tells of the outcomes of runs. truth is nil where it is not to be told.
func Trials(runs []Simulated, truth []float64) ([]Trial, error) {
	out := make([]Trial, len(runs))
	for i, r := range runs {
		t := Trial{Run: i + 1}
		if r.Refusal != nil {
			t.Warnings = strings.TrimSpace(r.Refusal.Cause)
		} else if err := t.fill(r.Result, truth); err != nil {
			return nil, err
		}
		if truth != nil {
			t.Truth = numbers(truth)
		}
		out[i] = t
	}
	return out, nil
}

func (t *Trial) fill(r *Result, truth []float64) (err error) {
	if t.Estimate, err = json.Marshal(r); err != nil {
		return fmt.Errorf("collections: %w", err)
	}
	var words []string
	for _, w := range r.Info.Warnings {
		words = append(words, w.Code+": "+w.Text)
	}
	t.Warnings = strings.Join(words, " ")
	switch {
	case r.Mean != nil:
		t.StdErr = r.StdErr
		if len(truth) == 1 {
			t.Error = finite(*r.Mean - truth[0])
		}
	case len(r.Vector) > 0:
		t.StdErr = r.VectorErr
		if len(truth) == len(r.Vector) {
			d := lists.Make(len(truth), func(i int) float64 { return r.Vector[i] - truth[i] })
			t.Error = finite(geometry.Norm(d))
		}
	}
	return nil
}

// numbers writes one number, or an array of them.
func numbers(x []float64) json.RawMessage {
	if slices.ContainsFunc(x, func(v float64) bool { return finite(v) == nil }) {
		return nil
	}
	var v any = x
	if len(x) == 1 {
		v = x[0]
	}
	text, _ := json.Marshal(v) // of finite numbers
	return text
}

// Dimension is how many numbers a contributor's value has.
func Dimension(g *collect.Design) int { return max(1, g.Declaration.Dimension) }

// Truth returns the mean of the simulated values: NULL as the collection's value for it, nothing
// clipped. It is for values that are public.
func (s Simulation) Truth() []float64 {
	d := Dimension(s.Design)
	sum := make([]float64, d)
	null := s.Design.Declaration.NullDefault
	for _, v := range s.Values {
		if d == 1 {
			sum[0] += geometry.Number(v, null, math.Inf(-1), math.Inf(1))
			continue
		}
		for i, x := range geometry.Vector(v, null, d) {
			sum[i] += x
		}
	}
	for i := range sum {
		sum[i] /= float64(len(s.Values))
	}
	return sum
}

// Keep keeps a simulation of a collection, and returns its number. The oldest ones go.
func (c *Collections) Keep(ctx context.Context, name string, k Kept) (int64, error) {
	err := c.write(ctx, func(tx tx) error {
		col, err := c.find(name)
		if err != nil {
			return err
		}
		have, err := tx.simulations(col.UUID)
		if err != nil {
			return err
		}
		k.Number, k.At = 1, c.moment()
		if n := len(have); n > 0 {
			k.Number = have[n-1].Number + 1
		}
		for _, old := range have[:max(0, len(have)+1-keptSimulations)] {
			if err := tx.delete(bucketSimulation, simulationKey(col.UUID, old.Number)); err != nil {
				return err
			}
		}
		return tx.put(bucketSimulation, simulationKey(col.UUID, k.Number), k)
	}, nil)
	return k.Number, err
}

// simulationKey orders the entries of a collection by number.
func simulationKey(uuid string, number int64) string {
	return entry(uuid, fmt.Sprintf("%012d", number))
}

// simulations reads those of a collection, oldest first.
func (t tx) simulations(uuid string) ([]Kept, error) {
	list, err := t.s.Meta().List(t.ctx, bucketSimulation)
	if err != nil {
		return nil, err
	}
	var out []Kept
	for _, e := range list {
		if !strings.HasPrefix(e.Key, entry(uuid, "")) {
			continue
		}
		var k Kept
		if err := json.Unmarshal(e.Value, &k); err != nil {
			return nil, fmt.Errorf("collections: a simulation that was kept: %w", err)
		}
		out = append(out, k)
	}
	return out, nil
}

// Simulations returns the simulations of a collection that are kept, oldest first.
func (c *Collections) Simulations(ctx context.Context, name string) (out []Kept, err error) {
	err = c.write(ctx, func(tx tx) error {
		col, err := c.find(name)
		if err == nil {
			out, err = tx.simulations(col.UUID)
		}
		return err
	}, nil)
	return out, err
}

// Bounds of a simulation: what one statement may ask of memory and of time.
const (
	MaxSlots   = 10_000_000
	maxNumbers = 20_000_000 // slots times dimensions, each 8 bytes
	MaxRuns    = 1000
	maxReports = 200_000_000 // slots times runs
)

// CheckSimulation refuses what cannot be simulated, from public numbers alone: too much at once, or
// a cell that would have too few reports in every run.
func CheckSimulation(g *collect.Design, slots, runs int) error {
	refused := func(format string, args ...any) *refuse.Error {
		return refuse.New(refuse.CollectionParameter, format, args...)
	}
	switch {
	case slots < 1 || slots > MaxSlots:
		return refused("A simulation has 1 to %d contributors, not %d.", MaxSlots, slots).With("Simulate with n_expected: %d.", g.Declaration.Expected)
	case runs < 1 || runs > MaxRuns:
		return refused("A simulation has 1 to %d runs, not %d.", MaxRuns, runs).With("Call it again for more.")
	case slots*Dimension(g) > maxNumbers || slots*runs > maxReports:
		return refused("%d contributors of %d numbers in %d runs are too much for one simulation.", slots, Dimension(g), runs).With("Use fewer runs or contributors.")
	}
	s := Simulation{Design: g, slots: slots}
	return s.enough(s.seats())
}
