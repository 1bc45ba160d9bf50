package tables

import (
	"context"
	"encoding/json"
	"sort"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
)

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
