package admin

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/lists"
)

// epsilonType holds every ε that a collection can have.
var epsilonType = types.MustCreateDecimalType(8, 4)

func binary(name string, bytes int64) column {
	return column{name, types.MustCreateBinary(sqltypes.Binary, bytes)}
}

// collectionTables are the views of dp on collections. They are for everybody: what they tell is
// meant for people who trust nobody.
func (a *Admin) collectionTables() []*table {
	return []*table{
		newTable("collection_batches", a.ofCollections(a.collectionBatches),
			count("batch_id"), text("collection"), count("round"), text("stratum"), count("cell"), count("batch"),
			count("n_reports"), count("n_messages"), count("n_broken"), text("loaded_on"), binary("bag_sha256", 32), text("refused")),
		newTable("collection_cells", a.ofCollections(a.collectionCells),
			text("collection"), count("round"), text("stratum"), count("cell"), text("randomizer"), count("domain"), count("keep_num"),
			count("quota"), count("n_min"), count("n_tokens"), count("n_received"), count("level"), count("coordinate"), count("offset")),
		newTable("collection_results", a.collectionResults,
			text("collection"), text("stratum"), real("mean"), real("stderr"), real("low"), real("high"), column{"result", types.JSON}),
		newTable("collection_rounds", a.ofCollections(a.collectionRounds),
			text("collection"), count("round"), text("stratum"), text("params"), binary("fingerprint", 32), moment("opened_at"), moment("closed_at"),
			count("n_received"), count("n_min"), column{"seal_key", types.MustCreateBinary(sqltypes.VarBinary, 64)}, text("table_name")),
		a.simulationTable(),
		a.tokensTable(),
		newTable("collections", a.collections,
			text("name"), text("table_name"), text("uuid"), text("protocol"), text("model"), text("state"), count("round"), count("rounds"),
			column{"epsilon", epsilonType}, real("delta"), real("rho"), count("n_expected"), text("strata"), text("trust"), text("declared"),
			text("owner"), moment("created_at"), text("fail_reason")),
	}
}

// ofCollections reads rows where there are collections; else there are none.
func (a *Admin) ofCollections(read func(*sql.Context) ([]sql.Row, error)) func(*sql.Context) ([]sql.Row, error) {
	return func(ctx *sql.Context) ([]sql.Row, error) {
		if a.o.Collections == nil {
			return nil, nil
		}
		return read(ctx)
	}
}

// collections makes dp.collections. ε, δ and ρ are what each contributor pays.
func (a *Admin) collections(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, c := range a.listed() {
		loss, declared := costOf(c), c.Declaration
		epsilon, _, err := epsilonType.Convert(ctx, strconv.FormatFloat(loss.Epsilon.Float(), 'f', 4, 64))
		if err != nil {
			return nil, err
		}
		text, err := declaration(c)
		if err != nil {
			return nil, err
		}
		row := sql.Row{c.Name, c.Schema + "." + c.Name, c.UUID, string(c.Protocol), string(c.Model), string(c.State), int64(c.Round), int64(c.Rounds),
			epsilon, loss.Delta, nil, int64(declared.Expected), nil, orNull(declared.Trust), text, c.Owner, stamp(c.Created), orNull(c.Reason)}
		if !math.IsInf(loss.Rho, 0) {
			row[10] = loss.Rho
		}
		if len(declared.Strata) > 0 {
			list, _ := json.Marshal(declared.Strata) // of texts
			row[12] = string(list)
		}
		out = append(out, row)
	}
	return out, nil
}

// declaration shows what was declared, with the bounds that are 0, which the parameters leave out.
func declaration(c collections.Summary) (string, error) {
	text, err := json.Marshal(c.Declaration)
	if err != nil {
		return "", err
	}
	shown := map[string]any{}
	for _, bound := range []string{"lo", "hi"} {
		if slices.Contains(collect.Keys(c.Protocol), bound) {
			shown[bound] = 0
		}
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		return "", err
	}
	text, err = json.Marshal(shown)
	return string(text), err
}

// costOf is what a contributor pays: the largest loss of any round, in each of its numbers, as each
// is in one round.
func costOf(c collections.Summary) (worst collect.Loss) {
	for round := range c.Rounds {
		l := (&collect.Params{Protocol: c.Protocol, Declaration: c.Declaration, Round: round + 1}).Cost()
		worst = collect.Loss{Epsilon: max(worst.Epsilon, l.Epsilon), Delta: max(worst.Delta, l.Delta), Rho: max(worst.Rho, l.Rho)}
	}
	return worst
}

func (a *Admin) listed() []collections.Summary {
	if a.o.Collections == nil {
		return nil
	}
	return a.o.Collections.List()
}

// stamp reads a time of a DBA's statement; NULL where there is none.
func stamp(text string) any {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		return nil
	}
	return t
}

