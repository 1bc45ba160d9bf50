package admin

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/lists"
)

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
