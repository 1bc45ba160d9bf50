package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// alteration is one ALTER TABLE clause: what is asked first, how the definition changes, and
// whether the store can do it in place.
type alteration struct {
	change Change
	// its success tells something of the rows (see the package documentation)
	reads  bool
	meta   bool                    // the store's own definition is not touched
	apply  func(*definition) error // changes the definition
	native func(*definition) string
	done   func() // once it is committed; it may be nil
	// verify looks at the rows, for the definition that apply made; it may be nil, and return nil
	verify func(*definition) func(store.Session) error
}

// altered is what the clauses of one ALTER TABLE make of a table. Each changes the definition, and
// when all have been accepted the store is changed in one transaction: wholly, or not at all.
type altered struct {
	def     *definition // nil before the first clause
	native  []string    // statements of the store, in the place of a rebuild
	rebuild bool
	checks  int // that were added
	verify  []func(store.Session) error
	rename  func(store.Session) error
	done    []func() // what is not of the store, once it is committed
}

type alteredKey struct{}

// clause adds a clause to those of its statement. One that is a statement by itself is run.
func (p *Provider) clause(ctx *sql.Context, add func(*altered) error) error {
	w, several := ctx.Value(alteredKey{}).(*altered)
	if !several {
		w = &altered{}
	}
	if err := add(w); err != nil || several {
		return err
	}
	return w.run(ctx, p)
}

// alter adds one clause. Native SQL is used where there is one and the table has no keys, on which
// the store cannot build; otherwise the table is rebuilt.
func (d *Database) alter(ctx *sql.Context, name string, a alteration) error {
	ref := d.ref(name)
	if err := d.p.checkAlter(ctx, ref, a.change); err != nil {
		return err
	}
	if a.reads {
		if err := d.p.access.CheckRead(ctx, ref); err != nil {
			return err
		}
	}
	return d.p.clause(ctx, func(w *altered) (err error) {
		if w.def, err = d.current(ctx, name); err != nil {
			return err
		}
		if a.done != nil {
			w.done = append(w.done, a.done)
		}
		if err := a.apply(w.def); err != nil {
			return err
		}
		if a.verify != nil {
			if rows := a.verify(w.def); rows != nil {
				w.verify = append(w.verify, rows)
			}
		}
		if a.meta {
			return nil
		}
		if w.rebuild = w.rebuild || a.native == nil || w.def.enforced(); !w.rebuild {
			w.native = append(w.native, a.native(w.def))
		}
		return nil
	})
}

// current is the definition of a table, as the clauses of the statement so far have made it.
func (d *Database) current(ctx *sql.Context, name string) (*definition, error) {
	if w, ok := ctx.Value(alteredKey{}).(*altered); ok && w.def != nil {
		return w.def, nil
	}
	t, err := d.stored(ctx, name)
	if err == nil && t.View {
		err = unsupported("Alter the table that it is a view of.", "The view %s cannot be altered.", t.Ref)
	}
	return definitionOf(t), err
}

// run changes the store.
func (w *altered) run(ctx *sql.Context, p *Provider) error {
	err := p.atomically(ctx, func(s store.Session) error {
		for _, rows := range w.verify {
			if w.rebuild || len(w.native) > 0 {
				return unsupported("Send ADD CHECK as a statement of its own.", "ADD CHECK beside clauses that change columns is not supported.")
			}
			if err := rows(s); err != nil {
				return err
			}
		}
		if err := w.def.change(ctx, s, w); err != nil || w.rename == nil {
			return err
		}
		return w.rename(s)
	})
	for _, f := range w.done {
		if err == nil {
			f()
		}
	}
	return err
}

func (d *definition) change(ctx *sql.Context, s store.Session, w *altered) error {
	if d == nil {
		return nil
	}
	if err := d.checkLimits(ctx, s); err != nil {
		return err
	}
	if w.rebuild {
		return d.rebuild(ctx, s)
	}
	for _, statement := range w.native {
		if _, err := s.Write(ctx, []store.TableRef{d.ref}, statement); err != nil {
			return classify(err, &d.ref)
		}
	}
	return d.writeMeta(ctx, s)
}

