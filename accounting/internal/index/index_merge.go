package index

// Merge takes in the index of the records that follow, which is not used any more.
func (x *Index) Merge(y *Index) {
	x.Columns.join(&y.Columns)
	x.Entries.Or(y.Entries)
	for i, b := range y.Kinds {
		x.Kinds[i].Or(b)
	}
	for i, b := range y.Outcomes {
		x.Outcomes[i].Or(b)
	}
	for i, b := range y.lines {
		x.lines[i].Or(b)
	}
	for name, b := range y.Principals {
		setOf(x.Principals, name).Or(b)
	}
	for name, b := range y.Accounts {
		setOf(x.Accounts, name).Or(b)
	}
	for name, b := range y.Tables {
		setOf(x.Tables, name).Or(b)
	}
	for n, b := range y.Digests {
		setOf(x.Digests, n).Or(b)
	}
	for _, o := range y.late {
		x.finish(o)
	}
}
