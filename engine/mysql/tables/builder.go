package tables

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/engine/store"
)

// Builder runs definitions of stored tables. It is made the PriorityBuilder of the SQL engine's own
// builder, which asks it first about every node of a plan: go-mysql-server takes a definition apart
// into calls that the store cannot follow one by one, such as CREATE TABLE without its keys first.
type Builder struct {
	p    *Provider
	next sql.NodeExecBuilder
	// Whole is the SQL engine's builder, which asks this one; nil leaves it to go-mysql-server to
	// convert what is inserted.
	Whole sql.NodeExecBuilder
}

var _ sql.NodeExecBuilder = (*Builder)(nil)

// NewBuilder returns a Builder for the provider's tables. Nodes that are not its own it passes on
// to next, which may be nil.
func NewBuilder(p *Provider, next sql.NodeExecBuilder) *Builder { return &Builder{p: p, next: next} }

// Build implements sql.NodeExecBuilder: nil, nil leaves the node to the SQL engine.
func (b *Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if _, several := n.(*plan.Block); several && ctx.Value(alteredKey{}) == nil {
		w := &altered{}
		rows, err := rowexec.NewBuilder(b, sql.EngineOverrides{}).Build(ctx.WithContext(context.WithValue(ctx.Context, alteredKey{}, w)), n, row)
		if err == nil {
			err = w.run(ctx, b.p)
		}
		return rows, err
	}
	if copier, ok := n.(*plan.TableCopier); ok && b.Whole != nil {
		if create, ok := copier.Destination.(*plan.CreateTable); ok {
			if db, ok := stored(create.Db); ok {
				return b.selected(ctx, copier, create, db)
			}
		}
	}
	done, err := b.define(ctx, n)
	if err != nil {
		return nil, err
	}
	if done {
		return okResult(0, nil), nil
	}
	if insert, ok := n.(*plan.InsertInto); ok && b.Whole != nil {
		_, done := insert.Source.(*converted)
		if t, stored := destination(insert); stored && !done {
			changed := *insert
			changed.Source = &converted{plan.UnaryNode{Child: insert.Source}, t.schema, insert.Ignore}
			return b.Whole.Build(ctx, &changed, row)
		}
	}
	if b.next == nil {
		return nil, nil
	}
	return b.next.Build(ctx, n, row)
}

// define runs a definition; done is false for other nodes.
func (b *Builder) define(ctx *sql.Context, n sql.Node) (done bool, err error) {
	switch n := n.(type) {
	case *plan.CreateTable:
		if db, ok := stored(n.Db); ok {
			_, err := db.createTable(ctx, n)
			return true, err
		}
	case *plan.InsertInto:
		if t, ok := destination(n); ok {
			// The inserter asks again at the first row, but go-mysql-server wraps its errors.
			err := t.checkInsert(ctx)
			if err == nil && n.IsReplace {
				err = t.may(ctx, false, true, nil)
			}
			return false, err
		}
	case *plan.DropTable:
		return false, b.checkDrops(ctx, n.Tables)
	case *plan.RenameTable:
		if db, ok := stored(n.Db); ok {
			return false, db.checkRenames(ctx, n.OldNames, n.NewNames)
		}
	case *plan.AddColumn, *plan.DropColumn, *plan.RenameColumn, *plan.ModifyColumn, *plan.AlterDefaultSet, *plan.AlterDefaultDrop, *plan.AlterPK,
		*plan.AlterAutoIncrement, *plan.AlterTableComment, *plan.AlterTableCollation, *plan.CreateCheck, *plan.DropCheck:
		if db, ok := stored(n.(interface{ Database() sql.Database }).Database()); ok {
			return true, db.define(ctx, n)
		}
	case *plan.CreateTrigger, *plan.DropTrigger:
		return true, errTriggers
	}
	return false, nil
}

// define runs a clause of ALTER TABLE.
func (d *Database) define(ctx *sql.Context, n sql.Node) error {
	switch n := n.(type) {
	case *plan.AddColumn:
		return d.addColumn(ctx, tableName(n.Table), n.Column(), n.Order(ctx))
	case *plan.DropColumn:
		return d.dropColumn(ctx, tableName(n.Table), n.Column)
	case *plan.RenameColumn:
		return d.renameColumn(ctx, tableName(n.Table), n.ColumnName, n.NewColumnName)
	case *plan.ModifyColumn:
		return d.modifyColumn(ctx, tableName(n.Table), n.Column(), n.NewColumn(), n.Order(ctx))
	case *plan.AlterDefaultSet:
		return d.setDefault(ctx, tableName(n.Table), n.ColumnName, n.Default)
	case *plan.AlterDefaultDrop:
		return d.setDefault(ctx, tableName(n.Table), n.ColumnName, nil)
	case *plan.AlterPK:
		return d.alterPrimaryKey(ctx, tableName(n.Table), n)
	case *plan.AlterIndex:
		return d.alterIndex(ctx, n)
	case *plan.AlterAutoIncrement: // go-mysql-server looks for the column before the statement's other clauses
		return d.setFirst(ctx, tableName(n.Table), n.AutoVal)
	case *plan.AlterTableComment:
		return d.setComment(ctx, tableName(n.Table), n.Comment)
	case *plan.AlterTableCollation:
		return d.collate(ctx, tableName(n.Table), n.Collation)
	case *plan.CreateCheck:
		return d.addCheck(ctx, n)
	case *plan.DropCheck:
		return d.dropCheck(ctx, n.Table.Name(), n.Name)
	case *plan.CreateForeignKey:
		return d.addForeignKey(ctx, n.FkDef)
	case *plan.DropForeignKey:
		return d.alterForeign(ctx, n.Table, n.Name, "")
	case *plan.RenameForeignKey:
		return d.alterForeign(ctx, n.Table, n.OldName, n.NewName)
	}
	return unsupported("Send its parts as statements of their own.", "A clause of the ALTER TABLE is not supported.")
}

