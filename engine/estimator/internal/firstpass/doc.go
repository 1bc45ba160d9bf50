// Package firstpass holds what a first look at data is made of: noisy histograms of one number a
// person over public octaves, from which quantiles and clipping radii are read, secret matchings of
// persons, whose distances tell a spread, and the coins of secret samples.
//
// Numbers are floats that one person, or one group of a matching, determines alone; counts are
// integers. What leaves the package unreleased says so; everything that is computed from noisy
// counts is public.
package firstpass
