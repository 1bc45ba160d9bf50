package local

import (
	"fmt"
	"strings"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// shown is how many cells a message lists.
const shown = 8

// enough refuses a round in which a cell has not received its minimum, or all cells together
// theirs, or in which nothing has arrived.
func enough(p *collect.Params, t *Tally) error {
	var few []string
	for _, c := range t.parts {
		if c.reports < c.Min {
			few = append(few, fmt.Sprintf("cell %d has %d of %d", c.Cell.Cell, c.reports, c.Min))
		}
	}
	if need := max(p.Min, 1); len(few) == 0 && t.Total() < need {
		few = []string{fmt.Sprintf("all cells together have %d of %d", t.Total(), need)}
	}
	if len(few) == 0 {
		return nil
	}
	return refuse.New(refuse.TooFewReports, "Round %d of %s needs more reports: %s.", p.Round, p.Collection, list(few))
}

// halfFull names the cells with less than half of their quota; it is empty if there are none.
func halfFull(t *Tally) string {
	var half []string
	for _, c := range t.parts {
		if c.reports < c.Quota-c.Quota/2 {
			half = append(half, fmt.Sprintf("cell %d has %d of %d", c.Cell.Cell, c.reports, c.Quota))
		}
	}
	if len(half) == 0 {
		return ""
	}
	return "Cells with less than half of the planned reports: " + list(half) + ". Estimates use what has arrived."
}

func list(s []string) string {
	if len(s) > shown {
		return fmt.Sprintf("%s, and %d more", strings.Join(s[:shown], ", "), len(s)-shown)
	}
	return strings.Join(s, ", ")
}
