package hostile

import (
	_ "embed"
	"strings"
)

//go:embed values
var file string

// Values are the values of a type of the store, each an expression of the store's SQL; nil where
// the file values has none.
func Values(typ string) []string {
	_, rest, found := strings.Cut("\n"+file, "\n"+typ+"\n\t")
	if !found {
		return nil
	}
	list, _, _ := strings.Cut(rest, "\n\n")
	return strings.Split(strings.TrimSuffix(list, "\n"), "\n\t")
}

// Value is an expression for value n of a type, which begin anew after the last.
func Value(typ string, n int) string {
	list := Values(typ)
	return "CAST(" + list[n%len(list)] + " AS " + typ + ")"
}
