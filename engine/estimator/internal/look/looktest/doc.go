// Package looktest has what tests of secret matchings and coins share: the coupling of the matchings of two neighbours, and the secret bits with
// which look.Match draws a given one, and look.Toss given coins. It is for tests only.
package looktest
