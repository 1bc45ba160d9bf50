// Package simulate runs a collection in memory over the values of a query, before anybody
// contributes to it. Over public tables the values are read as the client may read them. Over a
// protected table they are charged for, and nothing is told that the collection itself would not
// tell.
package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/accounting/privacy"
	"scrim/engine/admin"
	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/exec"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/processlist"
	"scrim/internal/refuse"
	"scrim/planner"
	"scrim/planner/sample"
)

// The sources of a simulation.
const (
	publicSource    = "public"
	protectedSource = "protected"
)

// Simulator runs simulations of collections.
type Simulator struct {
	Engine      *sqle.Engine // plans the queries that values come from
	Runner      *exec.Executor
	Collections *collections.Collections
	// Scanned is shown the values of a protected table, by tests; nil otherwise.
	Scanned func(values [][]float64)
}

// Run runs a collection in memory over the values of a query. Over public tables they are read as
// the client may read them; over a protected table sample.Node is what is read, after a
// charge: see there why one person moves one of the values, and collections.Simulation why the runs
// then have the guarantee that is charged.
func (s *Simulator) Run(ctx *sql.Context, q admin.Simulation) ([]collections.Trial, error) {
	c := q.Collection
	design, err := collect.Plan(c.Schema+"."+c.Name, c.UUID, c.Protocol, c.Declaration)
	if err != nil {
		return nil, err
	}
	if err := collections.CheckSimulation(design, q.Slots, q.Runs); err != nil {
		return nil, err
	}
	node, err := s.source(ctx, q, collections.Dimension(design))
	if err != nil {
		return nil, err
	}
	kept := collections.Kept{By: q.By, Source: publicSource, Slots: q.Slots}
	sim := collections.Simulation{Design: design, Runs: q.Runs}
	done, end := processlist.ShowRuns(ctx, c.Schema+"."+c.Name, q.Runs)
	defer end()
	sim.Done = done
	if sample := sample.Of(ctx, node); sample != nil {
		kept.Source = protectedSource
		kept.Trials, err = s.protected(ctx, q, sim, sample)
	} else {
		kept.Trials, err = s.public(ctx, q, sim, node)
	}
	if err != nil {
		return nil, err
	}
	return kept.Trials, s.keep(ctx, c, kept)
}

// keep keeps the results. Of a collection that was dropped meanwhile they are returned only.
func (s *Simulator) keep(ctx *sql.Context, c collections.Summary, k collections.Kept) error {
	_, err := s.Collections.Keep(ctx, c.Schema+"."+c.Name, k)
	if r, gone := refuse.As(err); gone {
		ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: refuse.MySQLErrno, Message: "The results are not kept: " + r.Cause})
		return nil
	}
	return err
}

