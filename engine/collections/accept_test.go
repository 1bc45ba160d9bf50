package collections

import (
	"context"
	"testing"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

func TestLifeOfALocalCollection(t *testing.T) {
	w, ctx := testWorld(t), context.Background()
	w.create("commute", collect.LDPKV2)
	tokens := w.issue("commute", 4000)
	w.open("survey.Commute")
	w.bring("commute", 1, tokens, func(i int) float64 { return 40 + 5*float64(i%7-3)/2 })
	must(t, w.Next(ctx, "commute"))
	w.bring("commute", 2, tokens, func(i int) float64 { return 40 + 5*float64(i%7-3)/2 })
	must(t, w.Next(ctx, "commute"))
	s, _ := w.Lookup("commute")
	equal(t, "state", s.State, Final)
	e, err := w.Estimate(ctx, "commute", "")
	must(t, err)
	mean, stderr, err := e.Mean()
	must(t, err)
	t.Log(mean, stderr)
	results, err := w.Results("commute")
	must(t, err)
	t.Log(string(results[""]))
	equal(t, "reports", w.number("SELECT count(*) FROM survey.commute"), 4000)
	equal(t, "spent", w.number("SELECT count(*) FROM "+w.own(tableSpent, "commute")), 4000)
	_ = refuse.SpentToken
}
