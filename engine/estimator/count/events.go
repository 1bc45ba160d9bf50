package count

import (
	"scrim/accounting"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised.
func (r rows) Events() []accounting.Event { return estimator.StepEvents(r) }