// source plans the query that the values come from, with the rights of the client.
func (s *Simulator) source(ctx *sql.Context, q admin.Simulation, width int) (sql.Node, error) {
	parsed, _, rest, err := s.Engine.Parser.Parse(ctx, q.Query, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	sel, ok := parsed.(sqlparser.SelectStatement)
	if !ok || rest != "" || sel.GetInto() != nil {
		return nil, unsuitable("The source of a simulation is not one SELECT.")
	}
	return planner.Analyze(sample.With(ctx, width, q.Slots), s.Engine, q.Query, parsed)
}

func unsuitable(format string, args ...any) error {
	return refuse.New(refuse.SimulationSource, format, args...).
		With("For example CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 20000, 20).")
}

// protected charges, reads and runs. There is no seed and no truth: either would tell of the
// values.
func (s *Simulator) protected(ctx *sql.Context, q admin.Simulation, sim collections.Simulation, sample *sample.Node) (trials []collections.Trial, err error) {
	if q.Seed != nil {
		return nil, refuse.New(refuse.SimulationSource, "A simulation over the protected table %s takes no seed: who knows it could undo the noise.", sample.Tables[0].Table).
			With("Leave the seed out, or simulate over a public table.")
	}
	event := guarantee(sim.Design)
	event.Count = uint32(q.Runs)
	if err := sample.Fits(event.Loss()); err != nil {
		return nil, err
	}
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	c := q.Collection
	charged := exec.Charged{
		Loss: event.Loss(), Events: []privacy.Event{event}, Statement: q.Query,
		Mechanism: fmt.Sprintf("simulation of %s.%s (%s), %d runs", c.Schema, c.Name, c.Protocol, q.Runs),
	}
	err = s.Runner.Sample(ctx, &sample.Sample, charged, func(values [][]float64) error {
		if s.Scanned != nil {
			s.Scanned(values)
		}
		// those without a person hold the value for NULL
		sim.Values = make([]collect.Value, q.Slots)
		for i, v := range values {
			sim.Values[i] = v
		}
		sim.Rand = func(int) *exact.Rand { return exact.Secure() }
		runs, err := collections.Simulate(ctx, sim)
		if err == nil {
			trials, err = collections.Trials(runs, nil)
		}
		return err
	})
	return trials, err
}

// guarantee is what one run costs a person who has one slot: what a contributor pays.
//
//   - ε-DP: ε, which is ε²/2-zCDP [BS16, Proposition 1.4], or the smaller ρ that the protocol
//     declares beside it.
//   - Rounds of different kinds: each person is in one round, so the largest ρ of any round is that
//     of the whole.
//   - (ε,δ)-DP of the shuffle model: with probability 1−δ it behaves as an ε-DP mechanism [KOV15],
//     so outside of an event of probability δ it is ε²/2-zCDP.
//
// Both neighbour relations move one slot (sample.Node), which is what the guarantee is
// stated for.
func guarantee(g *collect.Design) privacy.Event {
	cost := g.Cost()
	eps := privacy.Pure(0)
	if e := cost.Epsilon.Float(); e > 0 {
		eps = privacy.PureOf(e)
	}
	switch {
	case math.IsInf(cost.Rho, 1):
		return privacy.Event{Kind: privacy.RandomizedResponse, Epsilon: eps, DeltaEvent: cost.Delta, Count: 1}
	case cost.Delta > 0: // declared as ρ; its δ is a conversion for wallets
		return privacy.Event{Kind: privacy.ZCDP, Rho: privacy.RhoOf(cost.Rho), Count: 1}
	}
	pure := privacy.Event{Kind: privacy.RandomizedResponse, Epsilon: eps, Count: 1}
	if rho := privacy.RhoOf(cost.Rho); rho < pure.Loss().Rho {
		return privacy.Event{Kind: privacy.ZCDP, Rho: rho, Epsilon: eps, Count: 1}
	}
	return pure
}

// public runs over values that anybody may know, and tells how far off each run was.
func (s *Simulator) public(ctx *sql.Context, q admin.Simulation, sim collections.Simulation, node sql.Node) ([]collections.Trial, error) {
	sim.Rand = func(int) *exact.Rand { return exact.Secure() }
	if q.Seed != nil {
		sim.Rand = func(run int) *exact.Rand { return exact.New(repeatable(*q.Seed, run)) }
	}
	values, err := s.publicValues(ctx, node, collections.Dimension(sim.Design), q.Slots, sim.Rand(-1))
	if err != nil {
		return nil, err
	}
	sim.Values = values
	runs, err := collections.Simulate(ctx, sim)
	if err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return collections.Trials(runs, sim.Truth())
}

// repeatable is the source of a run of a simulation over public values that can be repeated.
// Nothing private is ever drawn from it.
func repeatable(seed uint64, run int) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "simulation %d run %d", seed, run)))
}

// publicValues reads the rows of a public query into slots: of more rows than slots a random
// choice, of fewer all of them again and again.
func (s *Simulator) publicValues(ctx *sql.Context, node sql.Node, width, slots int, r *exact.Rand) ([]collect.Value, error) {
	schema := node.Schema(ctx)
	if len(schema) != width && !(len(schema) == 1 && width > 1) {
		return nil, unsuitable("The source has %d columns, and a value of the collection %d numbers.", len(schema), width)
	}
	rows, err := s.Engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	values, err := choose(ctx, rows, width, slots, r)
	if closed := rows.Close(ctx); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, unsuitable("The source of the simulation has no rows.")
	}
	for i := 0; len(values) < slots; i++ {
		values = append(values, values[i])
	}
	return values, nil
}

// choose takes all rows, or a uniform choice of as many as there are slots (reservoir sampling), in
// random order.
func choose(ctx *sql.Context, rows sql.RowIter, width, slots int, r *exact.Rand) ([]collect.Value, error) {
	var out []collect.Value
	for seen := uint64(0); ; seen++ {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		at := r.Uniform(seen + 1)
		if at >= uint64(slots) {
			continue
		}
		v, err := valueOf(ctx, row, width)
		if err != nil {
			return nil, err
		}
		if len(out) < slots {
			out = append(out, v)
			out[at], out[len(out)-1] = out[len(out)-1], out[at]
			continue
		}
		out[at] = v
	}
}

// valueOf reads one value; nil for NULL.
func valueOf(ctx *sql.Context, row sql.Row, width int) (collect.Value, error) {
	if width > 1 && len(row) == 1 {
		return numbersOf(ctx, row[0])
	}
	out := make(collect.Value, len(row))
	for i, x := range row {
		if x == nil {
			return nil, nil
		}
		v, _, err := types.Float64.Convert(ctx, x)
		f, ok := v.(float64)
		if err != nil || !ok {
			return nil, unsuitable("The source of the simulation has a value that is no number.")
		}
		out[i] = f
	}
	return out, nil
}

// numbersOf reads a vector: a JSON array of numbers, or what prints as one.
func numbersOf(ctx *sql.Context, x any) (collect.Value, error) {
	if x == nil {
		return nil, nil
	}
	doc, _, err := types.JSON.Convert(ctx, x)
	if err != nil {
		return nil, unsuitable("The source of the simulation has a value that is no vector.")
	}
	text, err := types.JSON.SQL(ctx, nil, doc)
	var out collect.Value
	if err != nil || json.Unmarshal(text.ToBytes(), &out) != nil {
		return nil, unsuitable("The source of the simulation has a value that is no vector of numbers.")
	}
	return out, nil
}
