// Package vector holds the private mean, sum and variance of one vector a person, in any dimension,
// with nobody declaring a norm, a centre or a spread: the clipped mean and the shifted clipped mean
// of [HLY21], PLAN of [ALP24], COINPRESS of [BDKU20], and the choice between them from public facts
// and the released number of persons.
//
// Every estimator holds for both neighbour relations; shapes, sensitivities and what is released
// stand with each.
package vector
