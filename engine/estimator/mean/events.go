package mean

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised.
func (e persons) Events() []privacy.Event { return estimator.StepEvents(e) }

// Events implements estimator.Itemised.
func (s sum) Events() []privacy.Event { return estimator.StepEvents(s) }

// Events implements estimator.Itemised.
func (e rowMean) Events() []privacy.Event { return estimator.StepEvents(e) }
