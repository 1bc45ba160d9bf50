// Package firstpasstest has what tests of secret matchings and coins share: the coupling of the
// matchings of two neighbours, and the secret bits with which firstpass.Match draws a given one,
// and firstpass.Toss given coins. It is for tests only.
package firstpasstest
