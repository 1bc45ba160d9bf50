// Package panics counts the panics that were recovered from. Each is a defect of the program: the
// statement or the connection ends with an error, and everything else goes on.
package panics
