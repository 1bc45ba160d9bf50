package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

const (
	// batch is how many rows an INSERT outside a client's transaction keeps before it hands them to
	// the store: enough that the store's cost per call is small beside its cost per row.
	batch = 16384
	// checked is the largest number of rows that are looked up before they are appended, so that a
	// duplicate gives an error that names the key and leaves a client's transaction usable. Above
	// it the store's own check alone decides.
	checked = 1000
)

// checkInsert asks for leave to insert. A table with keys tells by its duplicates which rows it
// holds, and one that numbers its rows how many, so the client must be allowed to read it (see the
// package documentation).
func (t *Table) checkInsert(ctx *sql.Context) error {
	if err := t.p.access.CheckWrite(ctx, t.def.Ref); err != nil {
		return err
	}
	if err := t.may(ctx, true, false, nil); err != nil {
		return err
	}
	if len(t.def.Keys) == 0 && !slices.ContainsFunc(t.schema, func(c *sql.Column) bool { return c.AutoIncrement }) {
		return nil
	}
	err := t.p.access.CheckRead(ctx, t.def.Ref)
	if r, ok := refuse.As(err); ok && r.Code == refuse.RawRows {
		return r.With("A refused duplicate would tell who is in it: insert into a table without a PRIMARY or UNIQUE key, or have a DBA SET dp_raw = ON.")
	}
	return err
}

// Inserter implements sql.InsertableTable.
func (t *Table) Inserter(*sql.Context) sql.RowInserter { return &editor{t: t, eager: t.eager} }

// Replacer implements sql.ReplaceableTable.
func (t *Table) Replacer(*sql.Context) sql.RowReplacer { return &editor{t: t, eager: true} }

// Updater implements sql.UpdatableTable for INSERT ... ON DUPLICATE KEY UPDATE. UPDATE statements
// run as one statement in the store instead.
func (t *Table) Updater(*sql.Context) sql.RowUpdater { return &editor{t: t, eager: true} }

// Deleter implements sql.DeletableTable, likewise for REPLACE.
func (t *Table) Deleter(*sql.Context) sql.RowDeleter { return &editor{t: t, eager: true} }

// editor writes the rows of one statement: all of them or none. Outside a client's transaction it
// makes its own. Inside one it keeps all rows until the statement is complete.
type editor struct {
	t       *Table
	eager   bool // look up duplicates and write at once, row by row
	allowed bool
	own     bool   // the transaction is ours
	undone  func() // what aborts the client's, if the statement has changed anything
	cleared bool   // of the rows that a load replaces
	pending [][]any

	formulas []formula // nil before the first row
	row      int       // its number
}

var (
	_ sql.RowReplacer = (*editor)(nil)
	_ sql.RowUpdater  = (*editor)(nil)
)

// StatementBegin implements sql.EditOpenerCloser.
func (e *editor) StatementBegin(*sql.Context) {}

// DiscardChanges implements sql.EditOpenerCloser.
func (e *editor) DiscardChanges(ctx *sql.Context, _ error) error {
	e.pending = nil
	if !e.own {
		if e.undone != nil {
			e.undone()
		}
		return nil
	}
	e.own = false
	s, err := SessionOf(ctx)
	if err != nil {
		return err
	}
	return s.Rollback(ctx)
}

// StatementComplete implements sql.EditOpenerCloser.
func (e *editor) StatementComplete(ctx *sql.Context) error {
	err := e.flush(ctx)
	if err == nil {
		err = e.endLoad(ctx)
	}
	if err != nil {
		return e.undo(ctx, err)
	}
	if !e.own {
		return nil
	}
	e.own = false
	s, err := SessionOf(ctx)
	if err != nil {
		return err
	}
	return classify(s.Commit(ctx), &e.t.def.Ref)
}

// Close implements sql.Closer. The statement has been completed or discarded by then.
func (e *editor) Close(*sql.Context) error { return nil }

// undo discards the statement after err.
func (e *editor) undo(ctx *sql.Context, err error) error {
	if d := e.DiscardChanges(ctx, err); d != nil {
		return d
	}
	return err
}

// Insert implements sql.RowInserter.
func (e *editor) Insert(ctx *sql.Context, row sql.Row) error {
	if !e.allowed {
		if err := e.t.checkInsert(ctx); err != nil {
			return err
		}
		e.allowed = true
	}
	full, err := e.whole(ctx, row)
	if err != nil {
		return err
	}
	values, err := e.t.kept(ctx, full)
	if err != nil {
		return err
	}
	e.pending = append(e.pending, values)
	if e.eager {
		err := e.refuseDuplicate(ctx, e.pending)
		if err == nil {
			err = e.refuseOrphans(ctx)
		}
		if err != nil {
			e.pending = e.pending[:0]
			return err
		}
		return e.flush(ctx)
	}
	if len(e.pending) < batch {
		return nil
	}
	if s, err := SessionOf(ctx); err != nil || (s.InTransaction() && !e.own) {
		return err
	}
	return e.flush(ctx)
}

