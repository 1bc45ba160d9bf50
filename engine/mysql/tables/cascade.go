package tables

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/quota"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// row is what a statement does to one stored row.
type row struct {
	removed bool
	values  map[int]any     // by ordinals of columns, as they are written
	by      map[string]bool // the foreign keys whose actions have set values
	at      int             // the place in the statement's own order, from 1; 0 for other rows
}

// work is what a statement does to the rows of its table and of those that foreign keys lead to.
// All of it is found by reading, before anything is written: an error leaves the transaction as it
// was.
type work struct {
	s      store.Session
	tables []*Table
	rows   map[store.TableRef]map[int64]*row
}

func newWork(s store.Session) *work { return &work{s: s, rows: map[store.TableRef]map[int64]*row{}} }

func (w *work) row(ctx *sql.Context, t *Table, id int64) (*row, error) {
	rows := w.rows[t.def.Ref]
	if rows == nil {
		rows = map[int64]*row{}
		w.tables, w.rows[t.def.Ref] = append(w.tables, t), rows
	}
	r := rows[id]
	if r == nil {
		r = &row{values: map[int]any{}, by: map[string]bool{}}
		rows[id] = r
		return r, quota.Of(ctx).Take(128)
	}
	return r, nil
}

// list is a condition that a number of a row is one of those given.
func list(b *lower.Binder, ids []int64) string {
	text := []byte("[")
	for _, id := range ids {
		text = append(strconv.AppendInt(text, id, 10), ',')
	}
	return "(SELECT unnest(CAST(" + b.Bind(strings.TrimSuffix(string(text), ",")+"]") + " AS BIGINT[])))"
}

// stored returns columns of rows, as they are written, by the rows' numbers.
func (w *work) stored(ctx *sql.Context, t *Table, ids []int64, columns []int) (map[int64][]any, error) {
	var b lower.Binder
	n := t.numbered()
	schema := sql.Schema{}
	for _, c := range columns {
		schema = append(schema, t.schema[c])
	}
	schema = append(schema, n.schema[len(t.schema)])
	q := n.selectSQL(append(slices.Clone(columns), len(t.schema))) + " WHERE rowid IN " + list(&b, ids)
	out := make(map[int64][]any, len(ids))
	err := each(ctx, newRows(q, b.Args(), schema), func(r sql.Row) error {
		values := make([]any, len(columns))
		for i, c := range columns {
			var err error
			if values[i], err = keptValue(ctx, r[i], t.schema[c].Type, t.def.Columns[c]); err != nil {
				return err
			}
		}
		out[r[len(columns)].(int64)] = values
		return quota.Of(ctx).Take(quota.Row(values))
	})
	return out, err
}

// become are the values of the columns after the statement.
func (r *row) become(columns []int, before []any) []any {
	values := slices.Clone(before)
	for i, c := range columns {
		if v, ok := r.values[c]; ok {
			values[i] = v
		}
	}
	return values
}

// step follows the foreign keys that reference t from rows that are removed, or whose columns
// change. Updated are the tables whose changes have led here.
func (w *work) step(ctx *sql.Context, t *Table, ids []int64, removed bool, depth int, updated []store.TableRef) error {
	if len(ids) == 0 {
		return nil
	}
	links, err := t.referenced(ctx)
	if err != nil {
		return err
	}
	for _, l := range links {
		moved := ids
		var before map[int64][]any
		if !removed {
			if moved, before, err = w.moved(ctx, t, ids, l.to); err != nil {
				return err
			}
		}
		if len(moved) == 0 {
			continue
		}
		w.s.Refer(t.def.Ref, true)
		pairs, err := w.children(ctx, l, moved)
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			continue
		}
		action := l.OnUpdate
		if removed {
			action = l.OnDelete
		} else if slices.Contains(updated, l.child.def.Ref) {
			action = "" // as MySQL does where an update comes back to a table
		}
		if action != cascade && action != setNull {
			if err := w.restrict(ctx, l, pairs); err != nil {
				return err
			}
			continue
		}
		if depth+1 >= depths {
			return mysql.NewSQLError(3008, "HY000", "Foreign key cascade delete/update exceeds max depth of %d.", depths)
		}
		goes, further := removed && action == cascade, updated
		if !goes {
			further = append(slices.Clone(updated), l.child.def.Ref)
		}
		var next []int64
		for _, p := range pairs {
			r, err := w.row(ctx, l.child, p[0])
			switch {
			case err != nil:
				return err
			case r.removed:
				continue
			case goes:
				r.removed = true
			default:
				if err := w.assign(ctx, l, r, p[1], action, before); err != nil {
					return err
				}
			}
			next = append(next, p[0])
		}
		if err := w.step(ctx, l.child, next, goes, depth+1, further); err != nil {
			return err
		}
	}
	return nil
}

