package tables

import (
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Announcer is a session that keeps what its next LOAD DATA does.
type Announcer interface{ SetNextLoad(l *store.Load) }

// Announce has the session's next LOAD DATA do what l says beside inserting rows. It refuses a
// file that is in the table already.
func (p *Provider) Announce(ctx *sql.Context, l *store.Load) error {
	if err := p.access.CheckWrite(ctx, l.Table); err != nil {
		return err
	}
	t, ok, err := p.store.Table(ctx, l.Table)
	switch {
	case err != nil:
		return classify(err, &l.Table)
	case !ok || t.View:
		return sql.ErrTableNotFound.New(l.Table.String())
	}
	if _, err := imports(ctx, l); err != nil {
		return err
	}
	keeper, ok := ctx.Session.(Announcer)
	if !ok {
		return sql.ErrDatabaseAccessDeniedForUser.New(ctx.Session.Client().User, l.Table.Schema)
	}
	keeper.SetNextLoad(l)
	return nil
}

// imports is the table's list of files with those of the load.
func imports(ctx *sql.Context, l *store.Load) ([]byte, error) {
	s, err := SessionOf(ctx)
	if err != nil {
		return nil, err
	}
	before, _, err := s.Meta().Get(ctx, store.BucketImports, store.TableKey(l.Table))
	if err != nil {
		return nil, classify(err, &l.Table)
	}
	list, err := l.Imports(before)
	var again *store.Repeated
	if errors.As(err, &again) {
		return nil, refuse.New(refuse.Repeated, "%v.", again)
	}
	return list, err
}

type loadKey struct{}

// Loading is a context in which an INSERT is the load l.
func Loading(ctx *sql.Context, l *store.Load) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, loadKey{}, l))
}

func (e *editor) load(ctx *sql.Context) *store.Load {
	l, _ := ctx.Value(loadKey{}).(*store.Load)
	return l
}

// beginLoad takes the rows away that a load replaces, before the first of its own.
func (e *editor) beginLoad(ctx *sql.Context) error {
	l := e.load(ctx)
	if l == nil || e.cleared {
		return nil
	}
	e.cleared = true
	s, err := e.begin(ctx)
	if err != nil || !l.Replace {
		return err
	}
	if err = e.t.may(ctx, false, true, nil); err == nil {
		_, err = e.t.remove(ctx, s, "TRUE", nil, "", nil)
	}
	return err
}

// endLoad notes the files of a load with its rows.
func (e *editor) endLoad(ctx *sql.Context) error {
	l := e.load(ctx)
	if l == nil {
		return nil
	}
	if err := e.beginLoad(ctx); err != nil {
		return err
	}
	list, err := imports(ctx, l)
	if err != nil {
		return err
	}
	s, err := SessionOf(ctx)
	if err != nil {
		return err
	}
	return classify(s.Meta().Put(ctx, store.BucketImports, store.TableKey(l.Table), list), &l.Table)
}
