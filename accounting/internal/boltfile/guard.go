package boltfile

import (
	"fmt"
	"runtime/debug"
)

// Guard calls f and turns panics, and faults on the memory-mapped file (a disk error, a file cut
// short by someone else), into errors.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("accounting: ledger file: %v", p)
		}
	}()
	return f()
}
