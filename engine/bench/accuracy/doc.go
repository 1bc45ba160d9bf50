// Package accuracy reproduces the central-model experiments of [HLY21] and [ALP24] with the product's own
// estimators, and compares them with the figures that the project has set itself.
//
//	Method       an estimator under a name: an estimator.Estimator of the core, or a yardstick of this package
//	Panel        one plot: points (data set, ρ) by methods
//	Experiment   panels, number of trials, what the paper claims
//	Run          trials of all cells, on all cores, the same samples and the same noise source for every method
//	Report       tables, JSON, figures
//
// Trials are seeded: this is a bench on generated or public data, which the server does not link to its wire. The
// yardsticks that are not estimators of the core say so; those with floating-point noise release nothing.
package accuracy
