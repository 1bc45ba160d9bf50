package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/session"
	"scrim/engine/store"
	"scrim/engine/tables"
	"scrim/internal/refuse"
)

// access decides by the policies who may read and change stored tables. What an account may do at
// all has been checked by the SQL engine, from the grants, before.
type access struct {
	catalog *catalog.Catalog
	store   store.Store
	holds   func(store.TableRef) bool // whether a table is a collection's; nil: none is
}

var _ tables.Access = (*access)(nil)

// CheckRead implements tables.Access.
func (a *access) CheckRead(ctx *sql.Context, ref store.TableRef) error {
	switch a.catalog.Snapshot().Table(ref.String()).State {
	case catalog.Public:
		return nil
	case catalog.Protected:
		if !session.Raw(ctx) {
			return refuse.New(refuse.RawRows, "The table %s is protected: its rows, and exact facts about them, are not shown.", ref)
		}
	default:
		if !session.IsDBA(ctx) {
			return refuse.New(refuse.Undeclared, "The table %s has been declared neither protected nor public.", ref)
		}
	}
	return nil
}

// CheckWrite implements tables.Access: the grants decide, but for the tables of collections.
func (a *access) CheckWrite(_ *sql.Context, ref store.TableRef) error { return a.checkCollection(ref) }

// CheckDDL implements tables.Access: definitions are a DBA's. A name that no table has is about to
// get one, which nobody has looked at yet.
func (a *access) CheckDDL(ctx *sql.Context, ref store.TableRef) error {
	if !session.IsDBA(ctx) {
		return refuse.New(refuse.NotDBA, "Tables and databases are defined by a DBA only.")
	}
	if ref.Name == "" {
		return nil
	}
	if err := a.checkCollection(ref); err != nil {
		return err
	}
	if _, ok, err := a.store.Table(ctx, ref); err != nil || ok {
		return err
	}
	return a.catalog.Created(ref.String())
}

// CheckAlter implements tables.Access. A definition that a policy rests on does not change under it.
func (a *access) CheckAlter(_ *sql.Context, ref store.TableRef, c tables.Change) error {
	if err := a.checkCollection(ref); err != nil {
		return err
	}
	s, name := a.catalog.Snapshot(), ref.String()
	var uses []string
	switch c.Op {
	case tables.DropColumn, tables.RenameColumn:
		uses = s.Uses(name, c.Column)
	case tables.ModifyColumn:
		for _, u := range s.Uses(name, c.Column) {
			if u != "a column with a domain" {
				uses = append(uses, u)
			}
		}
	case tables.DropKey:
		for _, col := range c.Columns {
			for _, u := range s.Uses(name, col) {
				if strings.HasPrefix(u, "the key that") {
					uses = append(uses, u)
				}
			}
		}
	}
	if len(uses) > 0 {
		return refuse.New(refuse.Policy, "A policy rests on this column of %s: it is %s.", name, strings.Join(uses, " and ")).
			With("Change the policy first: see SELECT * FROM dp.policies and CALL dp_unprotect.")
	}
	return nil
}

// Renamed implements tables.Access.
func (a *access) Renamed(_ *sql.Context, old, new store.TableRef) error {
	return a.catalog.Rename(old.String(), new.String())
}

// Dropped implements tables.Access.
func (a *access) Dropped(_ *sql.Context, ref store.TableRef) error {
	return a.catalog.Dropped(ref.String())
}
