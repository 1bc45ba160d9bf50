package testenv

import (
	"errors"
	"testing"
	"time"
)

// Until waits for something to be the case, and ends the test where it is not within a time.
func Until(t testing.TB, within time.Duration, what string, is func() bool) {
	t.Helper()
	Succeeds(t, within, what, func() error {
		if is() {
			return nil
		}
		return errors.New("it is not the case")
	})
}

// Succeeds tries something again and again, and ends the test with the last error where it fails
// for too long.
func Succeeds(t testing.TB, within time.Duration, what string, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s: %v", within, what, err)
		}
	}
}
