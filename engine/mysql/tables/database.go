package tables

import (
	"context"
	"encoding/json"
	"sort"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Database is one schema of the store.
type Database struct {
	p    *Provider
	name string
}

var (
	_ sql.Database                = (*Database)(nil)
	_ sql.TableDropper            = (*Database)(nil)
	_ sql.TableRenamer            = (*Database)(nil)
	_ sql.ViewDatabase            = (*Database)(nil)
	_ sql.StoredProcedureDatabase = (*Database)(nil)
	_ sql.TriggerDatabase         = (*Database)(nil)
	_ sql.CollatedDatabase        = (*Database)(nil)
)

// Name implements sql.Database.
func (d *Database) Name() string { return d.name }

func (d *Database) ref(name string) store.TableRef {
	return store.TableRef{Schema: d.name, Name: fold(name)}
}

// stored is the definition of a table or a view that is there.
func (d *Database) stored(ctx *sql.Context, name string) (store.Table, error) {
	t, ok, err := d.p.store.Table(ctx, d.ref(name))
	if err == nil && !ok {
		err = sql.ErrTableNotFound.New(name)
	}
	return t, err
}

// GetTableInsensitive implements sql.Database.
func (d *Database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	def, ok, err := d.p.store.Table(ctx, d.ref(name))
	if err != nil || !ok {
		return nil, false, err
	}
	t, err := newTable(ctx, d.p, def)
	if err != nil {
		return nil, false, err
	}
	return t, true, nil
}

// GetTableNames implements sql.Database.
func (d *Database) GetTableNames(ctx *sql.Context) ([]string, error) {
	list, err := d.p.store.Tables(ctx, d.name)
	if err != nil {
		return nil, err
	}
	return lists.Map(list, func(t store.Table) string { return t.Ref.Name }), nil
}

// DropTable implements sql.TableDropper.
func (d *Database) DropTable(ctx *sql.Context, name string) error {
	ref := d.ref(name)
	if err := d.p.checkAlter(ctx, ref, Change{Op: DropTable}); err != nil {
		return err
	}
	def, err := d.stored(ctx, name)
	if err != nil {
		return err
	}
	kind := "TABLE "
	if def.View {
		kind = "VIEW "
	}
	err = d.p.definition(ctx, []store.TableRef{ref}, "DROP "+kind+quote(ref), func() error {
		return d.p.access.Dropped(ctx, ref)
	})
	d.p.ids.forget(ref)
	return err
}

// RenameTable implements sql.TableRenamer.
func (d *Database) RenameTable(ctx *sql.Context, oldName, newName string) error {
	from, to := d.ref(oldName), d.ref(newName)
	if err := d.p.checkAlter(ctx, from, Change{Op: RenameTable}); err != nil {
		return err
	}
	if err := d.free(ctx, newName); err != nil {
		return err
	}
	return d.p.clause(ctx, func(w *altered) error {
		w.rename = func(s store.Session) error {
			if _, err := s.Write(ctx, []store.TableRef{from, to}, "ALTER TABLE "+quote(from)+" RENAME TO "+sqltext.StoreName(to.Name)); err != nil {
				return classify(err, nil)
			}
			if err := d.renameForeign(ctx, s, w.def, from, to); err != nil {
				return err
			}
			return d.p.access.Renamed(ctx, from, to)
		}
		w.done = append(w.done, func() { d.p.ids.forget(from); d.p.ids.forget(to) })
		return nil
	})
}

// checkRenames refuses renames of which one has no table to rename, or takes a name that is in use
// by then, before the first is made.
func (d *Database) checkRenames(ctx *sql.Context, from, to []string) error {
	there := map[string]bool{}
	for i := range from {
		for _, name := range []string{from[i], to[i]} {
			if _, known := there[fold(name)]; known {
				continue
			}
			var err error
			if there[fold(name)], err = d.taken(ctx, name); err != nil {
				return err
			}
		}
		if !there[fold(from[i])] {
			return sql.ErrTableNotFound.New(from[i])
		}
		if there[fold(to[i])] {
			return mysql.NewSQLError(mysql.ERTableExists, "42S01", "Table '%s' already exists", fold(to[i]))
		}
		there[fold(from[i])], there[fold(to[i])] = false, true
	}
	return nil
}

// free returns an error when a table or a view has the name.
func (d *Database) free(ctx *sql.Context, name string) error {
	taken, err := d.taken(ctx, name)
	if err == nil && taken {
		err = mysql.NewSQLError(mysql.ERTableExists, "42S01", "Table '%s' already exists", fold(name))
	}
	return err
}

// taken reports whether a table or a view has the name.
func (d *Database) taken(ctx *sql.Context, name string) (bool, error) {
	if _, ok, err := d.p.store.Table(ctx, d.ref(name)); err != nil || ok {
		return ok, err
	}
	_, ok, err := d.GetViewDefinition(ctx, name)
	return ok, err
}

// GetStoredProcedure implements sql.StoredProcedureDatabase: there are none.
func (d *Database) GetStoredProcedure(*sql.Context, string) (sql.StoredProcedureDetails, bool, error) {
	return sql.StoredProcedureDetails{}, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase: there are none.
func (d *Database) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (d *Database) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error {
	return errProcedures
}

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (d *Database) DropStoredProcedure(*sql.Context, string) error { return errProcedures }

// GetTriggers implements sql.TriggerDatabase: there are none. With accounts on, go-mysql-server
// asks for them before every write.
func (d *Database) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger implements sql.TriggerDatabase.
func (d *Database) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return errTriggers }

// DropTrigger implements sql.TriggerDatabase.
func (d *Database) DropTrigger(*sql.Context, string) error { return errTriggers }

var errTriggers = refuse.New(refuse.Unsupported, "Triggers are not supported.").
	With("Do it in the program that writes the rows.")

var errProcedures = refuse.New(refuse.Unsupported, "Stored procedures are not supported.").
	With("Send the statements one by one.")

// checkAlter asks whether the definition of a table may be changed.
func (p *Provider) checkAlter(ctx *sql.Context, ref store.TableRef, c Change) error {
	if err := p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	return p.access.CheckAlter(ctx, ref, c)
}

// quote returns the store's SQL name of a table.
func quote(ref store.TableRef) string {
	return sqltext.StoreTable(ref.Schema, ref.Name)
}

// bucketViews is the store's bucket of view definitions, by store.TableKey of the view's name.
const bucketViews = "views"

// view is a stored view definition. The store knows nothing of it but its text: go-mysql-server
// puts the parsed text in the place of the view, so that a view of a protected table is a protected
// query.
type view struct {
	Name    string `json:"name"`
	Select  string `json:"select"`
	Create  string `json:"create"`
	SQLMode string `json:"sql_mode"`
}

// viewCache holds all committed view definitions, once they have been read.
type viewCache struct {
	mu     sync.Mutex
	loaded bool
	byKey  map[string]view // by store.TableKey
}

// load reads the definitions on a connection of its own. The caller holds mu.
func (p *Provider) loadViews(ctx context.Context) error {
	if p.views.loaded {
		return nil
	}
	s, err := p.store.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Meta().List(ctx, bucketViews)
	if err != nil {
		return err
	}
	p.views.byKey = map[string]view{}
	for _, e := range list {
		var v view
		if err := json.Unmarshal(e.Value, &v); err != nil {
			return err
		}
		p.views.byKey[e.Key] = v
	}
	p.views.loaded = true
	return nil
}

// CreateView implements sql.ViewDatabase.
func (d *Database) CreateView(ctx *sql.Context, name, selectText, createText string) error {
	ref := d.ref(name)
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	if _, ok, err := d.GetViewDefinition(ctx, name); err != nil || ok {
		if err == nil {
			err = sql.ErrExistingView.New(d.name, name)
		}
		return err
	}
	v := view{Name: fold(name), Select: selectText, Create: createText, SQLMode: sql.LoadSqlMode(ctx).String()}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d.p.views.mu.Lock()
	defer d.p.views.mu.Unlock()
	err = d.p.atomically(ctx, func(s store.Session) error {
		return s.Meta().Put(ctx, bucketViews, store.TableKey(ref), text)
	})
	if err == nil {
		d.p.views.byKey[store.TableKey(ref)] = v
	}
	return err
}

// DropView implements sql.ViewDatabase.
func (d *Database) DropView(ctx *sql.Context, name string) error {
	ref := d.ref(name)
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	if _, ok, err := d.GetViewDefinition(ctx, name); err != nil || !ok {
		if err == nil {
			err = sql.ErrViewDoesNotExist.New(d.name, name)
		}
		return err
	}
	d.p.views.mu.Lock()
	defer d.p.views.mu.Unlock()
	err := d.p.atomically(ctx, func(s store.Session) error {
		return s.Meta().Delete(ctx, bucketViews, store.TableKey(ref))
	})
	if err == nil {
		delete(d.p.views.byKey, store.TableKey(ref))
	}
	return err
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *Database) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	d.p.views.mu.Lock()
	defer d.p.views.mu.Unlock()
	if err := d.p.loadViews(ctx); err != nil {
		return sql.ViewDefinition{}, false, err
	}
	v, ok := d.p.views.byKey[store.TableKey(d.ref(name))]
	return v.definition(), ok, nil
}