// clause is a clause of ALTER TABLE, or CREATE or DROP INDEX. It takes the place of
// go-mysql-server's node before its rules see that: they look for keys, lengths of texts and
// interfaces that the tables do not have.
type clause struct {
	leaf
	db *Database
	n  sql.Node
}

var _ sql.ExecSourceRel = (*clause)(nil)

// clauseOf returns the clause that stands for n, nil where its database is not a stored one.
func clauseOf(n sql.Node, in sql.Database) sql.Node {
	if db, ok := stored(in); ok {
		return &clause{leaf{name: "ALTER TABLE"}, db, n}
	}
	return nil
}

// WithChildren implements sql.Node.
func (c *clause) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(c, children...)
}

// RowIter implements sql.ExecSourceRel.
func (c *clause) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if err := c.db.define(ctx, c.n); err != nil {
		return nil, err
	}
	return okResult(0, nil), nil
}

// stored finds the stored database behind what go-mysql-server wraps around it.
func stored(db sql.Database) (*Database, bool) {
	if p, ok := db.(mysql_db.PrivilegedDatabase); ok {
		db = p.Unwrap()
	}
	d, ok := db.(*Database)
	return d, ok
}

// selected runs CREATE TABLE … SELECT. As in MySQL, a table whose rows fail is not there
// afterwards, and IF NOT EXISTS adds nothing to one that is there before.
func (b *Builder) selected(ctx *sql.Context, n *plan.TableCopier, create *plan.CreateTable, db *Database) (sql.RowIter, error) {
	if err := b.checkSources(ctx, n.Source); err != nil {
		return nil, err
	}
	if made, err := db.createTable(ctx, create); err != nil || !made {
		return okResult(0, nil), err
	}
	m := &made{drop: func(ctx *sql.Context) error {
		return db.p.definition(ctx.WithContext(context.WithoutCancel(ctx.Context)), []store.TableRef{db.ref(create.Name())}, "DROP TABLE "+quote(db.ref(create.Name())), nil)
	}}
	t, _, err := n.Database().GetTableInsensitive(ctx, create.Name())
	if err == nil {
		insert := plan.NewInsertInto(n.Database(), plan.NewResolvedTable(t, n.Database(), nil), n.Source, false, nil, nil, false)
		m.RowIter, err = b.Whole.Build(ctx, insert, nil)
	}
	if err != nil {
		return nil, errors.Join(err, m.drop(ctx))
	}
	return m, nil
}

// made inserts the rows of a table that CREATE TABLE … SELECT has made, and drops it unless they
// come to their end.
type made struct {
	sql.RowIter
	drop func(*sql.Context) error
	all  bool
}

var _ sql.MutableRowIter = (*made)(nil) // by which go-mysql-server counts the rows

// GetChildIter implements sql.MutableRowIter.
func (m *made) GetChildIter() sql.RowIter { return m.RowIter }

// WithChildIter implements sql.MutableRowIter.
func (m *made) WithChildIter(rows sql.RowIter) sql.RowIter {
	m.RowIter = rows
	return m
}

// Next implements sql.RowIter.
func (m *made) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := m.RowIter.Next(ctx)
	m.all = m.all || err == io.EOF
	return row, err
}

// Close implements sql.RowIter.
func (m *made) Close(ctx *sql.Context) error {
	err := m.RowIter.Close(ctx)
	if m.all && err == nil {
		return nil
	}
	if failed := m.drop(ctx); failed != nil {
		return failed
	}
	return err
}

// checkSources asks, before CREATE TABLE ... SELECT makes the table, for leave to read what it
// selects.
func (b *Builder) checkSources(ctx *sql.Context, source sql.Node) error {
	var denied error
	transform.InspectWithOpaque(ctx, source, func(ctx *sql.Context, n sql.Node) bool {
		if t, ok := storedTable(n); ok && denied == nil {
			denied = b.p.access.CheckRead(ctx, t.def.Ref)
		}
		return denied == nil
	})
	return denied
}

// destination returns the stored table that an INSERT is about.
func destination(n *plan.InsertInto) (t *Table, ok bool) {
	transform.Inspect(n.Destination, func(n sql.Node) bool {
		if found, isStored := storedTable(n); isStored {
			t, ok = found, true
		}
		return !ok
	})
	return t, ok
}

func storedTable(n sql.Node) (*Table, bool) {
	rt, ok := n.(*plan.ResolvedTable)
	if !ok {
		return nil, false
	}
	return asTable(rt.Table)
}

// tableName returns the name of the table that an ALTER TABLE is about.
func tableName(n sql.Node) string {
	if named, ok := n.(sql.Nameable); ok {
		return named.Name()
	}
	return ""
}
