// Package panics counts the panics that were recovered from. Each is a defect of the program: the
// statement or the connection ends with an error, and everything else goes on.
package panics

import "sync/atomic"

var total atomic.Uint64

// Recovered counts one.
func Recovered() { total.Add(1) }

// Total is how many there were since the process began.
func Total() uint64 { return total.Load() }
