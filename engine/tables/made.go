package tables

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
)

// Made is a table whose rows the server has made.
type Made struct {
	Ref     store.TableRef
	Comment string
	Columns sql.Schema
	Rows    []sql.Row
}

// CommentOf is the comment that a table was made with.
func CommentOf(t store.Table) string { return tableMetaOf(t).Comment }

// Check refuses columns that no table can have.
func (m Made) Check(ctx *sql.Context) error {
	_, err := m.definition(ctx)
	return err
}

func (m Made) definition(ctx *sql.Context) (*definition, error) {
	def := &definition{ref: m.Ref, comment: m.Comment}
	for _, c := range m.Columns {
		col, err := newColumn(ctx, c)
		if err != nil {
			return nil, err
		}
		def.columns = append(def.columns, col)
	}
	return def, nil
}

// Make makes a table with its rows, in the place of the one of that name if replaces says so, and
// runs also, in one transaction of the session's. What the session has open is committed before.
func (p *Provider) Make(ctx *sql.Context, m Made, replaces bool, also func(store.Session) error) error {
	def, err := m.definition(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range def.columns {
		names = append(names, c.name)
	}
	rows := make([][]any, len(m.Rows))
	for i, row := range m.Rows {
		rows[i] = make([]any, len(row))
		for c, v := range row {
			if rows[i][c], err = writeValue(ctx, v, m.Columns[c].Type, store.Column{Name: names[c], Type: def.columns[c].store}); err != nil {
				return err
			}
		}
	}
	return p.atomically(ctx, func(s store.Session) error {
		if replaces {
			if err := dropMade(ctx, s, m.Ref); err != nil {
				return err
			}
		}
		if err := def.create(ctx, s); err != nil {
			return err
		}
		if err := s.Append(ctx, m.Ref, names, rows); err != nil {
			return classify(err, &m.Ref)
		}
		return also(s)
	})
}

// DropMade drops such a table, if it is there, and runs also, in one transaction.
func (p *Provider) DropMade(ctx *sql.Context, ref store.TableRef, also func(store.Session) error) error {
	return p.atomically(ctx, func(s store.Session) error {
		if err := dropMade(ctx, s, ref); err != nil {
			return err
		}
		return also(s)
	})
}

func dropMade(ctx *sql.Context, s store.Session, ref store.TableRef) error {
	if _, err := s.Write(ctx, []store.TableRef{ref}, "DROP TABLE IF EXISTS "+quote(ref)); err != nil {
		return classify(err, &ref)
	}
	return nil
}