// moved are the rows whose values in the columns change, with the values before.
func (w *work) moved(ctx *sql.Context, t *Table, ids []int64, columns []int) (moved []int64, before map[int64][]any, err error) {
	rows, some := w.rows[t.def.Ref], false
	for _, id := range ids {
		some = some || slices.ContainsFunc(columns, func(c int) bool { _, ok := rows[id].values[c]; return ok })
	}
	if !some {
		return nil, nil, nil
	}
	before, err = w.stored(ctx, t, ids, columns)
	for _, id := range ids {
		if was, ok := before[id]; ok && !reflect.DeepEqual(was, rows[id].become(columns, was)) {
			moved = append(moved, id)
		}
	}
	return moved, before, err
}

// children are the numbers of the rows that reference rows of the parent, each with its parent's.
func (w *work) children(ctx *sql.Context, l *link, parents []int64) (pairs [][2]int64, err error) {
	var b lower.Binder
	on := l.matches(func(i int) string { return "c." + sqltext.StoreName(l.child.def.Columns[l.from[i]].Name) }, "p.")
	rows, err := w.s.Query(ctx, "SELECT c.rowid, p.rowid FROM "+quote(l.child.def.Ref)+" AS c JOIN "+quote(l.parent.def.Ref)+" AS p ON "+on+
		" WHERE p.rowid IN "+list(&b, parents)+" ORDER BY 1, 2", b.Args()...)
	if err == nil {
		err = store.Each(rows, func(r []any) error {
			pairs = append(pairs, [2]int64{r[0].(int64), r[1].(int64)})
			return quota.Of(ctx).Take(32)
		})
	}
	return pairs, classify(err, nil)
}

// restrict refuses rows that reference the parents, but for those that the statement has removed,
// or pointed elsewhere, before it comes to the parent.
func (w *work) restrict(ctx *sql.Context, l *link, pairs [][2]int64) error {
	for _, p := range pairs {
		r, parent := w.rows[l.child.def.Ref][p[0]], w.rows[l.parent.def.Ref][p[1]]
		if r == nil || r.at > 0 && parent.at > 0 && r.at >= parent.at {
			return l.violated(false)
		}
		if r.removed {
			continue
		}
		if moved, _, err := w.moved(ctx, l.child, []int64{p[0]}, l.from); err != nil || len(moved) == 0 {
			if err == nil {
				err = l.violated(false)
			}
			return err
		}
	}
	return nil
}

// assign gives a child's row the new key of its parent, or NULLs. A value that has no place there
// keeps the parent from changing.
func (w *work) assign(ctx *sql.Context, l *link, r *row, parent int64, action string, before map[int64][]any) error {
	r.by[l.Name] = true
	var key []any
	if action == cascade {
		key = w.rows[l.parent.def.Ref][parent].become(l.to, before[parent])
	}
	for i, c := range l.from {
		if key == nil || key[i] == nil {
			r.values[c] = nil
			continue
		}
		childType, parentType, v := l.child.schema[c].Type, l.parent.schema[l.to[i]].Type, key[i]
		if childType.String() != parentType.String() {
			var err error
			if types.IsEnum(parentType) || types.IsSet(parentType) {
				if v, _, err = parentType.Convert(ctx, v); err != nil {
					return err
				}
			}
			if v, err = strict(ctx, v, childType, l.Columns[i], 1); err == nil {
				v, err = writeValue(ctx, v, childType, l.child.def.Columns[c])
			}
			if err != nil {
				return l.violated(false)
			}
		}
		r.values[c] = v
	}
	return nil
}