// begin makes sure that there is a transaction.
func (e *editor) begin(ctx *sql.Context) (store.Session, error) {
	s, err := SessionOf(ctx)
	if err != nil || s.InTransaction() {
		if err == nil && !e.own && e.undone == nil {
			e.undone = s.Mark()
		}
		return s, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	e.own = true
	return s, nil
}

// flush hands the pending rows to the store.
func (e *editor) flush(ctx *sql.Context) error {
	if len(e.pending) == 0 {
		return nil
	}
	if err := e.beginLoad(ctx); err != nil {
		return err
	}
	if !e.eager && len(e.pending) <= checked {
		if err := e.refuseDuplicate(ctx, e.pending); err != nil {
			return err
		}
	}
	s, err := e.begin(ctx)
	if err == nil && !e.eager {
		err = e.refuseOrphans(ctx)
	}
	if err != nil {
		return err
	}
	err = s.Append(ctx, e.t.def.Ref, lists.Map(e.t.all, func(c store.Column) string { return c.Name }), e.pending)
	e.pending = nil
	return classify(err, &e.t.def.Ref)
}

// refuseOrphans returns MySQL's error where a pending row has no parent that a foreign key wants.
func (e *editor) refuseOrphans(ctx *sql.Context) error {
	s, err := e.begin(ctx)
	if err != nil {
		return err
	}
	return e.t.inserts(ctx, s, e.pending)
}

// refuseDuplicate returns MySQL's duplicate-key error when one of the rows has a key that another
// of them or a stored row has.
func (e *editor) refuseDuplicate(ctx *sql.Context, pending [][]any) error {
	for _, key := range e.t.def.Keys {
		columns, err := e.t.keyOrdinals(key)
		if err != nil {
			return err
		}
		seen := map[string][]any{}
		var present [][]any
		for _, row := range pending {
			values, ok := pick(row, columns)
			if !ok {
				continue
			}
			id := identity(0, values)
			if seen[id] != nil {
				return sql.NewUniqueKeyErr(e.t.shownKey(key, row), key.Primary, nil)
			}
			seen[id] = row
			present = append(present, values)
		}
		if len(present) == 0 {
			continue
		}
		existing, err := e.t.find(ctx, columns, present)
		if err != nil {
			return err
		}
		if existing != nil {
			n, values := len(e.t.schema), e.t.keyValues(ctx, existing, columns)
			text := keyText(values)
			if row := seen[identity(0, values)]; row != nil {
				text = e.t.shownKey(key, row)
			}
			return sql.NewUniqueKeyErr(text, key.Primary, existing[:n:n])
		}
	}
	return nil
}

// keyOrdinals returns the ordinals of a key's columns.
func (t *Table) keyOrdinals(key store.Key) ([]int, error) {
	ordinals := make([]int, len(key.Columns))
	for i, name := range key.Columns {
		if ordinals[i] = t.kinds.IndexOfColName(name); ordinals[i] < 0 {
			return nil, sql.ErrKeyColumnDoesNotExist.New(name)
		}
	}
	return ordinals, nil
}

// pick returns the values of a key; false when one is NULL, for then nothing equals it.
func pick(row []any, columns []int) ([]any, bool) {
	values := make([]any, len(columns))
	for i, c := range columns {
		if row[c] == nil {
			return nil, false
		}
		values[i] = row[c]
	}
	return values, true
}

// identity tells the values of a table's key number i, as they are written, from any others.
func identity(i int, values []any) string {
	id := strconv.AppendInt(nil, int64(i), 10)
	for _, v := range values {
		text := fmt.Sprint(v)
		id = append(strconv.AppendInt(append(id, ' '), int64(len(text)), 10), ' ')
		id = append(id, text...)
	}
	return string(id)
}

// keyText is a key as an error shows it.
func keyText(values []any) string {
	return strings.Join(lists.Map(values, func(v any) string { return fmt.Sprint(v) }), "-")
}

// shownKey is the text of a key as a row that is written has it: of a hidden column, which a key
// has in the place of a text, this text.
func (t *Table) shownKey(key store.Key, row []any) string {
	var named keyDef
	for _, k := range definitionOf(t.def).keys {
		if !k.plain && sameNames(k.inStore(), key.Columns) {
			named = k
		}
	}
	values := make([]any, len(key.Columns))
	for i, name := range key.Columns {
		values[i] = row[t.kinds.IndexOfColName(name)]
		if named.columns == nil || named.columns[i] == name || named.expression(i) != "" {
			continue
		}
		if values[i] = row[t.kinds.IndexOfColName(named.columns[i])]; named.lengths != nil && named.lengths[i] > 0 {
			values[i] = prefix(values[i], named.lengths[i])
		}
	}
	return keyText(values)
}

func (t *Table) keyValues(ctx *sql.Context, row sql.Row, columns []int) []any {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = row[c]
		if w, err := writeValue(ctx, row[c], t.kinds[c].Type, t.all[c]); err == nil {
			values[i] = w
		}
	}
	return values
}

