package accounting

// merge takes in the index of the records that follow, which is not used any more.
func (x *index) merge(y *index) {
	x.columns.join(&y.columns)
	x.entries.Or(y.entries)
	for i, b := range y.kinds {
		x.kinds[i].Or(b)
	}
	for i, b := range y.outcomes {
		x.outcomes[i].Or(b)
	}
	for i, b := range y.lines {
		x.lines[i].Or(b)
	}
	for name, b := range y.principals {
		setOf(x.principals, name).Or(b)
	}
	for name, b := range y.accounts {
		setOf(x.accounts, name).Or(b)
	}
	for name, b := range y.tables {
		setOf(x.tables, name).Or(b)
	}
	for n, b := range y.digests {
		setOf(x.digests, n).Or(b)
	}
	for _, o := range y.late {
		x.finish(o)
	}
}
