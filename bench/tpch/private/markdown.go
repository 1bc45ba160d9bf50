package private

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"scrim/bench/internal/form"
)

// Markdown writes the table, and below it why queries were refused.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	form.Table(&b, []string{"", "outcome", "rows", "median error", "95 % intervals", "time", "plain", "per person", "processor / plain", "processor / per person"}, func(row func([]string)) {
		for _, q := range r.Rows {
			row(q.cells())
		}
	})
	for _, q := range r.Rows {
		if q.Refusal != "" {
			fmt.Fprintf(&b, "- %s: %s\n", q.title(), q.Refusal)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title is Q1 for q01.
func (r *Row) title() string {
	return "Q" + strings.TrimLeft(strings.TrimPrefix(r.Query.Name, "q"), "0")
}

func (r *Row) cells() []string {
	none := "–"
	out := []string{r.title(), "answered", fmt.Sprintf("%g of %d", median(r.Answered), r.Keys), none, none, none, none, none, none, none}
	if r.Refusal != "" {
		out[1], out[2] = "refused", none
		return out
	}
	if n := median(r.Beyond); n > 0 {
		out[2] += fmt.Sprintf(", %g more", n)
	}
	if r.Exact {
		out[1] = "exact"
	}
	if len(r.Errors) > 0 {
		out[3] = percent(median(r.Errors))
	}
	if r.Ends > 0 {
		out[4] = fmt.Sprintf("%.2f of %d", float64(r.Covered)/float64(r.Ends), r.Ends)
	}
	out[5], out[6] = milliseconds(median(r.Private.clock)), milliseconds(median(r.Plain.clock))
	ours := median(r.Private.worked)
	out[8] = fmt.Sprintf("%.2f", ours/median(r.Plain.worked))
	if len(r.Persons.clock) > 0 {
		out[7], out[9] = milliseconds(median(r.Persons.clock)), fmt.Sprintf("%.2f", ours/median(r.Persons.worked))
	}
	return out
}

// median is the middle one, the mean of the middle two, and 0 for none.
func median[T int | float64 | time.Duration](x []T) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return (float64(x[(len(x)-1)/2]) + float64(x[len(x)/2])) / 2
}

func milliseconds(ns float64) string { return fmt.Sprintf("%.0f ms", ns/1e6) }

func percent(x float64) string {
	if x > 0 && x < 0.01 {
		return fmt.Sprintf("%.2g %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}
