// Package demo is the demonstration: it loads the public data sets that ship with Scrim, protects
// them, serves them, and takes a tour over its own wire as an analyst would, with each private
// answer beside the true value. Only the demonstration may show true values: its data are public.
package demo
