package admin

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/collections"
	"scrim/engine/mysql/session"
	"scrim/internal/digest"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Simulation is what dp_simulate_collection is asked for.
type Simulation struct {
	By          string // who asks, see session.Owner
	Collection  collections.Summary
	Query       string // the source of the values
	Slots, Runs int
	Seed        *uint64 // nil: none
}

// simulateProcedure simulates a collection.
var simulateProcedure = procedure{min: 4, max: 5, result: simulationColumns, may: (*Admin).collecting, note: noteOfSimulation, run: (*Admin).simulate, Procedure: Procedure{"dp_simulate_collection", "dp_simulate_collection(name, select, n, runs [, seed])",
	"Runs a collection, in any state, over values that the server holds, in memory: n contributors, all rounds, with the randomisers of devices, several times. Over public tables it costs nothing, tells the true mean and the error, and takes a seed; rows beyond n are drawn at random, fewer are used again and again. Over a protected table every run is charged to its budget what a contributor pays, before the table is read; the source is then a plain SELECT of one table, each person has one slot, missing ones hold the value for NULL, and truth and error stay NULL. The results are kept in dp.collection_sim_results.",
	"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 20000, 20)"}}

// simulationColumns are of one run.
var simulationColumns = []column{count("run"), {"estimate", types.JSON}, real("stderr"), {"truth", types.JSON}, real("error"), text("warnings")}

// noteOfSimulation is the call with the query without its literals, which can be values of rows.
func noteOfSimulation(args []string) string {
	quote := func(s string) string { return strings.ReplaceAll(s, "'", "''") }
	return fmt.Sprintf("CALL dp_simulate_collection('%s', '%s', %s)", quote(args[0]), quote(digest.Redact(args[1])), strings.Join(args[2:], ", "))
}

// simulate reads the arguments.
func (a *Admin) simulate(ctx *sql.Context, args []string) ([]sql.Row, error) {
	c, err := a.collection(args[0])
	if err != nil {
		return nil, err
	}
	q := Simulation{By: session.Owner(ctx), Collection: c, Query: args[1]}
	slots, err := wholeNumber("number of contributors", args[2], collections.MaxSlots)
	if err != nil {
		return nil, err
	}
	runs, err := wholeNumber("number of runs", args[3], collections.MaxRuns)
	if err != nil {
		return nil, err
	}
	q.Slots, q.Runs = int(slots), int(runs)
	if seed, given, err := optionalNumber("seed", args, 4, 1<<64-1); err != nil {
		return nil, err
	} else if given {
		q.Seed = &seed
	}
	trials, err := a.o.Simulate(ctx, q)
	if err != nil {
		return nil, err
	}
	return lists.Try(trials, func(t collections.Trial) (sql.Row, error) { return trialRow(ctx, t) })
}

func trialRow(ctx *sql.Context, t collections.Trial) (sql.Row, error) {
	estimate, err := document(ctx, t.Estimate)
	if err != nil {
		return nil, err
	}
	truth, err := document(ctx, t.Truth)
	return sql.Row{int64(t.Run), estimate, numberOrNull(t.StdErr), truth, numberOrNull(t.Error), orNull(t.Warnings)}, err
}

// document reads JSON, NULL where there is none.
func document(ctx *sql.Context, text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	doc, _, err := types.JSON.Convert(ctx, string(text))
	return doc, err
}

// numberOrNull shows what a protocol has no answer for as NULL.
func numberOrNull(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// simulationTable makes dp.collection_sim_results. A collector sees their own: what another one
// simulated over tells of tables that they may not be allowed to read.
func (a *Admin) simulationTable() *table {
	return newTable("collection_sim_results", a.simulationResults, append([]column{
		text("collection"), count("simulation"), moment("computed_at"), text("source"), count("contributors")}, simulationColumns...)...)
}

func (a *Admin) simulationResults(ctx *sql.Context) ([]sql.Row, error) {
	if a.collecting(ctx) != nil {
		return nil, nil
	}
	var out []sql.Row
	for _, c := range a.listed() {
		list, err := a.o.Collections.Simulations(ctx, c.Schema+"."+c.Name)
		if err != nil {
			if _, gone := refuse.As(err); gone {
				continue // dropped meanwhile
			}
			return nil, err
		}
		for _, k := range list {
			if k.By != session.Owner(ctx) && !a.o.IsDBA(ctx) {
				continue
			}
			for _, t := range k.Trials {
				row, err := trialRow(ctx, t)
				if err != nil {
					return nil, err
				}
				out = append(out, append(sql.Row{c.Name, k.Number, stamp(k.At), k.Source, int64(k.Slots)}, row...))
			}
		}
	}
	return out, nil
}