// write changes the rows of all tables, but for those of own, an UPDATE's, that it writes itself.
// Targets are the tables that the statement names: rows of another one of them may not change, as
// the store may number changed rows anew.
func (w *work) write(ctx *sql.Context, own *Table, targets []*Table) error {
	for _, t := range w.tables {
		if len(targets) > 1 && slices.ContainsFunc(targets, func(o *Table) bool { return o.def.Ref == t.def.Ref }) && w.sets(t) && (own == nil || own.def.Ref != t.def.Ref) {
			return unsupported("Change one table at a time.", "A statement on several tables, of which a foreign key changes rows of %s, is not supported.", t.def.Ref)
		}
		var removed []int64
		for id, r := range w.rows[t.def.Ref] {
			if r.removed {
				removed = append(removed, id)
			}
		}
		if len(removed) > 0 {
			slices.Sort(removed)
			var b lower.Binder
			if _, err := w.s.Write(ctx, []store.TableRef{t.def.Ref}, "DELETE FROM "+quote(t.def.Ref)+" WHERE rowid IN "+list(&b, removed), b.Args()...); err != nil {
				return classify(err, &t.def.Ref)
			}
		}
		if own != nil && own.def.Ref == t.def.Ref {
			continue
		}
		for _, a := range w.alike(t) {
			names := []string{"rowid"}
			names = append(names, lists.Map(a.columns, func(c int) string { return t.all[c].Name })...)
			if err := w.s.Change(ctx, t.def.Ref, names, a.rows); err != nil {
				return classify(err, &t.def.Ref)
			}
		}
	}
	return nil
}

// alike are rows of a table that get values in the same columns: each has its number, and then the
// values.
type alike struct {
	columns []int
	rows    [][]any
}

func (w *work) alike(t *Table) map[string]*alike {
	groups := map[string]*alike{}
	for id, r := range w.rows[t.def.Ref] {
		if r.removed || len(r.values) == 0 {
			continue
		}
		columns := slices.Sorted(maps.Keys(r.values))
		key, tuple := fmt.Sprint(columns), []any{id}
		tuple = append(tuple, lists.Map(columns, func(c int) any { return r.values[c] })...)
		if groups[key] == nil {
			groups[key] = &alike{columns: columns}
		}
		groups[key].rows = append(groups[key].rows, tuple)
	}
	return groups
}

