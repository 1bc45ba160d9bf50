package virtual

import "github.com/dolthub/go-mysql-server/sql"

// Objects are the views and stored procedures of a database that has none. Whoever would make or
// drop one gets the error of the function.
type Objects func() error

// CreateView implements sql.ViewDatabase.
func (o Objects) CreateView(*sql.Context, string, string, string) error { return o() }

// DropView implements sql.ViewDatabase.
func (o Objects) DropView(*sql.Context, string) error { return o() }

// GetViewDefinition implements sql.ViewDatabase.
func (Objects) GetViewDefinition(*sql.Context, string) (def sql.ViewDefinition, ok bool, err error) {
	return def, false, nil
}

// AllViews implements sql.ViewDatabase.
func (Objects) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// GetStoredProcedure implements sql.StoredProcedureDatabase.
func (Objects) GetStoredProcedure(*sql.Context, string) (p sql.StoredProcedureDetails, ok bool, err error) {
	return p, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase.
func (Objects) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (o Objects) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error { return o() }

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (o Objects) DropStoredProcedure(*sql.Context, string) error { return o() }

// Triggers are those of a database that has none, as Objects.
type Triggers func() error

// GetTriggers implements sql.TriggerDatabase.
func (Triggers) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger implements sql.TriggerDatabase.
func (t Triggers) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return t() }

// DropTrigger implements sql.TriggerDatabase.
func (t Triggers) DropTrigger(*sql.Context, string) error { return t() }
