package collections

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Summary describes a collection. All of it is public.
type Summary struct {
	Schema, Name, UUID string
	Protocol           collect.Protocol
	Model              collect.Model
	State              State
	Round              int // 0 in DRAFT
	Rounds             int
	Declaration        collect.Declaration
	Owner              string
	Created            string // UTC, in seconds
	Reason             string // of FAILED and ABORTED
}

// RoundInfo describes a round of a stratum whose parameters are public.
type RoundInfo struct {
	Schema, Name   string
	Round          int
	Stratum        string
	Params         *collect.Params // Canonical and Fingerprint are what contributors see
	Opened, Closed string          // UTC, in seconds; Closed is "" while it is open
	Received       uint64          // reports
	Min            uint64
}

// CellCount describes a cell of a round of a stratum.
type CellCount struct {
	Schema, Name string
	Round        int
	Stratum      string
	Cell         collect.Cell
	Issued       uint64 // tokens; 0 where others issue them
	Received     uint64 // reports
}

// BatchInfo describes a batch of a shuffle collection.
type BatchInfo struct {
	Schema, Name string
	batchRecord
}

// List lists the collections by name.
func (c *Collections) List() []Summary {
	return listed(c, func(col *collection) []Summary { return []Summary{col.summary()} })
}

// Lookup describes one collection; ok is false where there is none of the name, short or with its
// database.
func (c *Collections) Lookup(name string) (s Summary, ok bool) {
	s, err := look(c, name, func(col *collection) (Summary, error) { return col.summary(), nil })
	return s, err == nil
}

// Taking returns the short names of the collections of the local model that take reports now.
func (c *Collections) Taking() []string {
	return listed(c, func(col *collection) []string {
		if col.model() != collect.Local || col.State != Open {
			return nil
		}
		return []string{col.Name}
	})
}

// Has reports whether there is a collection of that name.
func (c *Collections) Has(name string) bool {
	_, ok := c.Lookup(name)
	return ok
}

func (c *collection) summary() Summary {
	return Summary{
		Schema: c.Schema, Name: c.Name, UUID: c.UUID, Protocol: c.Protocol, Model: c.model(), State: c.State, Round: c.Round,
		Rounds: c.design.Rounds(), Declaration: c.Declaration, Owner: c.Owner, Created: c.Created, Reason: c.Reason,
	}
}

// listed gathers what f says of each collection, in the order of names.
func listed[T any](c *Collections, f func(*collection) []T) []T {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []T
	for _, n := range slices.Sorted(maps.Keys(c.names)) {
		out = append(out, f(c.names[n])...)
	}
	return out
}

// published lists a collection's rounds by round and stratum.
func (c *collection) published() []roundKey {
	return slices.SortedFunc(maps.Keys(c.rounds), func(a, b roundKey) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.stratum, b.stratum))
	})
}

// Rounds lists the rounds whose parameters are public.
func (c *Collections) Rounds() []RoundInfo {
	return listed(c, func(col *collection) (out []RoundInfo) {
		for _, k := range col.published() {
			r := col.rounds[k]
			info := RoundInfo{Schema: col.Schema, Name: col.Name, Round: k.round, Stratum: k.stratum, Params: r.params, Opened: r.opened, Closed: r.closed, Min: r.params.Min}
			info.Received += lists.Sum(col.cells(k.round, k.stratum), func(n CellCount) uint64 { return n.Received })
			out = append(out, info)
		}
		return out
	})
}

// Cells lists the cells of all rounds, also of those to come: tokens are issued for all of them.
func (c *Collections) Cells() []CellCount {
	return listed(c, func(col *collection) (out []CellCount) {
		for round := 1; round <= col.design.Rounds(); round++ {
			for _, stratum := range col.strata() {
				out = append(out, col.cells(round, stratum)...)
			}
		}
		return out
	})
}

func (c *collection) cells(round int, stratum string) (out []CellCount) {
	s, _ := c.stratum(stratum)
	for _, cell := range c.design.Cells(round) {
		at := place{uint8(round), uint16(s), cell.Cell}
		out = append(out, CellCount{c.Schema, c.Name, round, stratum, cell, c.issued[at], c.received[at]})
	}
	return out
}

// Batches lists the batches that were loaded.
func (c *Collections) Batches() []BatchInfo {
	return listed(c, func(col *collection) (out []BatchInfo) {
		out = append(out, lists.Map(col.batches, func(b batchRecord) BatchInfo { return BatchInfo{col.Schema, col.Name, b} })...)
		return out
	})
}

// Results returns a collection's results by stratum, as JSON of Result; none before FINAL.
func (c *Collections) Results(name string) (map[string][]byte, error) {
	return look(c, name, func(col *collection) (map[string][]byte, error) { return maps.Clone(col.results), nil })
}

// Params returns the public parameters of a round of a stratum.
func (c *Collections) Params(name string, round int, stratum string) (*collect.Params, error) {
	return look(c, name, func(col *collection) (*collect.Params, error) {
		if s, ok := col.stratum(stratum); ok {
			if r := col.rounds[roundKey{round, col.strata()[s]}]; r != nil {
				return r.params, nil
			}
		}
		return nil, refuse.New(refuse.CollectionState, "The parameters of round %d of %s are not public: it is %s.", round, col.Name, col.where())
	})
}

// Result is what is kept of an estimate at FINAL. What a protocol has no answer for is absent.
type Result struct {
	Mean      *float64  `json:"mean,omitempty"`
	StdErr    *float64  `json:"stderr,omitempty"`
	Low       *float64  `json:"low,omitempty"` // of the interval that covers the mean with 95 %
	High      *float64  `json:"high,omitempty"`
	SD        *float64  `json:"sd,omitempty"`
	SDStdErr  *float64  `json:"sd_stderr,omitempty"`
	Sum       *float64  `json:"sum,omitempty"`
	SumStdErr *float64  `json:"sum_stderr,omitempty"`
	Vector    []float64 `json:"vector,omitempty"`
	VectorErr *float64  `json:"vector_stderr,omitempty"`
	// pairs of a share and the value that it lies below
	Quantiles [][]float64 `json:"quantiles,omitempty"`
	Info      local.Info  `json:"info"`
}

// shares are those of the quantiles in results.
var shares = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}

// summarise asks an estimate everything.
func summarise(e Estimate) Result {
	r := Result{Info: e.Info()}
	for _, x := range []**float64{&r.Info.Outside, &r.Info.FitP, &r.Info.ShapeP, &r.Info.Clip, &r.Info.Cut} {
		if *x != nil {
			*x = finite(**x)
		}
	}
	r.Mean, r.StdErr = answered(e.Mean())
	r.Low, r.High = answered(e.Interval(0.95))
	r.SD, r.SDStdErr = answered(e.SD())
	if s, ok := e.(interface {
		Sum() (float64, float64, error)
	}); ok {
		r.Sum, r.SumStdErr = answered(s.Sum())
	}
	if v, stderr, err := e.Vector(); err == nil {
		r.Vector, r.VectorErr = v, finite(stderr)
	}
	for _, q := range shares {
		if v, err := e.Quantile(q); err == nil {
			r.Quantiles = append(r.Quantiles, []float64{q, v})
		}
	}
	return r
}

// answered returns what was answered, or nothing.
func answered(value, stderr float64, err error) (*float64, *float64) {
	if err != nil {
		return nil, nil
	}
	return finite(value), finite(stderr)
}

// finite leaves out what JSON has no number for.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
