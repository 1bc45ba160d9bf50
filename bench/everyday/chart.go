package everyday

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"scrim/bench/figure"
	"scrim/bench/internal/served"
	"scrim/engine/estimator"
)

// charted is a picture of one statement's answers with their bars.
type charted struct {
	name, title string
	statement   Statement
	layout      string // of the key as a time; "": a number
}

// charts are the pictures that Chart draws.
var charts = []charted{
	{name: "baskets-by-day", title: "Baskets by day: 88,162 persons, one basket each", layout: time.DateOnly,
		statement: Statement{Name: "chart/baskets", Table: "items", Keys: []string{"day"}, Aggregates: []Aggregate{{personCount, "basket"}}}},
	{name: "items-by-day", title: "Items sold by day: 88,162 persons, 10 items each", layout: time.DateOnly,
		statement: Statement{Name: "chart/items", Table: "items", Keys: []string{"day"}, Aggregates: []Aggregate{{rowCount, ""}}}},
	{name: "ratings-by-day", title: "Ratings by day of 2000: 610 raters, 56 of them in that year", layout: time.DateOnly,
		statement: Statement{Name: "chart/ratings", Table: "ratings", From: "ratings WHERE day BETWEEN '2000-01-01' AND '2000-12-31'", Keys: []string{"day"}, Aggregates: []Aggregate{{rowCount, ""}}}},
	{name: "ratings-by-year", title: "Ratings by year: 610 raters, 20 to 2,698 ratings each",
		statement: Statement{Name: "chart/years", Table: "ratings", Keys: []string{"YEAR(day)"}, Aggregates: []Aggregate{{rowCount, ""}}}},
	{name: "ratings-by-hour", title: "Ratings by hour of the day: 610 raters",
		statement: Statement{Name: "chart/hours", Table: "ratings", Keys: []string{"HOUR(FROM_UNIXTIME(timestamp))"}, Aggregates: []Aggregate{{rowCount, ""}}}},
}

// Chart asks the statements of the charts once each, and returns the pictures by name: answers with
// their intervals at 95 %, beside the exact ones.
func Chart(ctx context.Context, data string) (map[string]figure.Figure, error) {
	dir, err := os.MkdirTemp("", "scrim-chart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var list []Statement
	for _, c := range charts {
		list = append(list, c.statement)
	}
	asked := []estimator.Relation{estimator.AddRemove}
	srv, err := start(ctx, dir, data, needed(list), asked)
	if err != nil {
		return nil, err
	}
	out := map[string]figure.Figure{}
	for _, c := range charts {
		f, err := c.draw(ctx, srv)
		if err != nil {
			return nil, errors.Join(err, srv.Stop())
		}
		out[c.name] = f
	}
	return out, srv.Stop()
}

// draw asks for the answers and the exact ones.
func (c charted) draw(ctx context.Context, srv *served.Server) (figure.Figure, error) {
	f := figure.Figure{Title: c.title, XLabel: c.statement.Keys[0], YLabel: c.statement.Aggregates[0].String(), Dates: c.layout != "", Wide: c.layout != "", Whole: c.layout == ""}
	s, err := srv.Connect(ctx, database(estimator.AddRemove))
	if err != nil {
		return f, err
	}
	defer s.Close()
	r, err := ask(ctx, s, c.statement, 1)
	if err != nil {
		return f, fmt.Errorf("everyday: %s: %w", c.name, err)
	}
	if _, err := s.ExecContext(ctx, "SET dp_raw = ON"); err != nil {
		return f, err
	}
	t, err := learn(ctx, s, c.statement, Tables()[c.statement.Table].Unit)
	if err != nil {
		return f, err
	}
	exact, got := figure.Curve{Name: "exact", Colour: 7, Bare: true}, figure.Curve{Name: "answer, interval at 95 %", Colour: 2, Loose: true}
	answers := r.answers(c.statement, 0)
	f.Curves = []figure.Curve{exact, got}
	for _, key := range union(t.keys, answers) {
		x, err := c.place(key)
		if err != nil {
			return f, err
		}
		y := 0.0
		if g, ok := t.index[key]; ok {
			y = t.exact[0][g]
		}
		f.Curves[0].Points = append(f.Curves[0].Points, figure.Point{X: x, Y: y, Err: math.NaN()})
		if a, ok := answers[key]; ok && !math.IsNaN(a.value) {
			f.Curves[1].Points = append(f.Curves[1].Points, figure.Point{X: x, Y: a.value, Err: a.value - a.low[usual], Up: a.high[usual] - a.value})
		}
	}
	f.Title += fmt.Sprintf("; %d of %d answered", len(f.Curves[1].Points), len(f.Curves[0].Points))
	return f, nil
}

// place is a key's place on the axis.
func (c charted) place(key string) (float64, error) {
	if c.layout == "" {
		return strconv.ParseFloat(key, 64)
	}
	at, err := time.Parse(c.layout, key)
	return float64(at.Unix()), err
}

// union lists all keys, shorter ones first, so that numbers and dates are in their order.
func union(keys []string, answers map[string]answer) []string {
	all := slices.AppendSeq(slices.Clone(keys), maps.Keys(answers))
	// the group of rows without a time
	all = slices.DeleteFunc(all, func(k string) bool { return k == total })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(all)
}
