package collections

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

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