// compute adds the values that follow from those that actions of foreign keys set. The rows of own
// have theirs.
func (w *work) compute(ctx *sql.Context, own *Table) error {
	for _, t := range w.tables {
		all, err := t.formulas(ctx)
		if err != nil {
			return err
		}
		if own != nil && own.def.Ref == t.def.Ref {
			continue
		}
		for _, a := range w.alike(t) {
			formulas := touched(all, a.columns)
			for chunk := range slices.Chunk(a.rows, checked) {
				if len(formulas) == 0 {
					break
				}
				if err := w.fill(ctx, t, formulas, a.columns, chunk); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fill computes formulas for rows that get values in the columns: the store reads the rows as they
// will be.
func (w *work) fill(ctx *sql.Context, t *Table, formulas []formula, columns []int, rows [][]any) error {
	var b lower.Binder
	tuples, replaced, names := make([]string, len(rows)), make([]string, len(columns)), "n"
	for i, row := range rows {
		values := []string{strconv.FormatInt(row[0].(int64), 10)}
		for j, c := range columns {
			values = append(values, t.bind(&b, c, row[j+1]))
		}
		tuples[i] = "(" + strings.Join(values, ", ") + ")"
	}
	for i, c := range columns {
		names += ", c" + strconv.Itoa(i)
		replaced[i] = "k.c" + strconv.Itoa(i) + " AS " + sqltext.StoreName(t.all[c].Name)
	}
	n, from := t.numbered(), quote(t.def.Ref)
	q := strings.TrimSuffix(n.selectSQL(n.ordinals), from) + "(SELECT t.* REPLACE (" + strings.Join(replaced, ", ") + "), t.rowid AS rowid FROM " +
		from + " AS t JOIN (VALUES " + strings.Join(tuples, ", ") + ") AS k(" + names + ") ON t.rowid = k.n)"
	return each(ctx, newRows(q, b.Args(), n.schema), func(row sql.Row) error {
		r := w.rows[t.def.Ref][row[len(t.schema)].(int64)]
		full := t.widened(row[:len(t.schema)])
		if err := t.fill(ctx, formulas, full, 1); err != nil {
			return err
		}
		values, err := t.written(ctx, formulas, full)
		if err != nil {
			return err
		}
		for i, f := range formulas {
			r.values[f.column] = values[i]
		}
		return quota.Of(ctx).Take(16 * int64(len(formulas)))
	})
}

// sets reports whether rows of a table get values.
func (w *work) sets(t *Table) bool {
	for _, r := range w.rows[t.def.Ref] {
		if !r.removed && len(r.values) > 0 {
			return true
		}
	}
	return false
}

// passed reports, with a warning, whether an error is a foreign key's, which IGNORE passes over.
func passed(ctx *sql.Context, err error) bool {
	e, ok := err.(*mysql.SQLError)
	switch {
	case sql.ErrForeignKeyChildViolation.Is(err):
		warn(ctx, mysql.ErNoReferencedRow2, err)
	case ok && e.Num == mysql.ERRowIsReferenced2:
		warn(ctx, mysql.ERRowIsReferenced2, err)
	default:
		return false
	}
	return true
}

// remove removes the rows that meet a condition, in an order, with what foreign keys do then.
// Targets are the tables of the statement.
func (t *Table) remove(ctx *sql.Context, s store.Session, where string, args []any, order string, targets []*Table) (n int64, err error) {
	links, err := t.referenced(ctx)
	if err != nil {
		return 0, err
	}
	if len(links) == 0 {
		n, err = s.Write(ctx, []store.TableRef{t.def.Ref}, "DELETE FROM "+quote(t.def.Ref)+" WHERE "+where, args...)
		return n, classify(err, &t.def.Ref)
	}
	var ids []int64
	err = t.numbers(ctx, s, where, args, order, func(id int64) error {
		ids = append(ids, id)
		return quota.Of(ctx).Take(8)
	})
	if err == nil {
		err = t.removes(ctx, s, ids, targets)
	}
	return int64(len(ids)), err
}

// numbers hands over the store's numbers of the rows that meet a condition.
func (t *Table) numbers(ctx *sql.Context, s store.Session, where string, args []any, order string, f func(int64) error) error {
	rows, err := s.Query(ctx, "SELECT rowid FROM "+quote(t.def.Ref)+" WHERE "+where+order, args...)
	if err == nil {
		err = store.Each(rows, func(r []any) error { return f(r[0].(int64)) })
	}
	return classify(err, &t.def.Ref)
}

// removes removes rows by their numbers, in the statement's order, with what foreign keys do then.
func (t *Table) removes(ctx *sql.Context, s store.Session, ids []int64, targets []*Table) error {
	w := newWork(s)
	for i, id := range ids {
		r, err := w.row(ctx, t, id)
		if err != nil {
			return err
		}
		r.removed, r.at = true, i+1
	}
	if err := w.step(ctx, t, ids, true, 0, nil); err != nil {
		return err
	}
	return w.finish(ctx, nil, targets)
}

// finish refuses rows that are left without a parent, and does the rest of the work: see write.
func (w *work) finish(ctx *sql.Context, own *Table, targets []*Table) error {
	err := w.orphans(ctx)
	if err == nil {
		err = w.compute(ctx, own)
	}
	if err == nil {
		err = w.write(ctx, own, targets)
	}
	return err
}

// changes does what foreign keys do when rows change: each has its number, and then the values that
// are written into the columns. The rows themselves the caller writes.
func (t *Table) changes(ctx *sql.Context, s store.Session, columns []int, rows [][]any, targets []*Table) error {
	own, err := t.links(ctx)
	var referenced []*link
	if err == nil {
		referenced, err = t.referenced(ctx)
	}
	if err != nil || len(own)+len(referenced) == 0 {
		return err
	}
	w, ids := newWork(s), make([]int64, len(rows))
	for i, values := range rows {
		ids[i] = values[0].(int64)
		r, err := w.row(ctx, t, ids[i])
		if err != nil {
			return err
		}
		r.at = i + 1
		for j, c := range columns {
			r.values[c] = values[j+1]
		}
	}
	if err := w.step(ctx, t, ids, false, 0, []store.TableRef{t.def.Ref}); err != nil {
		return err
	}
	return w.finish(ctx, t, targets)
}
