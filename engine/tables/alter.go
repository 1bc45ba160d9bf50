package tables

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// alteration is one ALTER TABLE clause: what is asked first, how the definition changes, and
// whether the store can do it in place.
type alteration struct {
	change Change
	// its success tells something of the rows (see the package documentation)
	reads  bool
	apply  func(*definition) error // changes the definition
	native func(*definition) string
}

// alter runs one clause in a transaction of its own. Native SQL is used where there is one and the
// table has no keys, on which the store cannot build; otherwise the table is rebuilt.
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
	t, err := d.stored(ctx, name)
	if err != nil {
		return err
	}
	if t.View {
		return unsupported("Alter the table that it is a view of.", "The view %s cannot be altered.", ref)
	}
	def := definitionOf(t)
	if err := a.apply(def); err != nil {
		return err
	}
	return d.p.atomically(ctx, func(s store.Session) error {
		if err := def.checkLimits(ctx, s); err != nil {
			return err
		}
		if a.native == nil || len(def.keys) > 0 {
			return def.rebuild(ctx, s)
		}
		if statement := a.native(def); statement != "" {
			if _, err := s.Write(ctx, []store.TableRef{ref}, statement); err != nil {
				return classify(err, &ref)
			}
		}
		return def.writeMeta(ctx, s)
	})
}

// onlyMeta is an alteration that the store's own definition is not touched by.
func (d *Database) onlyMeta(ctx *sql.Context, name string, change Change, apply func(*definition) error) error {
	ref := d.ref(name)
	if err := d.p.checkAlter(ctx, ref, change); err != nil {
		return err
	}
	t, err := d.stored(ctx, name)
	if err != nil {
		return err
	}
	def := definitionOf(t)
	if err := apply(def); err != nil {
		return err
	}
	return d.p.atomically(ctx, func(s store.Session) error { return def.writeMeta(ctx, s) })
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
	switch {
	case c.Default != nil:
		fill, err = c.Default.Eval(ctx, nil)
	case !c.Nullable:
		fill = c.Type.Zero()
	}
	if err != nil {
		return err
	}
	def.fill, err = writeValue(ctx, fill, c.Type, store.Column{Name: def.name, Type: def.store})
	if err != nil {
		return err
	}
	a := alteration{change: Change{Op: AddColumn, Column: c.Name}}
	a.apply = func(t *definition) error {
		if t.column(c.Name) >= 0 {
			return sql.ErrColumnExists.New(c.Name)
		}
		return t.place(def, order)
	}
	if def.nullable && def.fill == nil && order == nil {
		a.native = func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " ADD COLUMN " + sqltext.StoreName(def.name) + " " + def.store
		}
	}
	return d.alter(ctx, table, a)
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
			t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
			return nil
		},
		native: func(*definition) string {
			return "ALTER TABLE " + quote(d.ref(table)) + " DROP COLUMN " + sqltext.StoreName(column)
		},
	})
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
			next.from = t.columns[i].from
			if n, ok := limitOf(c.Type); ok && t.columns[i].store == "VARCHAR" {
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
				return nil
			}
			t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
			return t.place(next, order)
		},
	})
}

func contains(columns []string, name string) bool {
	for _, c := range columns {
		if strings.EqualFold(c, name) {
			return true
		}
	}
	return false
}

// setDefault runs ALTER COLUMN ... SET DEFAULT and DROP DEFAULT.
func (d *Database) setDefault(ctx *sql.Context, table, column string, value *sql.ColumnDefaultValue) error {
	return d.onlyMeta(ctx, table, Change{Op: ModifyColumn, Column: column}, func(t *definition) error {
		i := t.column(column)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(table, column)
		}
		t.columns[i].meta.Default = ""
		if value != nil {
			t.columns[i].meta.Default = defaultText(value)
		}
		return nil
	})
}

// setComment runs ALTER TABLE ... COMMENT.
func (d *Database) setComment(ctx *sql.Context, table, comment string) error {
	ref := d.ref(table)
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	t, err := d.stored(ctx, table)
	if err != nil {
		return err
	}
	def := definitionOf(t)
	def.comment = comment
	return d.p.atomically(ctx, func(s store.Session) error { return def.writeMeta(ctx, s) })
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
