package accounting

// archivedHash returns the hash of a record that is in an archive.
func (l *Ledger) archivedHash(uint64) (hash sum, found bool, err error) {
	return hash, false, nil
}
