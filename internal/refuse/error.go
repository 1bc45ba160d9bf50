package refuse

import (
	"errors"
	"fmt"
)

// Error is one refusal. Its text is public: it is sent to the client as it stands.
type Error struct {
	Code   Code
	Cause  string // what is wrong with this statement
	Remedy string // what would work; Table's remedy when empty
}

// New returns a refusal with the table's remedy.
func New(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Cause: fmt.Sprintf(format, args...)}
}

// With returns a copy of e with its own remedy.
func (e *Error) With(format string, args ...any) *Error {
	n := *e
	n.Remedy = fmt.Sprintf(format, args...)
	return &n
}

// Error implements error: cause, then remedy.
func (e *Error) Error() string {
	r := e.Remedy
	if r == "" {
		r = Lookup(e.Code).Remedy
	}
	return e.Cause + " " + r
}

// As returns the refusal in err's chain, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