// addColumn runs ADD COLUMN. The rows that are there get the default, evaluated once, or for a
// column that is NOT NULL without one the type's zero, as in MySQL.
func (d *Database) addColumn(ctx *sql.Context, table string, c *sql.Column, order *sql.ColumnOrder) error {
	if c.AutoIncrement || c.PrimaryKey {
		return unsupported("Create a new table with the key, and INSERT ... SELECT into it.",
			"Adding an AUTO_INCREMENT or PRIMARY KEY column is not supported.")
	}
	def, err := newColumn(ctx, c)
	if err != nil {
		return err
	}
	var fill any
	var b lower.Binder
	switch {
	case c.Default != nil && len(columnsIn(c.Default.String())) > 0:
		def.filled, err = d.filled(ctx, table, c, def, &b)
	case c.Default != nil:
		fill, err = c.Default.Eval(ctx, nil)
	case !c.Nullable && !types.IsTime(c.Type): // there is no zero of dates
		fill = c.Type.Zero()
	}
	if err != nil {
		return err
	}
	def.fill, err = writeValue(ctx, fill, c.Type, store.Column{Name: def.name, Type: def.store})
	if err != nil {
		return err
	}
	if ofColumn(ctx, c.Name) {
		return unsupported("Add the column, and then ALTER TABLE … ADD CHECK (…).", "A CHECK at a column that is added is not supported.")
	}
	a := alteration{change: Change{Op: AddColumn, Column: c.Name}, reads: def.filled != nil || !def.nullable && def.fill == nil}
	a.apply = func(t *definition) error {
		if t.column(c.Name) >= 0 {
			return sql.ErrColumnExists.New(c.Name)
		}
		if err := t.place(def, order); err != nil {
			return err
		}
		return t.checkSize()
	}
	if def.nullable && def.fill == nil && def.filled == nil && order == nil {
		a.native = func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " ADD COLUMN " + sqltext.StoreName(def.name) + " " + def.store
		}
	}
	return d.alter(ctx, table, a)
}

// filled returns what a new column has in the rows that are there, where its default is made of
// other columns: their values in the store's SQL.
func (d *Database) filled(ctx *sql.Context, table string, c *sql.Column, def columnDef, b *lower.Binder) (*filling, error) {
	t, err := d.stored(ctx, table)
	if err != nil {
		return nil, err
	}
	from, err := newTable(ctx, d.p, t)
	if err != nil {
		return nil, err
	}
	b.Raise = true
	x, err := lower.Lower(ctx, c.Default.Expr, b, (&target{table: from}).columns(nil))
	own := lower.Typed(lower.ReadColumn("x", def.store), c.Type)
	if err != nil || x.Type.Kind != own.Type.Kind || x.Type.Kind == lower.String {
		return nil, unsupported("Add the column without the DEFAULT, UPDATE the rows, and ALTER TABLE … ALTER COLUMN … SET DEFAULT.",
			"A new column whose default is computed from other columns, %s, is not supported.", c.Name)
	}
	return &filling{"CAST(" + x.SQL + " AS " + def.store + ")", b.Args()}, nil
}

// place inserts a column where order says, or at the end.
func (d *definition) place(c columnDef, order *sql.ColumnOrder) error {
	at := len(d.columns)
	if order != nil {
		at = 0
		if !order.First {
			if at = d.column(order.AfterColumn) + 1; at == 0 {
				return sql.ErrTableColumnNotFound.New(d.ref.Name, order.AfterColumn)
			}
		}
	}
	d.columns = append(d.columns[:at:at], append([]columnDef{c}, d.columns[at:]...)...)
	return nil
}

// dropColumn runs DROP COLUMN.
func (d *Database) dropColumn(ctx *sql.Context, table, column string) error {
	return d.alter(ctx, table, alteration{
		change: Change{Op: DropColumn, Column: column},
		apply: func(t *definition) error {
			i := t.column(column)
			switch {
			case i < 0:
				return sql.ErrTableColumnNotFound.New(table, column)
			case t.uses(column):
				return unsupported("Drop the key first.", "The column %s is part of a key.", column)
			case len(t.columns) == 1:
				return unsupported("Drop the table.", "The column %s is the only one of its table.", column)
			}
			if err := t.rests(column, true); err != nil {
				return err
			}
			t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
			t.unindex(column)
			return nil
		},
		native: func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " DROP COLUMN " + sqltext.StoreName(column)
		},
	})
}

// unindex takes a column out of the indexes; one without columns goes with it.
func (d *definition) unindex(column string) {
	var keys []keyDef
	for _, k := range d.keys {
		i := slices.IndexFunc(k.columns, func(c string) bool { return strings.EqualFold(c, column) })
		if i >= 0 {
			k.columns = slices.Concat(k.columns[:i], k.columns[i+1:])
			if k.lengths != nil {
				k.lengths = slices.Concat(k.lengths[:i], k.lengths[i+1:])
			}
		}
		if len(k.columns) > 0 {
			keys = append(keys, k)
		}
	}
	d.keys = keys
}

// renameColumn runs RENAME COLUMN.
func (d *Database) renameColumn(ctx *sql.Context, table, from, to string) error {
	return d.alter(ctx, table, alteration{
		change: Change{Op: RenameColumn, Column: from, To: to},
		apply: func(t *definition) error {
			i := t.column(from)
			if i < 0 {
				return sql.ErrTableColumnNotFound.New(table, from)
			}
			if j := t.column(to); j >= 0 && j != i {
				return sql.ErrColumnExists.New(to)
			}
			if err := t.rests(from, false); err != nil {
				return err
			}
			t.rename(i, to)
			return nil
		},
		native: func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " RENAME COLUMN " + sqltext.StoreName(from) + " TO " + sqltext.StoreName(to)
		},
	})
}

