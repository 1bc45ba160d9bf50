// Package testenv says what the tests of this module need from their machine: programs that may be
// absent, and whether their absence may be passed over; and it waits for what takes its time there.
package testenv