func (a *Admin) collectionRounds(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, r := range a.o.Collections.Rounds() {
		print := r.Params.Fingerprint()
		var key any
		if len(r.Params.SealKey) > 0 {
			key = r.Params.SealKey
		}
		out = append(out, sql.Row{r.Name, int64(r.Round), r.Stratum, string(r.Params.Canonical()), print[:], stamp(r.Opened), stamp(r.Closed),
			int64(r.Received), int64(r.Min), key, r.Schema + "." + r.Name})
	}
	return out, nil
}

func (a *Admin) collectionCells(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, n := range a.o.Collections.Cells() {
		c := n.Cell
		out = append(out, sql.Row{n.Name, int64(n.Round), n.Stratum, int64(c.Cell), string(c.Randomiser), int64(c.Domain), orNull(int64(c.Keep)), // at most 2^62
			int64(c.Quota), int64(c.Min), int64(n.Issued), int64(n.Received), int64(c.Level), int64(c.Coordinate), int64(c.Offset)})
	}
	return out, nil
}

func (a *Admin) collectionBatches(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, b := range a.o.Collections.Batches() {
		bag, err := hex.DecodeString(b.Bag)
		if err != nil {
			return nil, err
		}
		out = append(out, sql.Row{b.ID, b.Name, int64(b.Round), b.Stratum, int64(b.Cell), int64(b.Batch),
			int64(b.Reports), int64(b.Messages), int64(b.Broken), b.Day, bag, orNull(b.Bad)})
	}
	return out, nil
}

func (a *Admin) collectionResults(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, c := range a.listed() {
		results, err := a.o.Collections.Results(c.Schema + "." + c.Name)
		if err != nil {
			continue // dropped meanwhile
		}
		for _, s := range slices.Sorted(maps.Keys(results)) {
			doc, _, err := types.JSON.Convert(ctx, string(results[s]))
			if err != nil {
				return nil, err
			}
			var r collections.Result
			if err := json.Unmarshal(results[s], &r); err != nil {
				return nil, err
			}
			out = append(out, sql.Row{c.Name, s, numberOrNull(r.Mean), numberOrNull(r.StdErr), numberOrNull(r.Low), numberOrNull(r.High), doc})
		}
	}
	return out, nil
}

// tokensTable makes dp.collection_tokens: how many tokens there are of each cell, and how many of
// them have reported. It shows no token, not even by its hash: whoever could look again and again
// which of them is spent, and at the reports at the same time, would see who sent what.
func (a *Admin) tokensTable() *table {
	return newTable("collection_tokens", a.ofCollections(a.collectionTokens),
		text("collection"), count("round"), text("stratum"), count("cell"), count("n_issued"), count("n_spent"), count("n_free"))
}

func (a *Admin) collectionTokens(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, c := range a.o.Collections.Cells() {
		if c.Issued == 0 {
			continue // issued elsewhere
		}
		spent := min(c.Received, c.Issued)
		out = append(out, sql.Row{c.Name, int64(c.Round), c.Stratum, int64(c.Cell.Cell), int64(c.Issued), int64(spent), int64(c.Issued - spent)})
	}
	return out, nil
}

// designColumns are what dp_create_collection and dp_forecast_collection return.
var designColumns = []column{text("item"), text("value"), text("meaning")}

// DesignRows tells what follows from the declaration of a collection: item, value, meaning.
func DesignRows(g *collect.Design) []sql.Row {
	d := design{}
	d.add("collection", g.Collection, "its table")
	d.add("uuid", g.UUID, "by which wallets know it")
	d.add("protocol", string(g.Protocol), about(g.Protocol))
	d.paid(g.Cost(), g.Declaration.Epsilon)
	d.forecast(g)
	d.derived(g.Derived)
	for round := range g.Rounds() {
		d.round(g, round+1)
	}
	return d.rows
}

// design gathers rows.
type design struct{ rows []sql.Row }

func (d *design) add(item, value, meaning string) {
	d.rows = append(d.rows, sql.Row{item, value, meaning})
}

// number adds a number that is there.
func (d *design) number(item string, x float64, meaning string) {
	if x != 0 && !math.IsNaN(x) && !math.IsInf(x, 0) {
		d.add(item, shortest(x), meaning)
	}
}

func (d *design) whole(item string, n uint64, meaning string) {
	if n != 0 {
		d.add(item, strconv.FormatUint(n, 10), meaning)
	}
}

func (d *design) paid(l collect.Loss, declared exact.Epsilon) {
	meaning := "what each contributor pays, once"
	if l.Epsilon > declared {
		meaning += fmt.Sprintf(": more than the declared epsilon of %v, in the last round", declared)
	}
	d.add("contributor_epsilon", l.Epsilon.String(), meaning)
	if l.Delta > 0 {
		d.add("contributor_delta", shortest(l.Delta), "with it")
	}
	if !math.IsInf(l.Rho, 0) {
		d.add("contributor_rho", rounded(l.Rho), "the same as a zCDP loss")
	}
}

