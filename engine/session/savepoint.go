package session

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/refuse"
)

// savepoint is a named point of a transaction, and how much the session had written there.
type savepoint struct {
	name   string
	writes int
}

// counted is a store session that counts what writes through it. Entries of the store's own, by
// Meta, change with a table's definition only, which is a Write.
type counted struct {
	store.Session
	writes int
}

func (c *counted) Write(ctx context.Context, tables []store.TableRef, sql string, args ...any) (int64, error) {
	c.writes++
	return c.Session.Write(ctx, tables, sql, args...)
}

func (c *counted) Append(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	c.writes++
	return c.Session.Append(ctx, table, columns, rows)
}

// written is how much the session has written so far.
func (s *Session) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return 0
	}
	return s.store.writes
}

// CreateSavepoint implements sql.TransactionSession. The store has no savepoints: one is a name
// here, which programs that only read, such as dumps, go back to at no cost.
func (s *Session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, ok := tx.(*Transaction)
	if !ok || !t.explicit {
		return nil
	}
	if i := t.find(name); i >= 0 {
		t.savepoints = append(t.savepoints[:i], t.savepoints[i+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name, s.written()})
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession. It refuses where something would have to
// be undone: the store undoes whole transactions.
func (s *Session) RollbackToSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, i, err := named(tx, name)
	if err != nil {
		return err
	}
	if t.savepoints[i].writes != s.written() {
		return refuse.New(refuse.Unsupported, "ROLLBACK TO SAVEPOINT cannot undo what has been written since.").
			With("Use ROLLBACK, which undoes the whole transaction.")
	}
	t.savepoints = t.savepoints[:i+1]
	return nil
}

// ReleaseSavepoint implements sql.TransactionSession: the name is gone, and those made after it.
func (s *Session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, i, err := named(tx, name)
	if err != nil {
		return err
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

// named finds a savepoint of a transaction.
func named(tx sql.Transaction, name string) (*Transaction, int, error) {
	if t, ok := tx.(*Transaction); ok {
		if i := t.find(name); i >= 0 {
			return t, i, nil
		}
	}
	return nil, 0, sql.ErrSavepointDoesNotExist.New(name)
}

// find returns the place of a savepoint, -1 without one. Case does not count.
func (t *Transaction) find(name string) int {
	for i, p := range t.savepoints {
		if strings.EqualFold(p.name, name) {
			return i
		}
	}
	return -1
}
