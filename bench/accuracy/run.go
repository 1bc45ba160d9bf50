package accuracy

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"scrim/bench/dataset"
	"scrim/engine/estimator/noise"
)

// Options say how cells are run.
type Options struct {
	// 0: as the experiment says; at least 400 for sets of fewer than 16 dimensions, unless it is
	// costly
	Trials   int
	Seed     uint64
	Workers  int   // trials at a time; 0: one a core
	Memory   int64 // bytes that samples and their copies may take together; 0: 4 GiB
	DataDir  string
	Progress func(done, total int)
}

// Trial is the outcome of one run.
type Trial struct {
	Trial   int
	Errors  Errors
	Refused bool
	Seconds float64

	Stated        float64 // the standard error that came with the answer; 0: none
	Covered       float64 // share of the answer's intervals that the truth lies in, NaN for none
	CoveredSample float64 // likewise the sample's own value
}

// Outcome is what the trials of a cell have given.
type Outcome struct {
	Cell
	Problem  string  // why the method cannot be built for the setting
	Expected float64 // closed form of the ℓ2 error, NaN where there is none
	Trials   []Trial
}

// Results holds outcomes by cell.
type Results map[Cell]*Outcome

// setting is a data set with its cells.
type setting struct {
	set    *dataset.Set
	trials int
	cells  []prepared
}

type prepared struct {
	outcome *Outcome
	method  Method
	run     runner
	most    int // trials
}

// Run runs the trials of experiments, cells that they share once, with as many trials as the one
// that wants most. When ctx ends it returns what is done, without an error; a set whose file is not
// there makes its cells a problem, not an error.
func Run(ctx context.Context, experiments []Experiment, o Options) (Results, error) {
	settings, results, err := prepare(experiments, o)
	if err != nil {
		return nil, err
	}
	r := &running{ctx: ctx, o: o, memory: o.Memory}
	if r.memory == 0 {
		r.memory = 4 << 30
	}
	most := 0
	for _, s := range settings {
		for _, p := range s.cells {
			r.total += min(s.trials, p.most)
		}
		most = max(most, s.trials)
	}
	r.room = semaphore.NewWeighted(r.memory)
	var g errgroup.Group
	g.SetLimit(workers(o))
	for t := range most {
		for _, s := range settings {
			if t < s.trials && len(s.cells) > 0 && ctx.Err() == nil {
				g.Go(func() error { return r.trial(s, t) })
			}
		}
	}
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	for _, out := range results {
		slices.SortFunc(out.Trials, func(a, b Trial) int { return a.Trial - b.Trial })
	}
	return results, nil
}

func workers(o Options) int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// prepare opens the sets and builds the estimators.
func prepare(experiments []Experiment, o Options) ([]*setting, Results, error) {
	results, sets := Results{}, map[string]*setting{}
	var order []*setting
	for _, e := range experiments {
		for _, c := range e.cells() {
			s := sets[c.Data]
			if s == nil {
				set, err := dataset.Open(c.Data, o.DataDir)
				if err != nil && !errors.Is(err, dataset.ErrNoFile) {
					return nil, nil, err
				}
				s = &setting{set: set}
				sets[c.Data], order = s, append(order, s)
			}
			s.trials = max(s.trials, trials(e, o, s.set))
			if results[c] == nil {
				results[c] = &Outcome{Cell: c}
				if err := s.prepare(results[c]); err != nil {
					return nil, nil, err
				}
			}
			s.allow(results[c], e.Most)
		}
	}
	return order, results, nil
}

// prepare adds a cell, or notes why it cannot be run. It fails where there is no such method.
func (s *setting) prepare(out *Outcome) error {
	m, err := OpenMethod(out.Method)
	if err != nil {
		return err
	}
	if s.set == nil {
		out.Problem = "no data file"
		return nil
	}
	run, err := m.build(s.set, Conditions{out.Rho, out.Relation})
	if err != nil {
		out.Problem = err.Error()
		return nil
	}
	if out.Expected = math.NaN(); m.expected != nil {
		out.Expected = m.expected(s.set, Conditions{out.Rho, out.Relation})
	}
	s.cells = append(s.cells, prepared{out, m, run, 0})
	return nil
}

// allow lifts the limit of a cell's trials to what an experiment sets it.
func (s *setting) allow(out *Outcome, most map[string]int) {
	limit, ok := most[out.Method]
	if !ok {
		limit = math.MaxInt
	}
	for i := range s.cells {
		if p := &s.cells[i]; p.outcome == out {
			p.most = max(p.most, limit)
		}
	}
}

// trials is the number of trials on a set.
func trials(e Experiment, o Options, s *dataset.Set) int {
	switch {
	case o.Trials > 0:
		return o.Trials
	case s != nil && s.Dim < 16 && !e.Costly:
		return max(400, e.Trials)
	}
	return e.Trials
}

// running is the state of one Run.
type running struct {
	ctx    context.Context
	o      Options
	memory int64
	room   *semaphore.Weighted

	mu          sync.Mutex
	done, total int
}

// trial draws one sample and runs all cells of a setting on it.
func (r *running) trial(s *setting, t int) error {
	bytes := min(r.memory, 8*4*int64(s.set.Entries)) // the sample and, at most, three copies of it
	if err := r.room.Acquire(r.ctx, bytes); err != nil {
		return err
	}
	defer r.room.Release(bytes)
	sample, err := s.set.Draw(mix(r.o.Seed, t, "data"))
	if err != nil {
		return err
	}
	for _, p := range s.cells {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if t >= p.most {
			continue
		}
		r.add(p.outcome, r.one(s.set, p, sample, t))
	}
	return nil
}

// one runs a cell on a sample. The noise source depends on seed and trial only: all methods have
// the same.
func (r *running) one(set *dataset.Set, p prepared, sample dataset.Sample, t int) Trial {
	n := noise.New(source(mix(r.o.Seed, t, "noise")))
	start := time.Now()
	a := p.run(n, sample)
	out := Trial{Trial: t, Refused: a.Refused, Seconds: time.Since(start).Seconds()}
	truth, own := p.method.Target.truth(set, sample)
	out.Errors = distances(a.Values, truth, own).of(p.method.Target)
	out.Stated = a.Stated.StdErr
	out.Covered, out.CoveredSample = a.Stated.covers(truth), a.Stated.covers(own)
	if a.Refused {
		out.Errors = distances(nil, []float64{0}, []float64{0})
	}
	return out
}

func (r *running) add(o *Outcome, t Trial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Trials = append(o.Trials, t)
	r.done++
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.total)
	}
}

// mix derives a seed.
func mix(seed uint64, trial int, purpose string) uint64 {
	return source(seed, uint64(trial), uint64(len(purpose)), uint64(purpose[0])).Uint64()
}

// source is a ChaCha8 stream under the given words.
func source(words ...uint64) *rand.ChaCha8 {
	var key [32]byte
	for i, w := range words {
		binary.LittleEndian.PutUint64(key[8*i:], w)
	}
	return rand.NewChaCha8(key)
}

// Summary returns the statistics of a cell's errors under a metric, and the numbers of trials done
// and refused.
func (o *Outcome) Summary(m Metric) (s Summary, done, refused int) {
	var x []float64
	for _, t := range o.Trials {
		x = append(x, t.Errors[m])
		if t.Refused {
			refused++
		}
	}
	return Summarise(x), len(o.Trials), refused
}

// seconds is the mean time of a run.
func (o *Outcome) seconds() float64 {
	var x []float64
	for _, t := range o.Trials {
		x = append(x, t.Seconds)
	}
	return Summarise(x).Mean
}
