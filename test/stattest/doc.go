// Package stattest holds what statistical and soundness tests share: the false-alarm rate, seeded
// sources, goodness-of-fit tests, and Noisers without a secure source. Only tests import it.
//
// Every assertion here raises a false alarm with probability Alpha = 1e-9, so a thousand assertions
// with fresh seeds do so once in a million runs. Seeds are fixed: -stat.seed=1 by default, 0 picks
// one and prints it. A failure prints seed, sample size, statistic and bound. Never retry a test,
// and never widen a bound to make it pass. Runs says how often something is repeated.
package stattest
