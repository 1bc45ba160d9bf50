package tables

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/engine/virtual"
	"scrim/planner/lower"
)

// checkChange asks for leave to run an UPDATE or DELETE, whose count of rows is an exact answer
// about the rows there are (see the package documentation).
func (t *Table) checkChange(ctx *sql.Context) error {
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return sql.ErrReadOnlyTransaction.New()
	}
	if err := t.p.access.CheckWrite(ctx, t.def.Ref); err != nil {
		return err
	}
	return t.p.access.CheckRead(ctx, t.def.Ref)
}

// remove is a DELETE that runs as one statement in the store.
type remove struct {
	leaf
	*target
}

var _ sql.ExecSourceRel = (*remove)(nil)

// newDelete returns the node that stands for a DELETE from a stored table, nil for other tables.
func newDelete(ctx *sql.Context, n *plan.DeleteFrom) (sql.Node, error) {
	t, err := targetOf(ctx, "DELETE", n.Child)
	if err != nil || t == nil {
		return nil, err
	}
	if len(n.Returning) > 0 {
		return nil, unsupported("Leave RETURNING out.", "DELETE ... RETURNING is not supported.")
	}
	return &remove{leaf: leaf{name: "DELETE FROM " + t.table.def.Ref.String()}, target: t}, nil
}

// WithChildren implements sql.Node.
func (r *remove) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(r, children...)
}

// RowIter implements sql.ExecSourceRel.
func (r *remove) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if err := r.table.checkChange(ctx); err != nil {
		return nil, err
	}
	var n int64
	err := r.table.atOnce(ctx, func(s store.Session) error {
		b := lower.Binder{Raise: true}
		where, err := r.condition(ctx, &b)
		if err != nil {
			return err
		}
		ref := r.table.def.Ref
		n, err = s.Write(ctx, []store.TableRef{ref}, "DELETE FROM "+quote(ref)+" WHERE "+where, b.Args()...)
		return classify(err, &ref)
	})
	if err != nil {
		return nil, err
	}
	return okResult(n, nil), nil
}

// atOnce runs f in the client's transaction, or in one of its own.
func (t *Table) atOnce(ctx *sql.Context, f func(store.Session) error) error {
	e := &editor{t: t}
	s, err := e.begin(ctx)
	if err == nil {
		err = f(s)
	}
	if err != nil {
		return e.undo(ctx, err)
	}
	return e.StatementComplete(ctx)
}

// leaf is what the package's statement nodes have in common: they have no children and return an
// OK.
type leaf struct {
	virtual.Leaf
	name string
}

// IsReadOnly implements sql.Node.
func (leaf) IsReadOnly() bool { return false }

// Schema implements sql.Node.
func (leaf) Schema(*sql.Context) sql.Schema { return types.OkResultSchema }

// String implements sql.Node.
func (l leaf) String() string { return l.name }

// okResult is the one row of a statement that returns no rows.
func okResult(affected int64, info fmt.Stringer) sql.RowIter {
	return sql.RowsToRowIter(sql.NewRow(types.OkResult{RowsAffected: uint64(affected), Info: info}))
}
