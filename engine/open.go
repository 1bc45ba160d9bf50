package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/admin/price"
	"scrim/engine/collections"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/inbox"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/version"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/ops/monitor"
	"scrim/engine/ops/witness"
	"scrim/engine/views"
	"scrim/internal/lists"
	"scrim/internal/processors"
	"scrim/internal/spill"
)

// start opens one thing after another, each of which rests on those before.
func (s *Server) start() error {
	for _, step := range []func() error{s.openDirectory, s.openAudit, s.openLedger, s.openCatalog, s.openStore, s.checkLedger, s.checkHost, s.openCollections, s.checkPolicies, s.watch, s.assemble, s.listen, s.listenHTTP, s.listenContribute} {
		if err := step(); err != nil {
			if s.store != nil {
				err = s.place.Damaged(err, s.tablesAt)
			}
			return err
		}
	}
	return s.dir.Commit()
}

// tablesAt says which tables have rows at a byte of the store's file.
func (s *Server) tablesAt(at int64) []string { return s.store.TablesAt(context.Background(), at) }

func (s *Server) openDirectory() (err error) {
	if s.dir, err = datadir.Open(s.cfg.DataDir); err != nil {
		return err
	}
	if err = s.dir.Upgrade(s.cfg.Yes); err == nil && s.dir.Copied != "" {
		s.log.Warn().Str("copy", s.dir.Copied).Msg("the data directory is of an earlier version, and is converted: a copy of its store and its policies was made, which holds rows in clear. Delete it when it is not needed")
	}
	return err
}

// checkPolicies refuses a store that has lost tables.
func (s *Server) checkPolicies() error {
	ctx := context.Background()
	absent, err := datadir.SettlePolicies(ctx, s.store, s.catalog, s.cfg.lostTables())
	if err == nil {
		err = datadir.CheckPolicies(ctx, s.store, s.catalog.Snapshot())
	}
	if s.dir.Copied != "" && len(absent) > 0 {
		s.log.Warn().Strs("tables", absent).Msg("policies name tables that the store does not have: the earlier version did not note whether they were dropped. Where they were not, restore a backup")
	}
	return err
}

// openAudit opens the audit log, before anything that it would tell of.
func (s *Server) openAudit() (err error) {
	s.observers = append(s.observers, s.cfg.Observers...)
	if s.cfg.Audit == auditOff {
		return nil
	}
	s.audit, err = audit.Open(audit.Options{
		Dir: s.place.AuditPath(), MaxSize: s.cfg.AuditSize << 20, Days: s.cfg.AuditDays, OnFailure: audit.Policy(s.cfg.Audit), Log: s.log,
	})
	s.audit.Write(audit.Record{Kind: audit.Start, Note: "version " + version.Number + ", process " + strconv.Itoa(os.Getpid())})
	return err
}

func (s *Server) openLedger() (err error) {
	s.warnings = &monitor.Warnings{Log: s.log, Audit: s.audit}
	s.ledger, err = accounting.Open(s.place.Path(datadir.LedgerFile), accounting.Options{
		DirectoryID: s.dir.ID, Create: s.dir.Fresh, AnswerBytes: s.cfg.ReplayMemory << 20, Checkpoints: true, Upkeep: s.warnings.Upkeep, Now: s.cfg.now,
	})
	return err
}

func (s *Server) openCatalog() (err error) {
	s.catalog, err = catalog.Open(s.place.Path(datadir.CatalogFile), catalog.Options{
		DirectoryID: s.dir.ID, Create: s.dir.Fresh, Charged: s.charged,
	})
	return err
}

// charged reports whether anything was ever charged to an account, also in what is archived. What
// cannot be known was.
func (s *Server) charged(account string) bool {
	charged, err := s.ledger.Charged(account)
	return charged || err != nil
}

func (s *Server) openStore() (err error) {
	s.spill = spill.NewPool(spill.Disk{Dir: s.place.Path(datadir.SpillDir)}, s.cfg.PersonsMemory<<20)
	p := s.place
	p.Threads = cmp.Or(p.Threads, processors.Count())
	s.store, err = p.OpenStore(s.dir.ID)
	return err
}

