package tables

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"
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
	done, err := b.define(ctx, n)
	if err != nil {
		return nil, err
	}
	if done {
		return okResult(0, nil), nil
	}
	if insert, ok := n.(*plan.InsertInto); ok && b.Whole != nil && !insert.Ignore {
		_, strict := insert.Source.(*converted)
		if t, stored := destination(insert); stored && !strict {
			changed := *insert
			changed.Source = &converted{plan.UnaryNode{Child: insert.Source}, t.schema}
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
			return true, db.createTable(ctx, n)
		}
	case *plan.InsertInto:
		if t, ok := destination(n); ok {
			// The inserter asks again at the first row, but go-mysql-server wraps its errors.
			return false, t.checkInsert(ctx)
		}
	case *plan.TableCopier:
		return false, b.checkSources(ctx, n.Source)
	case *plan.RenameTable:
		if db, ok := stored(n.Db); ok {
			return false, db.checkRenames(ctx, n.OldNames, n.NewNames)
		}
	case *plan.AddColumn:
		if db, ok := stored(n.Db); ok {
			return true, db.addColumn(ctx, tableName(n.Table), n.Column(), n.Order(ctx))
		}
	case *plan.DropColumn:
		if db, ok := stored(n.Db); ok {
			return true, db.dropColumn(ctx, tableName(n.Table), n.Column)
		}
	case *plan.RenameColumn:
		if db, ok := stored(n.Db); ok {
			return true, db.renameColumn(ctx, tableName(n.Table), n.ColumnName, n.NewColumnName)
		}
	case *plan.ModifyColumn:
		if db, ok := stored(n.Db); ok {
			return true, db.modifyColumn(ctx, tableName(n.Table), n.Column(), n.NewColumn(), n.Order(ctx))
		}
	case *plan.AlterDefaultSet:
		if db, ok := stored(n.Db); ok {
			return true, db.setDefault(ctx, tableName(n.Table), n.ColumnName, n.Default)
		}
	case *plan.AlterDefaultDrop:
		if db, ok := stored(n.Db); ok {
			return true, db.setDefault(ctx, tableName(n.Table), n.ColumnName, nil)
		}
	case *plan.AlterPK:
		if db, ok := stored(n.Db); ok {
			return true, db.alterPrimaryKey(ctx, tableName(n.Table), n)
		}
	case *plan.AlterTableComment:
		if db, ok := stored(n.Db); ok {
			return true, db.setComment(ctx, tableName(n.Table), n.Comment)
		}
	case *plan.CreateCheck:
		if db, ok := stored(n.Table.Database()); ok {
			return true, db.addCheck(ctx, n)
		}
	case *plan.DropCheck:
		if db, ok := stored(n.Table.Database()); ok {
			return true, db.dropCheck(ctx, n.Table.Name(), n.Name)
		}
	case *plan.CreateTrigger, *plan.DropTrigger:
		return true, errTriggers
	case *plan.ShowCreateTable:
		if t, ok := storedTable(n.Child); ok {
			n.Indexes = t.indexes()
		}
	case *plan.ShowIndexes:
		if t, ok := storedTable(n.Child); ok {
			n.IndexesToShow = t.indexes()
		}
	}
	return false, nil
}

// stored finds the stored database behind what go-mysql-server wraps around it.
func stored(db sql.Database) (*Database, bool) {
	if p, ok := db.(mysql_db.PrivilegedDatabase); ok {
		db = p.Unwrap()
	}
	d, ok := db.(*Database)
	return d, ok
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
