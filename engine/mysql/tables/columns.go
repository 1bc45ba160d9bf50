package tables

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// addColumn runs ADD COLUMN. The rows that are there get the default, evaluated once, or for a
// column that is NOT NULL without one the type's zero, as in MySQL.
func (d *Database) addColumn(ctx *sql.Context, table string, c *sql.Column, order *sql.ColumnOrder) error {
	now, err := d.current(ctx, table)
	if err != nil {
		return err
	}
	def, err := newColumn(ctx, c, now.collation)
	if err != nil {
		return err
	}
	var fill any
	var b lower.Binder
	switch {
	case c.Default != nil && len(columnsIn(c.Default.String())) > 0:
		probe := *now
		probe.columns = slices.Clone(now.columns)
		if err = probe.place(def, order); err == nil {
			err = probe.defaults()
		}
		if err != nil {
			return err
		}
		def.filled, err = d.filled(ctx, table, c, def, &b)
	case c.Default != nil:
		fill, err = c.Default.Eval(ctx, nil)
	case c.Generated != nil:
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
	checks := ofColumn(ctx, c.Name)
	a := alteration{change: Change{Op: AddColumn, Column: c.Name}, after: d.p.checked(ctx, len(checks)), reads: len(checks) > 0 || c.PrimaryKey || c.AutoIncrement || def.formula != nil || def.filled != nil || !def.nullable && def.fill == nil}
	a.apply = func(t *definition) error {
		if t.column(c.Name) >= 0 {
			return sql.ErrColumnExists.New(c.Name)
		}
		if c.AutoIncrement {
			def.filled = t.numbers(def.store)
		}
		if err := t.place(def, order); err != nil {
			return err
		}
		if err := t.addChecks(checks); err != nil {
			return err
		}
		if c.PrimaryKey {
			if t.key(primaryName) >= 0 {
				return sql.ErrMultiplePrimaryKeysDefined.New()
			}
			if err := t.addKey(ctx, d.p, keyDef{name: primaryName, primary: true, columns: []string{def.name}}); err != nil {
				return err
			}
		}
		if err := t.generate(); err != nil {
			return err
		}
		return t.checkSize()
	}
	if !c.PrimaryKey && !c.AutoIncrement && def.formula == nil && def.nullable && def.fill == nil && def.filled == nil && order == nil {
		a.native = func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " ADD COLUMN " + sqltext.StoreName(def.name) + " " + def.store
		}
	}
	return d.alter(ctx, table, a)
}

