package admin

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/collect"
	"scrim/engine/collections"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Collections is what the package needs of collections; *collections.Collections is one.
type Collections interface {
	Create(ctx context.Context, ref store.TableRef, p collect.Protocol, d collect.Declaration, owner string) (*collect.Design, error)
	IssueTokens(ctx context.Context, name string, issue collections.Issue) ([]collections.Token, error)
	Open(ctx context.Context, name string) error
	Preview(ctx context.Context, name string) ([]collections.Preview, error)
	Next(ctx context.Context, name string) error
	Close(ctx context.Context, name string) error
	Abort(ctx context.Context, name, reason string) error
	Drop(ctx context.Context, name string) error
	LoadBatch(ctx context.Context, name string, part collections.Part) (done bool, err error)

	Holds(ref store.TableRef) bool
	Lookup(name string) (collections.Summary, bool)
	List() []collections.Summary
	Rounds() []collections.RoundInfo
	Cells() []collections.CellCount
	Batches() []collections.BatchInfo
	Results(name string) (map[string][]byte, error)
	Simulations(ctx context.Context, name string) ([]collections.Kept, error)
}

var _ Collections = (*collections.Collections)(nil)

// collecting refuses who may not administer collections.
func (a *Admin) collecting(ctx *sql.Context) error {
	return a.needs(a.o.IsCollector, ctx, "collector")
}

// loading refuses who may not load batches.
func (a *Admin) loading(ctx *sql.Context) error {
	return a.needs(a.o.IsShuffler, ctx, "shuffler")
}

// needs refuses, in MySQL's words, an account without a role; a DBA has all of them.
func (a *Admin) needs(has func(*sql.Context) bool, ctx *sql.Context, role string) error {
	if a.o.Principal(ctx) == "" || !a.o.IsDBA(ctx) && (has == nil || !has(ctx)) {
		return mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000",
			"Access denied; you need the role %s, or to be a DBA, for this operation", role)
	}
	if a.o.Collections == nil {
		return refuse.New(refuse.Unsupported, "There are no collections here.").With("They are kept by a server with a data directory.")
	}
	return nil
}

// notHeld refuses a policy on the table of a collection, which is public for as long as it is
// there: its rows were private before they came.
func (a *Admin) notHeld(name string) error {
	schema, table, ok := cutName(name)
	if a.o.Collections == nil || !ok || !a.o.Collections.Holds(store.TableRef{Schema: schema, Name: table}) {
		return nil
	}
	return refuse.New(refuse.Policy, "The table %s belongs to a collection, whose reports are private already.", name).
		With("It is read like a public table; CALL dp_drop_collection('%s') removes it.", name)
}