// AllViews implements sql.ViewDatabase.
func (d *Database) AllViews(ctx *sql.Context) ([]sql.ViewDefinition, error) {
	d.p.views.mu.Lock()
	defer d.p.views.mu.Unlock()
	if err := d.p.loadViews(ctx); err != nil {
		return nil, err
	}
	var list []sql.ViewDefinition
	for key, v := range d.p.views.byKey {
		if key == store.TableKey(d.ref(v.Name)) {
			list = append(list, v.definition())
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, nil
}

func (v view) definition() sql.ViewDefinition {
	return sql.ViewDefinition{Name: v.Name, TextDefinition: v.Select, CreateViewStatement: v.Create, SqlMode: v.SQLMode}
}

// dropViews removes the views of a database that is being dropped, inside the transaction of s, and
// returns what makes the cache follow once that has committed.
func (p *Provider) dropViews(ctx *sql.Context, s store.Session, schema string) (committed func(), err error) {
	db := &Database{p: p, name: schema}
	list, err := db.AllViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if err := s.Meta().Delete(ctx, bucketViews, store.TableKey(db.ref(v.Name))); err != nil {
			return nil, err
		}
	}
	return func() {
		p.views.mu.Lock()
		defer p.views.mu.Unlock()
		for _, v := range list {
			delete(p.views.byKey, store.TableKey(db.ref(v.Name)))
		}
	}, nil
}
