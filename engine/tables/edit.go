package tables

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// Update implements sql.RowUpdater for one row that was found by its key.
func (e *editor) Update(ctx *sql.Context, old, new sql.Row) error {
	var b lower.Binder
	var set []string
	for i := range new {
		v, err := writeValue(ctx, new[i], e.t.schema[i].Type, e.t.def.Columns[i])
		if err != nil {
			return err
		}
		was, err := keptValue(ctx, old[i], e.t.schema[i].Type, e.t.def.Columns[i])
		if err != nil {
			return err
		}
		if keyText([]any{v}) == keyText([]any{was}) {
			continue
		}
		set = append(set, sqltext.StoreName(e.t.def.Columns[i].Name)+" = "+e.t.bind(&b, i, v))
	}
	if len(set) == 0 {
		return nil
	}
	return e.change(ctx, "UPDATE "+quote(e.t.def.Ref)+" SET "+strings.Join(set, ", "), &b, old)
}

// Delete implements sql.RowDeleter for one row that was found by its key.
func (e *editor) Delete(ctx *sql.Context, row sql.Row) error {
	return e.change(ctx, "DELETE FROM "+quote(e.t.def.Ref), &lower.Binder{}, row)
}

// change runs a statement on the one row that has the key of row.
func (e *editor) change(ctx *sql.Context, statement string, b *lower.Binder, row sql.Row) error {
	if err := e.t.checkInsert(ctx); err != nil {
		return err
	}
	where, err := e.identify(ctx, b, row)
	if err != nil {
		return err
	}
	s, err := e.begin(ctx)
	if err != nil {
		return err
	}
	_, err = s.Write(ctx, []store.TableRef{e.t.def.Ref}, statement+" WHERE "+where, b.Args()...)
	return classify(err, &e.t.def.Ref)
}

// identify returns the condition that only this stored row meets.
func (e *editor) identify(ctx *sql.Context, b *lower.Binder, row sql.Row) (string, error) {
	values := make([]any, len(row))
	for i, v := range row {
		w, err := keptValue(ctx, v, e.t.schema[i].Type, e.t.def.Columns[i])
		if err != nil {
			return "", err
		}
		values[i] = w
	}
	for _, key := range e.t.def.Keys {
		columns, err := e.t.keyOrdinals(key)
		if err != nil {
			return "", err
		}
		if present, ok := pick(values, columns); ok {
			return e.t.matchKey(b, columns, present), nil
		}
	}
	return "", unsupported("Use a plain UPDATE or DELETE of one table.",
		"The table %s has no key by which one row could be changed.", e.t.def.Ref)
}

// bound turns a written value into one that can be bound to a statement: a list is bound as text,
// which the place holder's cast reads.
func bound(v any) any {
	x, ok := v.([]any)
	if !ok {
		return v
	}
	text, err := json.Marshal(x)
	if err != nil {
		return nil // lists hold numbers and nil only, see writeList
	}
	return string(text)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