// rename gives a column a new name, also in the keys.
func (d *definition) rename(column int, to string) {
	from := d.columns[column].name
	d.columns[column].name = to
	for i, k := range d.keys {
		columns := append([]string{}, k.columns...)
		for j, c := range columns {
			if strings.EqualFold(c, from) {
				columns[j] = to
			}
		}
		d.keys[i].columns = columns
	}
}

// modifyColumn runs MODIFY COLUMN and CHANGE COLUMN.
func (d *Database) modifyColumn(ctx *sql.Context, table, column string, c *sql.Column, order *sql.ColumnOrder) error {
	if !strings.EqualFold(column, c.Name) {
		if err := d.p.checkAlter(ctx, d.ref(table), Change{Op: RenameColumn, Column: column, To: c.Name}); err != nil {
			return err
		}
	}
	next, err := newColumn(ctx, c)
	if err != nil {
		return err
	}
	if ofColumn(ctx, next.name) {
		return unsupported("Change the column, and then ALTER TABLE … ADD CHECK (…).", "A CHECK at a column that is changed is not supported.")
	}
	return d.alter(ctx, table, alteration{
		change: Change{Op: ModifyColumn, Column: column},
		reads:  true,
		apply: func(t *definition) error {
			i := t.column(column)
			if i < 0 {
				return sql.ErrTableColumnNotFound.New(table, column)
			}
			if j := t.column(next.name); j >= 0 && j != i {
				return sql.ErrColumnExists.New(next.name)
			}
			if !strings.EqualFold(column, next.name) {
				if err := t.rests(column, false); err != nil {
					return err
				}
			}
			if t.columns[i].meta.MySQL != next.meta.MySQL {
				for _, c := range t.checks {
					if contains(columnsIn(c.Text), column) {
						return unsupported("Drop the CHECK first, and add it again.", "The type of %s, which the CHECK %s is about, cannot be changed.", column, c.Name)
					}
				}
			}
			next.from, next.fill, next.filled = t.columns[i].from, t.columns[i].fill, t.columns[i].filled
			if n, ok := limitOf(c.Type); ok && next.from != "" && t.columns[i].store == "VARCHAR" {
				t.limits = append(t.limits, textLimit{next.from, n})
			}
			for _, k := range t.keys {
				if k.primary && t.uses(column) {
					next.nullable = next.nullable && !contains(k.columns, column)
				}
			}
			t.rename(i, next.name)
			if order == nil {
				t.columns[i] = next
				return t.checkSize()
			}
			t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
			if err := t.place(next, order); err != nil {
				return err
			}
			return t.checkSize()
		},
	})
}

func contains(columns []string, name string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
}

// setDefault runs ALTER COLUMN ... SET DEFAULT and DROP DEFAULT.
func (d *Database) setDefault(ctx *sql.Context, table, column string, value *sql.ColumnDefaultValue) error {
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn, Column: column}, meta: true, apply: func(t *definition) error {
		i := t.column(column)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(table, column)
		}
		var err error
		t.columns[i].meta.Default, err = defaultText(ctx, value, column)
		return err
	}})
}

// setComment runs ALTER TABLE ... COMMENT.
func (d *Database) setComment(ctx *sql.Context, table, comment string) error {
	return d.alter(ctx, table, alteration{meta: true, apply: func(t *definition) error {
		t.comment = comment
		return nil
	}})
}

// alterPrimaryKey runs ADD PRIMARY KEY and DROP PRIMARY KEY.
func (d *Database) alterPrimaryKey(ctx *sql.Context, table string, n *plan.AlterPK) error {
	if n.Action == plan.PrimaryKeyAction_Drop {
		return d.dropKey(ctx, table, primaryName)
	}
	k := keyDef{name: primaryName, primary: true}
	for _, c := range n.Columns {
		k.columns = append(k.columns, c.Name)
	}
	return d.addKey(ctx, table, k)
}

// textLimit is how many characters a text column may have from an alteration on.
type textLimit struct {
	column string // as it is named before
	length int64
}

// longestText is the length from which on texts are not measured: it is that of TEXT.
const longestText = 65535 / 4

// limitOf is the greatest length that a type gives a text; ok is false for other types.
func limitOf(t sql.Type) (n int64, ok bool) {
	text, isText := t.(sql.StringType)
	if !isText || !types.IsTextOnly(t) {
		return 0, false
	}
	n = text.MaxCharacterLength()
	return n, n < longestText
}

// checkLimits refuses an alteration where a stored text is longer than it will be allowed to be.
func (d *definition) checkLimits(ctx *sql.Context, s store.Session) error {
	for _, l := range d.limits {
		longer := false
		rows, err := s.Query(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE length(%s) > %d LIMIT 1", quote(d.ref), sqltext.StoreName(l.column), l.length))
		if err == nil {
			err = store.Each(rows, func([]any) error { longer = true; return nil })
		}
		switch {
		case err != nil:
			return classify(err, &d.ref)
		case longer:
			return types.ErrLengthBeyondLimit.New("", l.column)
		}
	}
	return nil
}