// checkLedger refuses a ledger that is older than it was.
func (s *Server) checkLedger() (err error) {
	places := rollback.At(s.place, s.dir.ID)
	places.Store, places.Catalog = s.store, s.catalog
	s.follower, err = places.Follow(context.Background(), s.ledger, s.audit, func(r witness.Report) { s.warnings.Witness(s.cfg.Witness, r) })
	return err
}

// checkHost warns where the directory was last served on another machine or at another place.
func (s *Server) checkHost() error {
	moved, err := s.dir.NoteHome()
	if moved != "" {
		s.warnings.Moved(moved)
	}
	return err
}

// watch makes what is told about statements.
func (s *Server) watch() error {
	s.monitor = monitor.New(monitor.Sources{
		Address: s.cfg.HTTP, Place: s.place, Ledger: s.ledger, Catalog: s.catalog, Store: s.store,
		Audit: s.audit, Required: s.cfg.Audit == string(audit.Refuse), Warnings: s.warnings, Log: s.log,
		DefaultLoss:    price.DefaultLoss(s.catalog.Snapshot),
		Connections:    func() int { return s.sockets.Connections() },
		MaxConnections: func() int { return s.sockets.MaxConnections() },
	})
	s.observers = append(s.observers, s.monitor.Observers()...)
	return nil
}

// openCollections reads the collections, the DP views and the series of totals from the store.
func (s *Server) openCollections() error {
	ctx := context.Background()
	schemas, err := s.store.Schemas(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(schemas, inbox.Name) {
		s.log.Warn().Str("database", inbox.Name).Msg("a database of an older version has a name that belongs to the server now: it is not shown")
	}
	if s.collections, err = collections.New(ctx, s.store); err != nil {
		return err
	}
	if s.views, err = views.Open(ctx, s.store); err != nil {
		return err
	}
	s.views.Life = s.dir.Life
	s.totals, err = views.OpenTotals(ctx, s.store, s.views, s.ledger)
	s.schedules = &views.Schedules{Views: s.views, Totals: s.totals, As: s.actAs, Tell: s.wordScheduled, Done: s.scheduleDone}
	return err
}

// declareViews makes the tables of all DP views and series public: a crash may have come before
// that.
func (s *Server) declareViews(ctx *sql.Context) error {
	list, err := s.views.List(ctx)
	for _, r := range list {
		err = errors.Join(err, s.admin.Declare(ctx, r.Ref()))
	}
	series, more := s.totals.List(ctx)
	for _, r := range series {
		more = errors.Join(more, s.admin.Declare(ctx, r.Ref()))
	}
	return errors.Join(err, more)
}

// declareCollections makes the tables of all collections public: a crash may have come before that.
func (s *Server) declareCollections(ctx *sql.Context) error {
	return lists.Each(s.collections.List(), func(c collections.Summary) error { return s.admin.DeclareCollection(ctx, c) })
}

// loadAccounts reads the accounts, or makes the first one.
func (s *Server) loadAccounts(ctx *sql.Context) error {
	db := s.analyzer.Catalog.MySQLDb
	if s.dir.Fresh {
		// An earlier first start may have ended before it could show the password that it made.
		if err := os.Remove(s.place.Path(datadir.UsersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("engine: %w", err)
		}
	}
	generated, err := auth.Load(ctx, db, auth.NewPersister(s.place.Path(datadir.UsersFile), s.dir.ID), s.cfg.RootPassword)
	if err != nil {
		return err
	}
	s.rootPassword = generated
	for _, name := range auth.Audit(db) {
		s.log.Warn().Str("account", name).Msg("the account has no password and cannot log in")
	}
	for _, name := range auth.Shadowed(db) {
		s.log.Warn().Str("account", name+"@%").Msg("the account has the name of a role, which is therefore missing: drop the account and start again")
	}
	return nil
}