// numbers are the values of a new AUTO_INCREMENT column: the rows are numbered in the order of
// their primary key, or else in that in which they are stored.
func (d *definition) numbers(kind string) *filling {
	order := "rowid"
	if i := d.key(primaryName); i >= 0 && d.keys[i].exprs == nil {
		var columns []string
		for _, name := range d.keys[i].columns {
			if c := d.columns[d.column(name)]; c.from != "" {
				columns = append(columns, c.from)
			}
		}
		if len(columns) > 0 {
			order = sqltext.StoreNames(columns)
		}
	}
	return &filling{sql: "CAST(row_number() OVER (ORDER BY " + order + ") AS " + kind + ")"}
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
	at := d.visible()
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
			case t.visible() == 1:
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
			if k.exprs != nil {
				k.exprs = slices.Concat(k.exprs[:i], k.exprs[i+1:])
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
	if from == to {
		return
	}
	for i, k := range d.keys {
		columns := append([]string{}, k.columns...)
		for j, c := range columns {
			if strings.EqualFold(c, from) {
				columns[j] = to
			}
		}
		if d.keys[i].columns = columns; k.stored != nil {
			d.keys[i].stored = slices.Clone(k.stored)
			for j, c := range columns {
				if strings.EqualFold(k.stored[j], from) {
					d.keys[i].stored[j] = c
				}
			}
		}
	}
	d.renames = append(d.renames, [2]string{from, to})
	last := &definition{renames: d.renames[len(d.renames)-1:]}
	for i, k := range d.foreign {
		d.foreign[i].Columns = last.renamedIn(k.Columns)
		if k.Parent == d.ref.Name {
			d.foreign[i].Referenced = last.renamedIn(k.Referenced)
		}
	}
}

// modifyColumn runs MODIFY COLUMN and CHANGE COLUMN.
func (d *Database) modifyColumn(ctx *sql.Context, table, column string, c *sql.Column, order *sql.ColumnOrder) error {
	if !strings.EqualFold(column, c.Name) {
		if err := d.p.checkAlter(ctx, d.ref(table), Change{Op: RenameColumn, Column: column, To: c.Name}); err != nil {
			return err
		}
	}
	now, err := d.current(ctx, table)
	if err != nil {
		return err
	}
	next, err := newColumn(ctx, c, now.collation)
	if err != nil {
		return err
	}
	checks := ofColumn(ctx, next.name)
	return d.alter(ctx, table, alteration{
		change: Change{Op: ModifyColumn, Column: column, Collation: next.collation()},
		reads:  true,
		after:  d.p.checked(ctx, len(checks)),
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
			was, changes := t.columns[i].meta, next.formula != nil || t.columns[i].store != next.store
			switch {
			case (was.Generated != "" || next.formula != nil) && was.Virtual != next.meta.Virtual:
				return unsupportedGenerated("Changing the STORED status")
			case was.MySQL != next.meta.MySQL:
				changes = true
				if err := t.mayRetype(column); err != nil {
					return err
				}
			}
			next.from, next.fill, next.filled = t.columns[i].from, t.columns[i].fill, t.columns[i].filled
			if n, ok := limitOf(c.Type); ok && next.from != "" && t.columns[i].store == "VARCHAR" {
				t.limits = append(t.limits, textLimit{column: next.from, length: n})
			}
			if members := membersOf(c.Type); members != nil && next.from != "" && was.MySQL != next.meta.MySQL {
				if t.columns[i].store != "VARCHAR" {
					return unsupported("Add a column of the new type, and UPDATE it.", "Changing the column %s from a number into an ENUM or SET is not supported.", column)
				}
				t.limits = append(t.limits, textLimit{column: next.from, members: members, several: types.IsSet(c.Type)})
			}
			t.limitCharset(next)
			for _, k := range t.keys {
				if k.primary && t.uses(column) {
					next.nullable = next.nullable && !contains(k.columns, column)
				}
				for j, c := range k.columns {
					if !strings.EqualFold(c, column) || was.MySQL == next.meta.MySQL || k.lengths != nil && k.lengths[j] > 0 {
						continue
					}
					if _, err := next.keyPart(0); err != nil {
						return err
					}
				}
			}
			t.rename(i, next.name)
			if order == nil {
				t.columns[i] = next
			} else {
				t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
				if err := t.place(next, order); err != nil {
					return err
				}
			}
			if err := t.addChecks(checks); err != nil {
				return err
			}
			if err := t.generate(); err != nil {
				return err
			}
			if !changes {
				return t.checkSize()
			}
			if err := d.retyped(ctx, t, next.name); err != nil {
				return err
			}
			return t.checkSize()
		},
	})
}

// retyped makes what follows from a column anew, whose values or type change.
func (d *Database) retyped(ctx *sql.Context, t *definition, column string) error {
	if err := t.rehide(column); err != nil {
		return err
	}
	for _, name := range t.recompute(column) {
		if err := d.p.checkAlter(ctx, t.ref, Change{Op: ModifyColumn, Column: name}); err != nil {
			return err
		}
	}
	return nil
}

// mayRetype refuses a change of the type of a column that indexes and CHECKs compute with.
func (d *definition) mayRetype(column string) error {
	for _, k := range d.keys {
		if slices.ContainsFunc(k.exprs, func(e string) bool { return !k.plain && contains(columnsIn(e), column) }) {
			return unsupported("Drop the index first, and add it again.", "The type of %s, which the index %s is about, cannot be changed.", column, k.name)
		}
	}
	for _, c := range d.checks {
		if contains(columnsIn(c.Text), column) {
			return unsupported("Drop the CHECK first, and add it again.", "The type of %s, which the CHECK %s is about, cannot be changed.", column, c.Name)
		}
	}
	return nil
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
		if t.columns[i].meta.Generated != "" {
			return mysql.NewSQLError(1221, "HY000", "Incorrect usage of DEFAULT and generated column")
		}
		if t.columns[i].meta.Default, err = defaultText(ctx, value, column); err != nil {
			return err
		}
		return t.defaults()
	}})
}
