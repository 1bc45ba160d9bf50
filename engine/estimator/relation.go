package estimator

// Relation says which databases are neighbours. The loss of a mechanism holds for the relation that
// it was built for.
type Relation uint8

// Neighbour relations.
const (
	AddRemove  Relation = iota // one person more or less, with all rows
	ReplaceOne                 // one person's rows exchanged for any others
)

// String returns the name that policies use.
func (r Relation) String() string {
	if r == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// Factor is the most by which one person moves a sum of vectors of norm at most C, in units of C: 1
// or 2.
func (r Relation) Factor() int64 {
	if r == ReplaceOne {
		return 2
	}
	return 1
}
