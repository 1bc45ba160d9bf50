package tables

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/virtual"
	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/quota"
	"scrim/planner/lower"
)

// update is an UPDATE with the rows and the values of a SELECT.
type update struct {
	leaf
	*target
	set []assignment
}

// assignment is one column = value; a nil value is NULL.
type assignment struct {
	column  int
	value   sql.Expression
	guarded sql.Expression // the value as go-mysql-server evaluates it
	derived bool           // by ON UPDATE: made when another column changes
	last    bool           // of those to the column
}

var _ sql.ExecSourceRel = (*update)(nil)

// newUpdate returns the node that stands for an UPDATE of a stored table, nil for other tables.
func newUpdate(ctx *sql.Context, n *plan.Update) (sql.Node, error) {
	source, ok := n.Child.(*plan.UpdateSource)
	if !ok {
		return nil, nil
	}
	t, err := targetOf(ctx, "UPDATE", source.Child)
	if err != nil || t == nil {
		return nil, err
	}
	if n.Ignore || len(n.Returning) > 0 {
		return nil, unsupported("Leave IGNORE and RETURNING out.", "UPDATE IGNORE and UPDATE ... RETURNING are not supported.")
	}
	t.table = t.table.withChecks(ctx, n.Checks())
	u := &update{leaf: leaf{name: "UPDATE " + t.table.def.Ref.String()}, target: t}
	explicit := len(source.UpdateExprs.ExplicitUpdateExprs())
	for i, e := range source.UpdateExprs.AllExpressions() {
		s, ok := e.(*expression.SetField)
		if !ok {
			return nil, unsupported("Assign to columns.", "The assignment %s is not supported.", e.String())
		}
		field, ok := s.LeftChild.(*expression.GetField)
		if !ok {
			return nil, unsupported("Assign to columns.", "The assignment %s is not supported.", e.String())
		}
		column := t.table.schema.IndexOfColName(field.Name())
		if column < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.table.Name(), field.Name())
		}
		if err := refuseSubqueries(ctx, "UPDATE", []sql.Expression{s.RightChild}); err != nil {
			return nil, err
		}
		value := s.RightChild
		if isVector(t.table.def.Columns[column]) {
			value = jsonOf(value)
		}
		if w, ok := value.(*expression.Wrapper); ok { // column = DEFAULT
			value = w.Unwrap()
		}
		if d, ok := value.(*sql.ColumnDefaultValue); ok && (d == nil || d.Expr == nil) {
			value = nil
		} else if value != nil {
			value = t.indexed(ctx, value)
		}
		guarded := value
		if value != nil {
			if guarded, err = standard.Guarded(ctx, value); err != nil {
				return nil, err
			}
		}
		u.set = append(u.set, assignment{column: column, value: value, guarded: guarded, derived: i >= explicit, last: true})
		for j := range u.set[:i] {
			u.set[j].last = u.set[j].last && u.set[j].column != column
		}
	}
	return u, nil
}

// WithChildren implements sql.Node.
func (u *update) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(u, children...)
}

// RowIter implements sql.ExecSourceRel.
func (u *update) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if err := u.table.checkChange(ctx); err != nil {
		return nil, err
	}
	var matched int
	var changed [][]any
	err := u.table.atOnce(ctx, func(s store.Session) error {
		b := lower.Binder{Raise: true}
		where, err := u.condition(ctx, &b)
		if err != nil {
			return err
		}
		q, schema, at := u.values(ctx, &b)
		err = each(ctx, newRows(q+" WHERE "+where, b.Args(), schema), func(row sql.Row) error {
			matched++
			tuple, err := u.assigned(ctx, row, at, matched)
			if err != nil || tuple == nil {
				return err
			}
			changed = append(changed, tuple)
			return quota.Of(ctx).Take(quota.Row(tuple))
		})
		columns := []string{"rowid"}
		for _, a := range u.set {
			if a.last {
				columns = append(columns, u.table.def.Columns[a.column].Name)
			}
		}
		if err == nil {
			err = s.Change(ctx, u.table.def.Ref, columns, changed)
		}
		return classify(err, &u.table.def.Ref)
	})
	if err != nil {
		return nil, err
	}
	affected := len(changed)
	if ctx.Client().Capabilities&mysql.CapabilityClientFoundRows != 0 {
		affected = matched
	}
	return okResult(int64(affected), plan.UpdateInfo{Matched: matched, Updated: len(changed)}), nil
}

// values is a SELECT of the table's columns, of the rows' numbers, and of the values that
// translate, by their assignments at the places returned. A text column gets text from the store.
func (u *update) values(ctx *sql.Context, b *lower.Binder) (q string, schema sql.Schema, at map[int]int) {
	numbered, more, assigned := u.table.numbered(), []string(nil), []int(nil)
	schema, at = numbered.schema, map[int]int{}
	for i, a := range u.set {
		if _, constant := a.value.(*expression.Literal); a.value != nil && !constant && !lower.MayExceed(ctx, a.value) {
			x, err := lower.Lower(ctx, a.value, b, u.columns(assigned))
			if k := x.Type.Kind; types.IsText(u.table.schema[a.column].Type) && k != lower.Time && k != lower.JSON && k != lower.Array && k != lower.Bytes {
				x = lower.Convert(x, lower.Type{Kind: lower.String})
			}
			t, errType := x.Type.SQLType()
			if err == nil && errType == nil {
				at[i], schema, more = len(schema), append(schema, &sql.Column{Type: t}), append(more, x.SQL)
			}
		}
		assigned = append(assigned, a.column)
	}
	return numbered.selectSQL(numbered.ordinals, more...), schema, at
}

// assigned returns the store's number of a row and what is written into the column of each
// assignment, nil where no value changes. As in MySQL an assignment sees the values of those before
// it.
func (u *update) assigned(ctx *sql.Context, row sql.Row, at map[int]int, matched int) ([]any, error) {
	now, tuple, differs := slices.Clone(row), []any{row[len(u.table.schema)]}, false
	for i, a := range u.set {
		typ, column := u.table.schema[a.column].Type, u.table.def.Columns[a.column]
		var v, was, written any
		var err error
		if n, ok := at[i]; ok {
			v = row[n]
		} else if a.value != nil {
			v, err = a.guarded.Eval(ctx, now)
		}
		if err == nil {
			now[a.column], err = strict(ctx, v, typ, column.Name, matched)
		}
		if err == nil {
			u.table.round(now)
			written, err = writeValue(ctx, now[a.column], typ, column)
		}
		if err == nil {
			was, err = writeValue(ctx, row[a.column], typ, column)
		}
		if err != nil {
			return nil, err
		}
		if !a.last {
			continue
		}
		tuple, differs = append(tuple, written), differs || !a.derived && !reflect.DeepEqual(was, written)
	}
	if !differs {
		return nil, nil
	}
	return tuple, u.table.check(ctx, now)
}

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
