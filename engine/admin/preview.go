package admin

import (
	"encoding/json"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collections"
	"scrim/engine/estimator/local"
)

// previewColumns are what dp_preview_round returns: a line for each cell, and one, without a cell,
// for the round of each stratum.
var previewColumns = []column{text("stratum"), count("cell"), text("randomizer"), count("n_received"), count("n_min"), count("quota"),
	text("outcome"), text("publishes"), text("warnings")}

func (a *Admin) previewRound(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	list, err := a.o.Collections.Preview(ctx, name)
	if err != nil {
		return nil, err
	}
	c, _ := a.o.Collections.Lookup(name)
	var out []sql.Row
	for _, p := range list {
		rows, total := a.previewCells(c, p)
		row := sql.Row{p.Stratum, nil, nil, total, a.roundMin(c, p), nil, "ready", nil, nil}
		if p.Refusal != nil {
			row[6] = p.Refusal.Error()
		} else if row[7], err = published(p); err != nil {
			return nil, err
		}
		row[8] = warned(p.Info.Warnings)
		out = append(append(out, row), rows...)
	}
	return out, nil
}

// warned words the warnings, NULL where there are none.
func warned(list []local.Warning) any {
	var words []string
	for _, w := range list {
		words = append(words, w.Code+": "+w.Text)
	}
	return orNull(strings.Join(words, " "))
}

// published is what dp_next_round would publish, or in the last round keep as the result, as JSON.
func published(p collections.Preview) (any, error) {
	var what any = p.Published
	if p.Result != nil {
		what = p.Result
	}
	text, err := json.Marshal(what)
	return string(text), err
}

func (a *Admin) previewCells(c collections.Summary, p collections.Preview) (rows []sql.Row, total int64) {
	for _, n := range a.o.Collections.Cells() {
		if n.Name != c.Name || n.Round != p.Round || n.Stratum != p.Stratum {
			continue
		}
		total += int64(n.Received)
		outcome := any("ready")
		if n.Received < n.Cell.Min {
			outcome = "too few"
		}
		rows = append(rows, sql.Row{p.Stratum, int64(n.Cell.Cell), string(n.Cell.Randomiser), int64(n.Received), int64(n.Cell.Min), int64(n.Cell.Quota), outcome, nil, nil})
	}
	return rows, total
}

// roundMin is how many reports the cells of the round need together.
func (a *Admin) roundMin(c collections.Summary, p collections.Preview) any {
	for _, r := range a.o.Collections.Rounds() {
		if r.Name == c.Name && r.Round == p.Round && r.Stratum == p.Stratum {
			return int64(r.Min)
		}
	}
	return nil
}