func (d *design) forecast(g *collect.Design) {
	f := g.Forecast()
	meaning := "to expect of the " + f.Of + " with n_expected contributors"
	switch g.Protocol {
	case collect.LDPKV1, collect.LDPKV2, collect.LDPUV1:
		meaning += ", if their values are Gaussian; intervals are wider, and of other values there is no standard error: for a mean take LDP_BIT"
	}
	d.add("standard_error", rounded(f.StdErr), meaning)
	if f.StdErrLow != f.StdErr {
		d.add("standard_error_least", rounded(f.StdErrLow), "of the same, for the values that it is smallest for")
	}
	d.whole("n_least", f.Least, "the least n_expected that these parameters can be planned for")
	d.whole("report_bytes", f.Report, "that a contributor sends at most, without the token")
	d.whole("messages", f.Messages, "of a contributor, sealed one by one")
	d.add("device_time_ms", rounded(float64(f.DeviceTime)/float64(time.Millisecond)), "to make the longest report, about")
}

func (d *design) derived(x collect.Derived) {
	d.number("range", x.Range, "in units of sigma, or sigma_min")
	d.number("scales", x.Scales, "sigma_max in units of sigma_min")
	d.whole("residue_levels", uint64(x.Residues), "cells of round 1 that look for the centre, or the width")
	d.whole("level_min", x.LevelMin, "reports of each of them that make the search sure")
	d.whole("padded_dimension", uint64(x.Padded), "of the rotated vectors")
	d.number("ball", x.Ball, "the norm that vectors are clipped to")
	d.number("box", x.Box, "half the side of round 1's trees")
	d.number("clip_target", x.ClipTarget, "the share of norms beyond the clip where noise and clipping balance")
	d.number("round_3_rho", x.Rho, "zCDP loss of round 3")
}

func (d *design) round(g *collect.Design, round int) {
	cells := g.Cells(round)
	quota := lists.Sum(cells, func(c collect.Cell) uint64 { return c.Quota })
	prefix := fmt.Sprintf("round_%d_", round)
	d.whole(prefix+"contributors", quota, "planned")
	d.whole(prefix+"cells", uint64(len(cells)), "groups that report by one law each")
	d.whole(prefix+"n_min", g.Min(round), "reports that the round needs; dp.collection_cells tells what each cell needs of them")
}

// rounded writes a number for a person.
func rounded(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// price words a contributor's loss.
func price(l collect.Loss) string {
	s := "epsilon=" + l.Epsilon.String()
	if l.Delta > 0 {
		s += ", delta=" + shortest(l.Delta)
	}
	if !math.IsInf(l.Rho, 0) {
		s += ", rho=" + rounded(l.Rho)
	}
	return s
}

// about says what a protocol estimates and in how many rounds.
func about(p collect.Protocol) string {
	i, _ := p.Info()
	return fmt.Sprintf("%s; rounds: %d; model: %s", i.For, i.Rounds, i.Model)
}

// forecastProcedure tells what a declaration would mean. It is everybody's but contributors', and
// leaves no note: it is a calculation.
var forecastProcedure = procedure{min: 2, max: 2, result: designColumns, may: everybody, note: unnoted, run: (*Admin).forecast, Procedure: Procedure{"dp_forecast_collection", "dp_forecast_collection(protocol, json)",
	"What a collection with these parameters would be: its standard error by the protocol's formula, the least number of contributors, the bytes and the device time of a report, the numbers of each round, and what each contributor pays. It reads no data, makes nothing and costs nothing. Every account of one's own may call it, and not the one that contributors share. SELECT * FROM dp.protocols lists the parameters.",
	`CALL dp_forecast_collection('LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}')`}}

// forecastUUID stands for the one that a collection would get; nothing that is forecast depends on
// it.
const forecastUUID = "00000000-0000-4000-8000-000000000000"

// forecast makes one forecast at a time, because some take seconds, which nothing ends.
func (a *Admin) forecast(ctx *sql.Context, args []string) ([]sql.Row, error) {
	p := collect.Protocol(strings.ToUpper(strings.TrimSpace(args[0])))
	d, err := collect.ParseDeclaration(p, []byte(args[1]))
	if err != nil {
		return nil, err
	}
	select {
	case a.forecasting <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.forecasting }()
	g, err := collect.Plan("forecast", forecastUUID, p, d)
	if err == nil {
		err = g.CheckNamed()
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(DesignRows(g), func(r sql.Row) bool { return r[0] == "collection" || r[0] == "uuid" }), nil
}
