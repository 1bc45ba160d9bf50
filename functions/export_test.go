package functions

import "slices"

// Add puts a row at the end of the table, until remove is called: before a server is opened, and
// after it is closed. Only tests have it. The table of a server is that of its source.
func Add(f *Function) (remove func(), err error) {
	beforeRows, beforeNames := table, byName
	rows := append(slices.Clone(table), f)
	names, err := index(rows)
	if err != nil {
		return nil, err
	}
	table, byName = rows, names
	return func() { table, byName = beforeRows, beforeNames }, nil
}
