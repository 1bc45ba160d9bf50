package datadir

import (
	"fmt"
	"strings"

	"scrim/engine/store/duckdb"
)

// Damaged adds to an error that says that the store's file is damaged which file it is, the tables
// that have rows there, where tables can tell, and what to do. It returns other errors as they are.
func (p Place) Damaged(err error, tables func(at int64) []string) error {
	at, ok := duckdb.DamagedAt(err)
	if !ok {
		return err
	}
	where := ""
	if tables != nil {
		if names := tables(at); len(names) > 0 {
			where = ", where rows of " + strings.Join(names, ", ") + " are"
		}
	}
	return fmt.Errorf("%w. %s is damaged at byte %d%s. Nothing was changed. Look at the disk, then restore a backup: scrim restore --from BACKUP --data %s; "+
		"the ledger is another file, and stays", err, p.Path(DataFile), at, where, p.Dir)
}
