package mean

import (
	"scrim/accounting"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised.
func (e persons) Events() []accounting.Event { return estimator.StepEvents(e) }

// Events implements estimator.Itemised.
func (s sum) Events() []accounting.Event { return estimator.StepEvents(s) }

// Events implements estimator.Itemised.
func (e rowMean) Events() []accounting.Event { return estimator.StepEvents(e) }
