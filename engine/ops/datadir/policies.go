package datadir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/refuse"
)

// CheckPolicies refuses a store that lacks a table which a policy names, unless the table was
// dropped or renamed: its rows are lost, and a server or a backup without them would pass for
// whole.
func CheckPolicies(ctx context.Context, tables Tables, policies *catalog.Snapshot) error {
	there, _ := policies.Declared()
	_, lost, err := part(ctx, tables, there)
	if err != nil || len(lost) == 0 {
		return err
	}
	return refuse.New(refuse.Policy, "The store has lost a table with all of its rows, which a policy names and nobody has dropped: %s.", strings.Join(lost, ", ")).
		With("An operator stops the server and restores a backup by scrim restore. Where the rows are given up, scrim serve --lost-tables %s starts without them; the names stay protected.",
			strings.Join(lost, ","))
}

// SettlePolicies tells the policies which of the tables that may be absent are in the store after
// all, and that those given up are not. It returns which are absent.
func SettlePolicies(ctx context.Context, tables Tables, policies *catalog.Catalog, givenUp []string) (absent []string, err error) {
	there, absent := policies.Snapshot().Declared()
	seen, absent, err := part(ctx, tables, absent)
	if err != nil {
		return nil, err
	}
	_, lost, err := part(ctx, tables, there)
	for _, name := range seen {
		err = errors.Join(err, policies.Seen(name))
	}
	for _, name := range lost {
		if slices.Contains(givenUp, name) {
			err = errors.Join(err, policies.Dropped(name))
		}
	}
	return absent, err
}

// part says which of the tables the store has, and which not.
func part(ctx context.Context, tables Tables, names []string) (has, lacks []string, err error) {
	for _, name := range names {
		schema, table, _ := strings.Cut(name, ".")
		_, ok, err := tables.Table(ctx, store.TableRef{Schema: schema, Name: table})
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("engine: looking for the tables of the policies: %w", err)
		case ok:
			has = append(has, name)
		default:
			lacks = append(lacks, name)
		}
	}
	return has, lacks, nil
}

// Tables looks tables up in a store.
type Tables interface {
	Table(ctx context.Context, ref store.TableRef) (store.Table, bool, error)
}

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
