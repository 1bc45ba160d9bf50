package tables

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// numbered is what stands for n, ADD or MODIFY COLUMN of c, where that or another column of the
// schema is AUTO_INCREMENT. The definition says which keys it has to have, once all clauses of the
// statement have changed it.
func numbered(n sql.SchemaTarget, in sql.Database, c *sql.Column, schema sql.Schema) (sql.Node, error) {
	r := clauseOf(n.(sql.Node), in)
	switch {
	case r == nil:
		return n.(sql.Node), nil
	case c.AutoIncrement && c.Default != nil:
		return nil, mysql.NewSQLError(mysql.ERInvalidDefault, "42000", "Invalid default value for '%s'", c.Name)
	case c.AutoIncrement && !types.IsInteger(c.Type):
		return nil, mysql.NewSQLError(1063, "42000", "Incorrect column specifier for column '%s'", c.Name)
	case c.AutoIncrement:
		return r, nil
	}
	plain := schema.Copy()
	for _, o := range plain {
		o.AutoIncrement = false
	}
	return n.WithTargetSchema(plain)
}

// checkNumbered refuses what MySQL has no AUTO_INCREMENT columns of.
func (d *definition) checkNumbered() error {
	n := 0
	for _, c := range d.columns {
		if !c.meta.Auto {
			continue
		}
		if n++; n > 1 || !slices.ContainsFunc(d.keys, func(k keyDef) bool { return contains(k.columns[:1], c.name) }) {
			return mysql.NewSQLError(mysql.ERWrongAutoKey, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key")
		}
	}
	return nil
}

// dropsFirst puts the keys that the clauses of an ALTER TABLE drop before those that they add.
func dropsFirst(ctx *sql.Context, n *plan.Block) (sql.Node, transform.TreeIdentity, error) {
	drops := func(n sql.Node) int {
		if c, ok := n.(*clause); ok {
			n = c.n
		}
		switch n := n.(type) {
		case *plan.AlterIndex:
			if n.Action == plan.IndexAction_Drop {
				return 0
			}
		case *plan.AlterPK:
			if n.Action == plan.PrimaryKeyAction_Drop {
				return 0
			}
		}
		return 1
	}
	order := func(a, b sql.Node) int { return drops(a) - drops(b) }
	if slices.IsSortedFunc(n.Children(), order) {
		return n, transform.SameTree, nil
	}
	clauses := slices.Clone(n.Children())
	slices.SortStableFunc(clauses, order)
	r, err := n.WithChildren(ctx, clauses...)
	return r, transform.NewTree, err
}

// alterIndex runs CREATE INDEX, DROP INDEX or an index clause of ALTER TABLE.
func (d *Database) alterIndex(ctx *sql.Context, n *plan.AlterIndex) error {
	table := n.Table.Name()
	switch n.Action {
	case plan.IndexAction_Create:
		if err := d.p.access.CheckDDL(ctx, d.ref(table)); err != nil {
			return err
		}
		parts := declaredParts(ctx)
		declared := &parts
		if w, several := ctx.Value(alteredKey{}).(*altered); several {
			if w.parts == nil {
				w.parts = declared
			}
			declared = w.parts
		}
		k, err := newKey(ctx, declared, n.IndexName, n.Constraint, n.Columns, n.Comment)
		if err != nil {
			return err
		}
		return d.addKey(ctx, table, k)
	case plan.IndexAction_Drop:
		err := d.dropKey(ctx, table, n.IndexName)
		if n.IfExists && sql.ErrCantDropFieldOrKey.Is(err) {
			return nil
		}
		return err
	case plan.IndexAction_Rename:
		return d.renameKey(ctx, table, n.PreviousIndexName, n.IndexName)
	}
	return nil // DISABLE KEYS and ENABLE KEYS: there is nothing to switch
}

// renameKey runs RENAME INDEX.
func (d *Database) renameKey(ctx *sql.Context, table, from, to string) error {
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error {
		i := t.key(from)
		if i < 0 || t.keys[i].primary {
			return sql.ErrCantDropFieldOrKey.New(from)
		}
		if j := t.key(to); j >= 0 && j != i {
			return sql.ErrDuplicateKey.New(to)
		}
		if len(to) > sql.MaxIdentifierLength {
			return sql.ErrInvalidIdentifier.New(to)
		}
		t.keys[i].name = to
		return nil
	}})
}

// longestKey is the length of the longest text that MySQL takes into a key: 3072 bytes, 4 each.
const longestKey = 768

// addKey rebuilds the table with one more key, or notes an index, which tells nothing of the rows.
func (d *Database) addKey(ctx *sql.Context, table string, k keyDef) error {
	return d.alter(ctx, table, alteration{
		change: Change{Op: AddKey, Columns: k.columns},
		reads:  !k.plain,
		meta:   k.plain,
		apply: func(t *definition) error {
			if k.primary && t.key(primaryName) >= 0 {
				return sql.ErrMultiplePrimaryKeysDefined.New()
			}
			if err := t.addKey(ctx, d.p, k); err != nil {
				return err
			}
			t.nameKeys(nil)
			t.covered(t.keys[len(t.keys)-1])
			if err := t.generate(); err != nil {
				return err
			}
			if k.plain {
				return nil
			}
			for _, name := range k.columns {
				i := t.column(name)
				if i < 0 {
					continue
				}
				if k.primary {
					t.columns[i].nullable = false
				}
				if c := &t.columns[i]; c.store == "VARCHAR" && c.meta.MySQL == "" {
					c.meta.MySQL = fmt.Sprintf("varchar(%d)", longestKey) // an imported text
					t.limits = append(t.limits, textLimit{column: c.from, length: longestKey})
				}
			}
			return nil
		},
	})
}

// dropKey rebuilds the table without a key, or forgets an index.
func (d *Database) dropKey(ctx *sql.Context, table, name string) error {
	def, err := d.current(ctx, table)
	if err != nil {
		return err
	}
	i := def.key(name)
	if i < 0 {
		return sql.ErrCantDropFieldOrKey.New(name)
	}
	change := Change{Op: DropKey, Columns: def.keys[i].columns}
	if def.keys[i].plain {
		change = Change{Op: ModifyColumn}
	}
	return d.alter(ctx, table, alteration{
		change: change,
		meta:   def.keys[i].plain,
		apply: func(t *definition) error {
			dropped := t.keys[i].stored
			t.keys = append(t.keys[:i:i], t.keys[i+1:]...)
			t.columns = slices.DeleteFunc(slices.Clone(t.columns), func(c columnDef) bool { return c.hidden && contains(dropped, c.name) })
			return nil
		},
	})
}
