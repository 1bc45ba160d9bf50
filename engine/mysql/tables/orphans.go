package tables

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// orphans refuses changes that leave rows without a parent. It lets those be that an action of the
// same foreign key has made.
func (w *work) orphans(ctx *sql.Context) error {
	for _, t := range w.tables {
		links, err := t.links(ctx)
		if err != nil {
			return err
		}
		rows := w.rows[t.def.Ref]
		for _, l := range links {
			var ids []int64
			for id, r := range rows {
				if !r.removed && !r.by[l.Name] {
					ids = append(ids, id)
				}
			}
			moved, before, err := w.moved(ctx, t, ids, l.from)
			if err != nil {
				return err
			}
			if err := w.parents(ctx, l, lists.Map(moved, func(id int64) []any { return rows[id].become(l.from, before[id]) }), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// parents refuses keys that no row of the parent has after the statement. Known are keys that it
// inserts.
func (w *work) parents(ctx *sql.Context, l *link, keys [][]any, known map[string]bool) error {
	found, asked := map[string]bool{}, [][]any(nil)
	for _, k := range keys {
		if text, ok := same(ctx, l.child, l.from, k); ok && !known[text] && !found[text] {
			found[text], asked = true, append(asked, k)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	if l.parent == nil {
		return l.violated(true)
	}
	w.s.Refer(l.parent.def.Ref, false)
	clear(found)
	changed := w.rows[l.parent.def.Ref]
	var ids []int64
	for id, r := range changed {
		if !r.removed {
			ids = append(ids, id)
		}
	}
	moved, before, err := w.moved(ctx, l.parent, ids, l.to)
	if err != nil {
		return err
	}
	gone := map[int64]bool{}
	for _, id := range moved {
		gone[id] = true
		if text, ok := same(ctx, l.parent, l.to, changed[id].become(l.to, before[id])); ok {
			found[text] = true
		}
	}
	for id, r := range changed {
		gone[id] = gone[id] || r.removed
	}
	for at := 0; at < len(asked); at += checked {
		chunk := asked[at:min(at+checked, len(asked))]
		there := make([]bool, len(chunk))
		if err := w.find(ctx, l, chunk, func(key int, id int64) { there[key] = there[key] || !gone[id] }); err != nil {
			return err
		}
		for i, k := range chunk {
			if text, _ := same(ctx, l.child, l.from, k); !there[i] && !found[text] {
				return l.violated(true)
			}
		}
	}
	return nil
}

// find tells of each parent's row that has one of the keys.
func (w *work) find(ctx *sql.Context, l *link, keys [][]any, tell func(key int, id int64)) error {
	var b lower.Binder
	one := func(key []any) []string {
		values := make([]string, len(key))
		for i, v := range key {
			values[i] = l.child.bind(&b, l.from[i], v)
		}
		return values
	}
	q := "SELECT CAST(0 AS BIGINT), p.rowid FROM " + quote(l.parent.def.Ref) + " AS p WHERE "
	if len(keys) == 1 { // the store then uses an index
		values := one(keys[0])
		q += l.matches(func(i int) string { return values[i] }, "p.")
	} else {
		list := make([]string, len(keys))
		for k, key := range keys {
			list[k] = "(" + strconv.Itoa(k) + ", " + strings.Join(one(key), ", ") + ")"
		}
		names := "n"
		for i := range l.from {
			names += ", c" + strconv.Itoa(i)
		}
		q = "SELECT CAST(k.n AS BIGINT), p.rowid FROM (VALUES " + strings.Join(list, ", ") + ") AS k(" + names + ") JOIN " + quote(l.parent.def.Ref) + " AS p ON " +
			l.matches(func(i int) string { return "k.c" + strconv.Itoa(i) }, "p.")
	}
	rows, err := w.s.Query(ctx, q, b.Args()...)
	if err == nil {
		err = store.Each(rows, func(r []any) error {
			tell(int(r[0].(int64)), r[1].(int64))
			return nil
		})
	}
	return classify(err, nil)
}

// inserts refuses rows, as they are written, without parents. As in MySQL a row may reference one
// before it, and itself.
func (t *Table) inserts(ctx *sql.Context, s store.Session, rows [][]any) error {
	links, err := t.links(ctx)
	for _, l := range links {
		known := map[string]bool{}
		var keys [][]any
		for _, row := range rows {
			if l.parent == t && !l.dead() {
				if text, ok := same(ctx, t, l.to, at(row, l.to)); ok {
					known[text] = true
				}
			}
			if key := at(row, l.from); err == nil {
				if text, ok := same(ctx, t, l.from, key); ok && !known[text] {
					keys = append(keys, key)
				}
			}
		}
		if err == nil {
			err = newWork(s).parents(ctx, l, keys, nil)
		}
	}
	return err
}

func at(row []any, columns []int) []any {
	return lists.Map(columns, func(c int) any { return row[c] })
}

// orphans looks for a row of a table without the parent that a new foreign key wants.
func (d *Database) orphans(ctx *sql.Context, s store.Session, def *definition, k ForeignKey) error {
	t, err := newTable(ctx, d.p, def.table())
	if err != nil {
		return err
	}
	l, err := t.link(ctx, k)
	if err != nil || l.parent == nil {
		return err
	}
	var there []string
	child := func(i int) string { return "c." + sqltext.StoreName(l.child.def.Columns[l.from[i]].Name) }
	for i := range l.from {
		there = append(there, child(i)+" IS NOT NULL")
	}
	found, err := anyRow(ctx, s, quote(def.ref)+" AS c WHERE "+strings.Join(there, " AND ")+" AND NOT EXISTS (SELECT 1 FROM "+
		quote(l.parent.def.Ref)+" AS p WHERE "+l.matches(child, "p.")+")")
	if err == nil && found {
		err = l.violated(true)
	}
	return classify(err, &def.ref)
}
