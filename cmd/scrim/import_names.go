package main

import (
	"regexp"

	"scrim/internal/sqltext"
)

// plainName needs no quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name writes a name for MySQL, quoted where it has to be.
func name(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return sqltext.Name(s)
}
