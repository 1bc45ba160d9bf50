package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/session"
	"scrim/engine/store"
)

// administration is the DBA's side in SQL: the procedures, and the database dp.
func (s *Server) administration(catalogue *browse.Server) *admin.Admin {
	o := admin.Options{
		Catalog:     s.catalog,
		Ledger:      s.ledger,
		Schema:      func(ctx *sql.Context) catalog.Schema { return admin.StoreSchema(ctx, s.store) },
		Columns:     func(ctx *sql.Context, table string) sql.Schema { return s.tables.Columns(ctx, table) },
		Price:       s.prices.Price,
		DefaultLoss: s.prices.DefaultLoss,
		IsDBA:       session.IsDBA,
		IsAuditor:   session.IsAuditor,
		Principal:   session.Principal,
		Backup:      s.backup,
		NextLoad:    func(ctx *sql.Context, l *store.Load) error { return s.tables.Announce(ctx, l) },
		HasAccount: func(_ *sql.Context, principal string) bool {
			return auth.Named(s.analyzer.Catalog.MySQLDb, principal) != nil
		},
		StoredTables: catalogue.StoredTables,
		Accounts:     s.accounts,
		Collections:  s.collections,
		Simulate:     s.simulator.Run,
		Views:        s.views,
		Sources:      s.store,
		Totals:       s.totals,
		Schedules:    s.schedules,
		Forecast:     s.prices.Forecast,
		HasView: func(ctx *sql.Context, schema, name string) (bool, error) {
			return s.tables.HasView(ctx, schema, name)
		},
		IsCollector: session.IsCollector,
		IsShuffler:  session.IsShuffler,
		HasRole: func(_ *sql.Context, name string) bool {
			return auth.IsRole(s.analyzer.Catalog.MySQLDb, name)
		},
	}
	return admin.New(o)
}

// accounts lists the accounts and roles for dp.accounts.
func (s *Server) accounts() []admin.Account {
	var list []admin.Account
	for _, a := range auth.Accounts(s.analyzer.Catalog.MySQLDb) {
		list = append(list, admin.Account{Name: a.Name, Role: a.Role, Roles: a.Roles, DBA: a.DBA, Grants: a.Grants})
	}
	return list
}

// backup makes a backup for CALL dp_backup.
func (s *Server) backup(ctx *sql.Context, name string) (path string, size int64, err error) {
	return s.backups.Make(ctx, session.Principal(ctx), name)
}
