package source

import "slices"

// Origin is what is kept of a table of another server.
type Origin struct {
	Server   string `json:"server"` // as the operator calls it
	Database string `json:"database"`
	Table    string `json:"table"`
	// Identities are those of all data that the table ever was.
	Identities []string `json:"identities"`
	// Columns are the columns that the table has here, and had there.
	Columns []Column `json:"columns"`
}

// Is reports whether data of these identities are, or were, this table, in whole or in part.
func (o *Origin) Is(identities []string) bool {
	return slices.ContainsFunc(identities, func(i string) bool { return slices.Contains(o.Identities, i) })
}

// Same reports whether data of these identities are this table, and nothing else.
func (o *Origin) Same(identities []string) bool {
	return len(identities) > 0 && !slices.ContainsFunc(identities, func(i string) bool { return !slices.Contains(o.Identities, i) })
}

// Has reports whether a table has all columns of this one as they were.
func (o *Origin) Has(t *Table) bool {
	for _, c := range o.Columns {
		if !slices.Contains(t.Columns, c) {
			return false
		}
	}
	return true
}
