package admin

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting"
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

// PriceLine is one line of what CALL dp_price answers.
type PriceLine struct {
	Item   string // budget, keys, answer or statement
	Name   string // schema.table or entity:NAME of a budget, the text of keys or of the aggregate
	Budget *accounting.Forecast
	// Questions is how many default statements fit before the query; nil where it is not known to
	// who asks.
	Questions *int
	Fits      bool
	// Of answers: the expected standard deviation of the noise, NaN where it is not known, and the
	// number of persons under which the answer is NULL. Of keys: from which one is shown with a
	// probability of 95 %.
	Error      float64
	MinPersons int64
	Remark     string
}

// priceProcedure tells everybody what a query would cost.
var priceProcedure = procedure{min: 1, max: 1, result: priceColumns, may: everybody, note: unnoted, run: (*Admin).price, Procedure: Procedure{"dp_price", "dp_price(query)",
	"What a query would cost, per budget: its loss, what remains before and after it, how many such queries fit, how many statements at the default loss are left before it; per answer the expected error and the persons that it needs; and the persons that a key needs which is selected privately. Of CALL dp_create_view(…) the price of making the view. It runs nothing and charges nothing. Anybody may call it, and is told about their own budgets; of those shared with others, whether the query fits.",
	"CALL dp_price('SELECT region, AVG(amount) FROM shop.orders GROUP BY region')"}}

// priceColumns are the columns of its result.
var priceColumns = []column{text("item"), text("name"), text("holder"), text("window"), real("rho"), real("epsilon"), real("remaining_rho"), real("remaining_epsilon"),
	real("after_rho"), real("after_epsilon"), count("queries"), text("fits"), real("expected_error"), count("min_persons"), text("remark"), count("questions_left")}

func (a *Admin) price(ctx *sql.Context, args []string) ([]sql.Row, error) {
	lines, err := a.o.Price(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return lists.Map(lines, func(l PriceLine) sql.Row { return l.row() }), nil
}

func (l *PriceLine) row() sql.Row {
	row := make(sql.Row, len(priceColumns))
	row[0], row[1], row[11] = l.Item, l.Name, yes(l.Fits)
	row[12], row[14] = finite(l.Error), orNull(l.Remark)
	if l.Item == "answer" || l.Item == "keys" {
		row[13] = l.MinPersons
	}
	if l.Questions != nil {
		row[15] = int64(*l.Questions)
	}
	f := l.Budget
	switch {
	case f == nil:
	case f.Missing:
		row[14] = "no '*' budget: every query is refused"
	case f.Budget.Window == "": // another's, which the asker does not see into
		row[2] = f.Holder
	default:
		row[2], row[3] = f.Holder, string(f.Budget.Window)
		row[4], row[6], row[8] = f.CostRho.Float(), f.RemainingRho.Float(), f.AfterRho.Float()
		row[5], row[7], row[9] = finite(float64(f.Cost)), finite(float64(f.Remaining)), finite(float64(f.After))
		row[10] = int64(f.Queries)
	}
	return row
}
