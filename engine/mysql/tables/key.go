package tables

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// alterIndex is CREATE INDEX, DROP INDEX or an index clause of ALTER TABLE. It takes the place of
// go-mysql-server's node early, because that one is checked against sql.IndexAddressable, which the
// tables are not.
type alterIndex struct {
	leaf
	db *Database
	n  *plan.AlterIndex
}

var _ sql.ExecSourceRel = (*alterIndex)(nil)

// newAlterIndex returns the node that stands for n, nil when its table is not a stored one.
func newAlterIndex(n *plan.AlterIndex) sql.Node {
	db, ok := stored(n.Db)
	if !ok {
		return nil
	}
	return &alterIndex{leaf: leaf{name: "ALTER INDEX ON " + n.Table.Name()}, db: db, n: n}
}

// alterPrimary is ADD PRIMARY KEY, which go-mysql-server would refuse for the texts of imported
// tables, whose length nobody has said.
type alterPrimary struct {
	leaf
	db    *Database
	table string
	n     *plan.AlterPK
}

var _ sql.ExecSourceRel = (*alterPrimary)(nil)

// newAlterPrimary returns the node that stands for n, nil when its table is not a stored one.
func newAlterPrimary(n *plan.AlterPK) sql.Node {
	db, ok := stored(n.Db)
	if !ok || n.Action != plan.PrimaryKeyAction_Create {
		return nil
	}
	table := tableName(n.Table)
	return &alterPrimary{leaf: leaf{name: "ADD PRIMARY KEY TO " + table}, db: db, table: table, n: n}
}

// WithChildren implements sql.Node.
func (a *alterPrimary) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(a, children...)
}

// RowIter implements sql.ExecSourceRel.
func (a *alterPrimary) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if err := a.db.alterPrimaryKey(ctx, a.table, a.n); err != nil {
		return nil, err
	}
	return okResult(0, nil), nil
}

// WithChildren implements sql.Node.
func (a *alterIndex) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(a, children...)
}

// RowIter implements sql.ExecSourceRel.
func (a *alterIndex) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return okResult(0, nil), nil
}

func (a *alterIndex) run(ctx *sql.Context) error {
	table := a.n.Table.Name()
	switch a.n.Action {
	case plan.IndexAction_Create:
		if err := a.db.p.access.CheckDDL(ctx, a.db.ref(table)); err != nil {
			return err
		}
		k, err := newKey(a.n.IndexName, a.n.Constraint, a.n.Columns, a.n.Comment)
		if err != nil {
			return err
		}
		return a.db.addKey(ctx, table, k)
	case plan.IndexAction_Drop:
		err := a.db.dropKey(ctx, table, a.n.IndexName)
		if a.n.IfExists && sql.ErrCantDropFieldOrKey.Is(err) {
			return nil
		}
		return err
	case plan.IndexAction_Rename:
		return a.db.renameKey(ctx, table, a.n.PreviousIndexName, a.n.IndexName)
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
			if err := t.addKey(k); err != nil {
				return err
			}
			t.nameKeys(nil)
			if k.plain {
				return nil
			}
			for _, name := range k.columns {
				i := t.column(name)
				if k.primary {
					t.columns[i].nullable = false
				}
				if c := &t.columns[i]; c.store == "VARCHAR" && c.meta.MySQL == "" {
					c.meta.MySQL = fmt.Sprintf("varchar(%d)", longestKey) // an imported text
					t.limits = append(t.limits, textLimit{c.from, longestKey})
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
			t.keys = append(t.keys[:i:i], t.keys[i+1:]...)
			for _, c := range t.columns {
				if c.meta.Auto && t.keyOf(c.name) == "" {
					return unsupported("MODIFY the column without AUTO_INCREMENT first.",
						"The AUTO_INCREMENT column %s must be a key.", c.name)
				}
			}
			return nil
		},
	})
}
