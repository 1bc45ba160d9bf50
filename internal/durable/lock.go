package durable

import "errors"

// ErrHeld says that another process, or another opening in this one, holds the lock.
var ErrHeld = errors.New("the file is locked")
