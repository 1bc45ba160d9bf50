package friendly

import "scrim/engine/estimator"

// Params are the public facts of a friendly mean.
type Params struct {
	estimator.Params
	Dim      int
	Delta    float64   // total-variation slack that a release may have (accounting.Loss.DeltaTV), > 0
	Sigma    []float64 // declared spreads, one for each coordinate or one for all, in values; nil: the largest are learnt
	SigmaMin float64   // where spreads are learnt: public bounds on them, in values
	SigmaMax float64
	Top      int // how many spreads are learnt at most; 0: as many as the persons allow
}
