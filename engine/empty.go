package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// emptyDatabase is a database that tools expect to be there, such as performance_schema: it has no
// tables, and none can be made in it. A table outside the store would be outside the policies.
type emptyDatabase string

var (
	_ sql.ReadOnlyDatabase        = emptyDatabase("")
	_ sql.ViewDatabase            = emptyDatabase("")
	_ sql.StoredProcedureDatabase = emptyDatabase("")
)

// Name implements sql.Database.
func (d emptyDatabase) Name() string { return string(d) }

// IsReadOnly implements sql.ReadOnlyDatabase.
func (emptyDatabase) IsReadOnly() bool { return true }

// GetTableInsensitive implements sql.Database.
func (emptyDatabase) GetTableInsensitive(*sql.Context, string) (sql.Table, bool, error) {
	return nil, false, nil
}

// GetTableNames implements sql.Database.
func (emptyDatabase) GetTableNames(*sql.Context) ([]string, error) { return nil, nil }

func (d emptyDatabase) refuse() error {
	return refuse.New(refuse.Unsupported, "The database %s is read-only.", string(d)).With("Use a database of your own.")
}

// CreateView implements sql.ViewDatabase.
func (d emptyDatabase) CreateView(*sql.Context, string, string, string) error { return d.refuse() }

// DropView implements sql.ViewDatabase.
func (d emptyDatabase) DropView(*sql.Context, string) error { return d.refuse() }

// GetViewDefinition implements sql.ViewDatabase.
func (emptyDatabase) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase.
func (emptyDatabase) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// GetStoredProcedure implements sql.StoredProcedureDatabase.
func (emptyDatabase) GetStoredProcedure(*sql.Context, string) (sql.StoredProcedureDetails, bool, error) {
	return sql.StoredProcedureDetails{}, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase.
func (emptyDatabase) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (d emptyDatabase) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error {
	return d.refuse()
}

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (d emptyDatabase) DropStoredProcedure(*sql.Context, string) error { return d.refuse() }
