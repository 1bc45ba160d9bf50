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

// Make makes a table with its rows, in the place of the one of that name if replaces says so, and
// runs also, in one transaction of the session's. What the session has open is committed before.
func (p *Provider) Make(ctx *sql.Context, m Made, replaces bool, also func(store.Session) error) error {
	def := &definition{ref: m.Ref, comment: m.Comment}
	var names []string
	for _, c := range m.Columns {
		col, err := newColumn(ctx, c)
		if err != nil {
			return err
		}
		def.columns, names = append(def.columns, col), append(names, col.name)
	}
	rows := make([][]any, len(m.Rows))
	for i, row := range m.Rows {
		rows[i] = make([]any, len(row))
		for c, v := range row {
			var err error
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
