// Package skellam says how much noise a shuffled sum of vectors needs.
package skellam
