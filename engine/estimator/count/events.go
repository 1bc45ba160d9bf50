package count

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised.
func (r rows) Events() []privacy.Event { return estimator.StepEvents(r) }

// NoiseAlone implements estimator.NoiseAlone: both histograms and the sum are counts with noise.
func (rows) NoiseAlone() bool { return true }
