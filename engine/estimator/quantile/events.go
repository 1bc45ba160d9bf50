package quantile

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised. A level of the recursion is one step with as many draws as
// it has parts, among which the loss of the level is divided in any way.
func (e chosen) Events() []privacy.Event { return estimator.StepEvents(e) }
