package tables

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// adopt looks at the keys of other tables that reference a table which is new under its name.
func (d *Database) adopt(ctx *sql.Context, parent *definition) error {
	list, err := d.p.referencing(ctx, parent.ref)
	for _, r := range list {
		if err != nil {
			return err
		}
		var child store.Table
		if child, err = d.stored(ctx, r.child.Name); err == nil && r.child != parent.ref {
			r.Referenced = slices.Clone(r.Referenced)
			err = definitionOf(child).fits(&r.ForeignKey, parent, foreignChecks(ctx))
		}
	}
	return err
}

// settle looks at what an ALTER TABLE leaves of the foreign keys of a table, before is its
// definition before, and of those that reference it.
func (d *Database) settle(ctx *sql.Context, before, after *definition) error {
	list, err := d.p.referencing(ctx, before.ref)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(r referencing) bool { return r.child == before.ref })
	for i := range list {
		list[i].Referenced = after.renamedIn(list[i].Referenced)
	}
	for _, k := range after.foreign {
		list = append(list, referencing{after.ref, k})
		if k.Parent == after.ref.Name {
			list = append(list, referencing{store.TableRef{}, k})
		}
	}
	for _, r := range list {
		own, columns := r.child == after.ref, r.Referenced
		if own {
			columns = r.Columns
		}
		of := " of table '" + r.child.String() + "'"
		if own || r.child.Name == "" {
			of = ""
		}
		for _, name := range columns {
			at := after.column(name)
			switch {
			case at < 0 && own:
				return mysql.NewSQLError(1828, "HY000", "Cannot drop column '%s': needed in a foreign key constraint '%s'", name, r.Name)
			case at < 0:
				return mysql.NewSQLError(1829, "HY000", "Cannot drop column '%s': needed in a foreign key constraint '%s'%s", name, r.Name, of)
			}
			was := before.column(after.columns[at].from)
			if after.columns[at].from == "" || was < 0 {
				continue
			}
			narrower := !grows(before.columns[was], after.columns[at])
			switch {
			case narrower && foreignChecks(ctx) && own:
				return mysql.NewSQLError(1832, "HY000", "Cannot change column '%s': used in a foreign key constraint '%s'", name, r.Name)
			case narrower && foreignChecks(ctx):
				return mysql.NewSQLError(1833, "HY000", "Cannot change column '%s': used in a foreign key constraint '%s'%s", name, r.Name, of)
			case !comparable(before.columns[was], after.columns[at]):
				return mysql.NewSQLError(3780, "HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.", name, name, r.Name)
			}
		}
		if own {
			if err := after.nullsOf(r.ForeignKey); err != nil {
				return err
			}
			if err := after.computedOf(r.ForeignKey); err != nil {
				return err
			}
			if err := lists.Each(after.checks, func(c checkMeta) error { return after.changedBy(r.ForeignKey, c) }); err != nil {
				return err
			}
		}
		if i := before.indexOf(before.renamedFrom(columns, after), !own); i >= 0 && after.indexOf(columns, !own) < 0 {
			return mysql.NewSQLError(1553, "HY000", "Cannot drop index '%s': needed in a foreign key constraint", before.keys[i].name)
		}
	}
	return nil
}

// grows reports whether a column's type stays, or becomes a longer text of its kind.
func grows(before, after columnDef) bool {
	if before.meta.MySQL == after.meta.MySQL || before.meta.MySQL == "" {
		return before.store == after.store
	}
	kind, n := before.meta.kind()
	next, m := after.meta.kind()
	text := kind == "char" || kind == "varchar" || kind == "binary" || kind == "varbinary"
	return text && before.collation() == after.collation() && kind == next && m >= n
}

// renamedIn are columns as the alteration names them.
func (d *definition) renamedIn(columns []string) []string {
	columns = slices.Clone(columns)
	for _, r := range d.renames {
		for i, c := range columns {
			if strings.EqualFold(c, r[0]) {
				columns[i] = r[1]
			}
		}
	}
	return columns
}

// renamedFrom are columns of after as they were named before.
func (d *definition) renamedFrom(columns []string, after *definition) []string {
	columns = slices.Clone(columns)
	for i, c := range columns {
		if at := after.column(c); at >= 0 && after.columns[at].from != "" {
			columns[i] = after.columns[at].from
		}
	}
	return columns
}

// follow gives the foreign keys that reference a table its new name, and its columns' new ones. The
// table's own keys, in w.def where the statement changes the definition, have been written.
func (d *Database) follow(ctx *sql.Context, s store.Session, from, to store.TableRef, renamed func([]string) []string) error {
	list, err := d.p.referencing(ctx, from)
	if err != nil {
		return err
	}
	for i, r := range list {
		if r.child == from || i > 0 && list[i-1].child == r.child {
			continue // a table is written once
		}
		stored, err := d.stored(ctx, r.child.Name)
		if err != nil {
			return err
		}
		child := definitionOf(stored)
		for j, k := range child.foreign {
			if k.Parent == from.Name {
				child.foreign[j].Parent, child.foreign[j].Referenced = to.Name, renamed(k.Referenced)
			}
		}
		if err := child.writeMeta(ctx, s); err != nil {
			return classify(err, &child.ref)
		}
	}
	return nil
}

// checkDrops refuses to drop tables that a foreign key of another table, which stays, references.
func (b *Builder) checkDrops(ctx *sql.Context, nodes []sql.Node) error {
	if !foreignChecks(ctx) {
		return nil
	}
	dropped := map[store.TableRef]bool{}
	for _, n := range nodes {
		if t, ok := storedTable(n); ok {
			dropped[t.def.Ref] = true
		}
	}
	for _, n := range nodes {
		t, ok := storedTable(n)
		if !ok || b.p.access.CheckDDL(ctx, t.def.Ref) != nil {
			continue // the drop itself says why
		}
		list, err := b.p.referencing(ctx, t.def.Ref)
		if err != nil {
			return err
		}
		for _, r := range list {
			if !dropped[r.child] {
				return mysql.NewSQLError(3730, "HY000", "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.", t.Name(), r.Name, r.child.Name)
			}
		}
	}
	return nil
}

// renameForeign gives foreign keys the new name of a table: those that reference it, and its own
// that are named after it. Def is its definition where the statement changes more than the name.
func (d *Database) renameForeign(ctx *sql.Context, s store.Session, def *definition, from, to store.TableRef) error {
	if def == nil {
		stored, err := d.stored(ctx, from.Name)
		if err != nil {
			return err
		}
		def = definitionOf(stored)
	}
	if err := d.follow(ctx, s, from, to, def.renamedIn); err != nil {
		return err
	}
	renamed := *def
	renamed.ref, renamed.foreign = to, slices.Clone(def.foreign)
	if err := d.adopt(ctx, &renamed); err != nil || len(def.foreign) == 0 {
		return err
	}
	for i, k := range renamed.foreign {
		if n, ok := strings.CutPrefix(k.Name, from.Name+"_ibfk_"); ok {
			renamed.foreign[i].Name = to.Name + "_ibfk_" + n
		}
		if k.Parent == from.Name {
			renamed.foreign[i].Parent = to.Name
		}
	}
	return classify(renamed.writeMeta(ctx, s), &to)
}

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
