package plan

import "fmt"

// vectorLines are the lines of EXPLAIN on an aggregate of vectors: what is scanned, the lattice of
// a coordinate, and the memory that a person takes.
func vectorLines(a Aggregate) []string {
	v := a.Vector
	if v == nil {
		return nil
	}
	what := fmt.Sprintf("vectors %s  dim=%d", v.Form, v.Dim)
	if a.Parts == nil { // otherwise each coordinate has a lattice of its own
		what += fmt.Sprintf("  step=%s in [%s, %s]", number6(v.Grid.Step), number6(float64(v.Grid.Lo)*v.Grid.Step), number6(float64(v.Grid.Hi)*v.Grid.Step))
	}
	if v.Form == Pairs {
		what += "  memory=16 bytes an item of a person" // itself, and a copy while it is sorted
	} else {
		what += fmt.Sprintf("  memory=%d bytes a person", 16*v.Dim)
	}
	return []string{what}
}

// String names the form.
func (f VectorForm) String() string {
	return [...]string{Arrays: "of arrays", Coordinates: "of columns", Pairs: "of items"}[f]
}
