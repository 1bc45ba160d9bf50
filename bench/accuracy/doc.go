// Package accuracy reproduces the central-model experiments of [HLY21] and [ALP24] with the
// product's own estimators, sets the theorems of [AKM25] and [DJY24] beside measured errors,
// compares GROUP BY as one vector with bounds for each group, and holds all of it against the
// figures that the project has set itself.
//
// Collections of the local and the shuffle model run in memory, with the product's devices and
// decoders: [HLY21] and [JKMW19] once more, beside the closed forms that the product forecasts
// with.
//
//	Method       an estimator under a name: an estimator.Estimator of the core, or a yardstick of this package
//	Panel        one plot: points (data set, ρ) by methods
//	Experiment   panels, number of trials, what the paper claims
//	Run          trials of all cells, on all cores, the same samples and the same noise source for every method
//	Goal         an error to reach
//	Versus       a comparison of methods to win
//	Terms        constants of a theorem's terms, fitted to measured errors
//	Report       tables as text, Markdown, CSV and JSON; figures, verdicts
//
// Trials are seeded: this is a bench on generated or public data, which the server does not link to
// its wire. The yardsticks that are not estimators of the core say so; those with floating-point
// noise release nothing.
package accuracy
