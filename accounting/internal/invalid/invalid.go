// Package invalid says that an argument has a value that no account accepts, and what would be
// right.
package invalid

import (
	"errors"
	"fmt"
)

// Err is what errors.Is finds in all of these errors.
var Err = errors.New("accounting: invalid value")

// New returns Err with what is wrong.
func New(format string, args ...any) error {
	return fmt.Errorf("%w: %s", Err, fmt.Sprintf(format, args...))
}