// find returns a stored row, with its hidden columns, that has one of the keys, or nil.
func (t *Table) find(ctx *sql.Context, columns []int, keys [][]any) (sql.Row, error) {
	var b lower.Binder
	condition := t.matchKey(&b, columns, keys[0])
	if len(keys) > 1 {
		b = lower.Binder{}
		condition = t.matchAny(&b, columns, keys)
	}
	it := newRows(t.selectSQL(every(len(t.all)))+" WHERE "+condition+" LIMIT 1", b.Args(), t.kinds)
	defer it.Close(ctx)
	row, err := it.Next(ctx)
	if isEOF(err) {
		return nil, nil
	}
	return row, err
}

// matchAny returns a condition that a key is one of several; the store hashes the list. For a
// single one matchKey is better: the store then uses the key's index.
func (t *Table) matchAny(b *lower.Binder, columns []int, keys [][]any) string {
	name := lists.Map(columns, func(c int) string { return t.all[c].Name })
	list := make([]string, len(keys))
	for k, values := range keys {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = t.bind(b, c, values[i])
		}
		list[k] = "(" + strings.Join(row, ", ") + ")"
	}
	return "(" + sqltext.StoreNames(name) + ") IN (VALUES " + strings.Join(list, ", ") + ")"
}

// matchKey returns a condition that a key has the values.
func (t *Table) matchKey(b *lower.Binder, columns []int, values []any) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = sqltext.StoreName(t.all[c].Name) + " = " + t.bind(b, c, values[i])
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// bind adds a value for a column to a generated statement and returns its place holder, cast to the
// column's store type.
func (t *Table) bind(b *lower.Binder, column int, v any) string {
	return "CAST(" + b.Bind(bound(v)) + " AS " + t.all[column].Type + ")"
}

// Update implements sql.RowUpdater for one row that was found by its key.
func (e *editor) Update(ctx *sql.Context, old, new sql.Row) error {
	new, err := e.whole(ctx, new)
	if err != nil {
		return err
	}
	was, err := e.stored(ctx, old)
	if err != nil {
		return err
	}
	var b lower.Binder
	var set, names []string
	var columns []int
	values := []any{int64(0)}
	for i := range new {
		v, err := writeValue(ctx, new[i], e.t.kinds[i].Type, e.t.all[i])
		if err != nil {
			return err
		}
		was, err := keptValue(ctx, was[i], e.t.kinds[i].Type, e.t.all[i])
		if err != nil {
			return err
		}
		if keyText([]any{v}) == keyText([]any{was}) {
			continue
		}
		set = append(set, sqltext.StoreName(e.t.all[i].Name)+" = "+e.t.bind(&b, i, v))
		columns, values, names = append(columns, i), append(values, v), append(names, e.t.all[i].Name)
	}
	if len(set) == 0 {
		return nil
	}
	if err := e.t.may(ctx, false, false, names); err != nil {
		return err
	}
	s, where, whereArgs, err := e.at(ctx, old)
	if err != nil {
		return err
	}
	err = e.t.numbers(ctx, s, where, whereArgs, "", func(id int64) error {
		values[0] = id
		return e.t.changes(ctx, s, columns, [][]any{values}, nil)
	})
	if err != nil {
		return err
	}
	if where, err = e.identify(ctx, &b, old); err == nil {
		_, err = s.Write(ctx, []store.TableRef{e.t.def.Ref}, "UPDATE "+quote(e.t.def.Ref)+" SET "+strings.Join(set, ", ")+" WHERE "+where, b.Args()...)
	}
	return classify(err, &e.t.def.Ref)
}

// Delete implements sql.RowDeleter for one row that was found by its key.
func (e *editor) Delete(ctx *sql.Context, row sql.Row) error {
	if err := e.t.may(ctx, false, true, nil); err != nil {
		return err
	}
	s, where, args, err := e.at(ctx, row)
	if err == nil {
		_, err = e.t.remove(ctx, s, where, args, "", nil)
	}
	return err
}

// at is the condition that only the row that has the key of row meets, after the leave to write it.
func (e *editor) at(ctx *sql.Context, row sql.Row) (s store.Session, where string, args []any, err error) {
	if err := e.t.checkInsert(ctx); err != nil {
		return nil, "", nil, err
	}
	var b lower.Binder
	if where, err = e.identify(ctx, &b, row); err == nil {
		s, err = e.begin(ctx)
	}
	return s, where, b.Args(), err
}

// identify returns the condition that only this stored row meets.
func (e *editor) identify(ctx *sql.Context, b *lower.Binder, row sql.Row) (string, error) {
	row, err := e.stored(ctx, row)
	if err != nil {
		return "", err
	}
	values := make([]any, len(row))
	for i, v := range row {
		w, err := keptValue(ctx, v, e.t.kinds[i].Type, e.t.all[i])
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
