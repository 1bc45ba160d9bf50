package groups

import "scrim/engine/estimator/internal/clipping"

// Neighbours are released with the same noisy counts, which are fitted once.
func init() { clipping.KeepFits(32) }
