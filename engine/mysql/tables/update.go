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
	"scrim/internal/lists"
	"scrim/internal/quota"
	"scrim/planner/lower"
)

// update is an UPDATE with the rows and the values of a SELECT.
type update struct {
	leaf
	targets  []*target
	set      []assignment
	formulas [][]formula // of each target's columns whose values follow from assigned ones
	found    *found      // nil where the one target finds its rows by itself
	joined   bool        // the rows are of several tables, and in no order
	ignore   bool        // what fails with a row is a warning
}

// assignment is one column = value; a nil value is NULL.
type assignment struct {
	of, column int // of the targets, and of its columns
	value      sql.Expression
	guarded    sql.Expression // the value as go-mysql-server evaluates it
	place      int            // of the value in a row that was found, 0 where it is evaluated
	derived    bool           // by ON UPDATE: made when another column changes
	last       bool           // of those to the column
}

var (
	_ sql.ExecBuilderNode = (*update)(nil)
	_ sql.ExecBuilderNode = (*remove)(nil)
)

var errReturning = unsupported("Leave RETURNING out.", "RETURNING is not supported.")

// newUpdate returns the node that stands for an UPDATE of one stored table, nil for other tables.
func newUpdate(ctx *sql.Context, n *plan.Update) (sql.Node, error) {
	source, ok := n.Child.(*plan.UpdateSource)
	if !ok {
		return nil, nil
	}
	t, err := targetOf(ctx, "UPDATE", source.Child)
	if err != nil || t == nil {
		return nil, err
	}
	if len(n.Returning) > 0 {
		return nil, errReturning
	}
	t.table = t.table.withChecks(ctx, n.Checks())
	u := &update{leaf: leaf{name: "UPDATE " + t.table.def.Ref.String()}, targets: []*target{t}, ignore: n.Ignore}
	explicit := len(source.UpdateExprs.ExplicitUpdateExprs())
	for i, e := range source.UpdateExprs.AllExpressions() {
		field, value, err := assigned(e)
		if err != nil {
			return nil, err
		}
		column := t.table.schema.IndexOfColName(field.Name())
		if column < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.table.Name(), field.Name())
		}
		if t.table.generated(column) {
			if !waits(value) {
				return nil, t.table.errGiven(column)
			}
			continue
		}
		a := u.assign(0, column, i >= explicit)
		if a.value, _ = assignable(ctx, t.table, column, value); a.value == nil {
			continue
		}
		a.value = t.indexed(ctx, a.value)
		if a.guarded, err = standard.Guarded(ctx, a.value); err != nil {
			return nil, err
		}
	}
	return u, u.follow(ctx)
}

// assigned takes an assignment apart.
func assigned(e sql.Expression) (*expression.GetField, sql.Expression, error) {
	if s, ok := e.(*expression.SetField); ok {
		if field, ok := s.LeftChild.(*expression.GetField); ok {
			return field, s.RightChild, nil
		}
	}
	return nil, nil, unsupported("Assign to columns.", "The assignment %s is not supported.", e.String())
}

// assign adds an assignment.
func (u *update) assign(of, column int, derived bool) *assignment {
	for i := range u.set {
		u.set[i].last = u.set[i].last && (u.set[i].of != of || u.set[i].column != column)
	}
	u.set = append(u.set, assignment{of: of, column: column, derived: derived, last: true})
	return &u.set[len(u.set)-1]
}

// assignable is a value as a column takes it, nil for NULL. own says that it is the column's
// DEFAULT, whose columns are the table's.
func assignable(ctx *sql.Context, t *Table, column int, value sql.Expression) (e sql.Expression, own bool) {
	if w, ok := value.(*expression.Wrapper); ok { // column = DEFAULT
		value, own = w.Unwrap(), true
	}
	if d, ok := value.(*sql.ColumnDefaultValue); ok && (d == nil || d.Expr == nil) {
		return nil, own
	}
	if isVector(t.def.Columns[column]) {
		value = jsonOf(value)
	}
	if types.IsBinaryType(t.schema[column].Type) {
		value = standard.Stored(ctx, value)
	}
	return value, own
}

// WithChildren implements sql.Node.
func (u *update) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(u, children...)
}

// changes are what an UPDATE makes of one target's rows.
type changes struct {
	seen   map[int64]bool // the numbers of its rows; nil where the target finds them by itself
	rows   [][]any        // the number of a row, and what is written into it
	full   [][]any        // all values of these rows, where one may be left out
	moving                // where the rows come in MySQL's order
}

// moving are the keys of a table that an UPDATE changes.
type moving struct {
	list   []store.Key
	hidden []formula
	taken  map[string]bool // the identities of those that the rows got so far
}

// move refuses a row where one before it has taken a key that it still had, as MySQL does, which
// changes row by row. Which keys are there in the end, the store compares.
func (c *moving) move(ctx *sql.Context, t *Table, was, now sql.Row) error {
	var both [2][]any
	for i, row := range []sql.Row{was, now} {
		full := t.widened(row[:len(t.schema)])
		err := t.fill(ctx, c.hidden, full, 1)
		if err == nil {
			both[i], err = t.kept(ctx, full)
		}
		if err != nil {
			return err
		}
	}
	old, taken := both[0], both[1]
	for i, k := range c.list {
		columns, err := t.keyOrdinals(k)
		if err != nil {
			return err
		}
		if values, ok := pick(old, columns); ok && c.taken[identity(i, values)] {
			return sql.NewUniqueKeyErr(t.shownKey(k, old), k.Primary, nil)
		}
		if values, ok := pick(taken, columns); ok {
			id := identity(i, values)
			if err := quota.Of(ctx).Take(int64(len(id)) + 48); err != nil {
				return err
			}
			if c.taken == nil {
				c.taken = map[string]bool{}
			}
			c.taken[id] = true
		}
	}
	return nil
}

// BuildRowIter implements sql.ExecBuilderNode.
func (u *update) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, _ sql.Row) (sql.RowIter, error) {
	columns := make([][]string, len(u.targets))
	for i, t := range u.targets {
		for _, c := range u.sets(i) {
			columns[i] = append(columns[i], t.table.all[c].Name)
		}
	}
	if err := allowed(ctx, u.targets, u.found, columns); err != nil {
		return nil, err
	}
	var matched, written int
	warned := ctx.WarningCount()
	err := u.targets[0].table.atOnce(ctx, func(s store.Session) error {
		rows, places, err := u.rows(ctx, b)
		if err != nil {
			return err
		}
		made := make([]changes, len(u.targets))
		for i, t := range u.targets {
			if !u.ignore && !u.joined {
				if made[i].moving, err = t.table.keysOf(ctx, u.sets(i)); err != nil {
					return err
				}
			}
		}
		err = each(ctx, rows, func(row sql.Row) error {
			skip, all := make([]bool, len(u.targets)), true
			for i, t := range u.targets {
				if u.found != nil {
					if skip[i], err = made[i].skips(ctx, row[t.first+len(t.table.schema)]); err != nil {
						return err
					}
				}
				if !skip[i] {
					matched, all = matched+1, false
				}
			}
			if all {
				return nil
			}
			return u.change(ctx, row, places, matched, skip, made)
		})
		for i, t := range u.targets {
			if err == nil {
				var n int
				n, err = u.write(ctx, s, i, made[i])
				written += n
			}
			err = classify(err, &t.table.def.Ref)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	affected := written
	if ctx.Client().Capabilities&mysql.CapabilityClientFoundRows != 0 {
		affected = matched
	}
	return okResult(int64(affected), plan.UpdateInfo{Matched: matched, Updated: written, Warnings: int(ctx.WarningCount()) - int(warned)}), nil
}

// skips reports whether a row of the target is none, or has been seen: each row changes once.
func (c *changes) skips(ctx *sql.Context, number any) (bool, error) {
	id, ok := number.(int64)
	if !ok || c.seen[id] {
		return true, nil
	}
	if c.seen == nil {
		c.seen = map[int64]bool{}
	}
	c.seen[id] = true
	return false, quota.Of(ctx).Take(24)
}

// rows are the rows of an UPDATE, and the places of the values that they have.
func (u *update) rows(ctx *sql.Context, b sql.NodeExecBuilder) (sql.RowIter, []int, error) {
	places := make([]int, len(u.set))
	if u.found != nil {
		for i, a := range u.set {
			places[i] = a.place
		}
		rows, err := b.Build(ctx, u.found.query, nil)
		return rows, places, err
	}
	binder := lower.Binder{Raise: true}
	where, err := u.targets[0].condition(ctx, &binder)
	if err != nil {
		return nil, nil, err
	}
	q, schema := u.values(ctx, &binder, places)
	order, err := u.targets[0].sequence(ctx, &binder, u.targets[0].table.touchesKey(u.sets(0)))
	return newRows(q+" WHERE "+where+order, binder.Args(), schema), places, err
}

// sets are the columns of a target that get values, in the order of those in its changes.
func (u *update) sets(of int) (columns []int) {
	for _, a := range u.set {
		if a.of == of && a.last {
			columns = append(columns, a.column)
		}
	}
	columns = append(columns, lists.Map(u.formulas[of], func(f formula) int { return f.column })...)
	return columns
}

// write hands a target's changes to the store, and returns how many rows they are.
func (u *update) write(ctx *sql.Context, s store.Session, of int, made changes) (int, error) {
	t := u.targets[of].table
	columns, ordinals := []string{"rowid"}, u.sets(of)
	columns = append(columns, lists.Map(ordinals, func(c int) string { return t.all[c].Name })...)
	linked, err := t.linked(ctx)
	if err != nil {
		return 0, err
	}
	others := tablesOf(u.targets)
	if made.full == nil || !t.touchesKey(ordinals) && !linked {
		if err := t.changes(ctx, s, ordinals, made.rows, others); err != nil {
			return 0, err
		}
		return len(made.rows), s.Change(ctx, t.def.Ref, columns, made.rows)
	}
	n := 0
	for i, row := range made.rows {
		taken, err := t.taken(ctx, made.full[i], row[0].(int64))
		if err == nil && !taken {
			if err = t.changes(ctx, s, ordinals, made.rows[i:i+1], others); passed(ctx, err) {
				continue
			}
		}
		if err == nil && !taken {
			n++
			err = s.Change(ctx, t.def.Ref, columns, made.rows[i:i+1])
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// values is a SELECT of the one target's columns, of the rows' numbers, and of the values that
// translate, at places that are set. A text column gets text from the store.
func (u *update) values(ctx *sql.Context, b *lower.Binder, places []int) (q string, schema sql.Schema) {
	t := u.targets[0]
	numbered, more, assigned := t.table.numbered(), []string(nil), []int(nil)
	schema = numbered.schema
	for i, a := range u.set {
		if _, constant := a.value.(*expression.Literal); a.value != nil && !constant && !lower.MayExceed(ctx, a.value) {
			x, err := lower.Lower(ctx, a.value, b, t.columns(assigned))
			if k := x.Type.Kind; types.IsText(t.table.schema[a.column].Type) && k != lower.Time && k != lower.JSON && k != lower.Array && k != lower.Bytes {
				x = lower.Convert(x, lower.Type{Kind: lower.String})
			}
			t, errType := x.Type.SQLType()
			if err == nil && errType == nil {
				places[i], schema, more = len(schema), append(schema, &sql.Column{Type: t}), append(more, x.SQL)
			}
		}
		assigned = append(assigned, a.column)
	}
	return numbered.selectSQL(numbered.ordinals, more...), schema
}

// change adds what an UPDATE makes of a row to the changes of its targets, but for those to skip.
// As in MySQL an assignment sees the values of those before it.
func (u *update) change(ctx *sql.Context, row sql.Row, places []int, matched int, skip []bool, made []changes) error {
	now, tuples, differs := slices.Clone(row), make([][]any, len(u.targets)), make([]bool, len(u.targets))
	for i, a := range u.set {
		if skip[a.of] {
			continue
		}
		t := u.targets[a.of]
		at, typ, column := t.first+a.column, t.table.schema[a.column].Type, t.table.def.Columns[a.column]
		var v, was, written any
		var err error
		if places[i] > 0 {
			v = row[places[i]]
		} else if a.value != nil {
			v, err = a.guarded.Eval(ctx, now)
		}
		if err == nil && u.found != nil && a.value != nil {
			v, err = plain(v, a.value.Type(ctx), typ)
		}
		if err == nil {
			now[at], err = u.fitted(ctx, v, t.table.schema[a.column], matched)
		}
		if err == nil {
			t.table.round(now[t.first:][:len(t.table.schema)])
			written, err = writeValue(ctx, now[at], typ, column)
		}
		if err == nil {
			was, err = writeValue(ctx, row[at], typ, column)
		}
		if err != nil {
			return err
		}
		if a.last {
			tuples[a.of], differs[a.of] = append(tuples[a.of], written), differs[a.of] || !a.derived && !reflect.DeepEqual(was, written)
		}
	}
	for i, t := range u.targets {
		if !differs[i] {
			continue
		}
		values := t.table.widened(now[t.first:][:len(t.table.schema)])
		if err := t.table.fill(ctx, u.formulas[i], values, matched); err != nil {
			return err
		}
		if err := t.table.check(ctx, values); err != nil {
			if u.ignore && sql.ErrCheckConstraintViolated.Is(err) {
				warn(ctx, 3819, err)
				continue
			}
			return err
		}
		computed, err := t.table.written(ctx, u.formulas[i], values)
		if err == nil && len(made[i].list) > 0 {
			err = made[i].move(ctx, t.table, row[t.first:], values)
		}
		if err != nil {
			return err
		}
		tuple := slices.Concat([]any{row[t.first+len(t.table.schema)]}, tuples[i], computed)
		made[i].rows = append(made[i].rows, tuple)
		if err := quota.Of(ctx).Take(quota.Row(tuple)); err != nil {
			return err
		}
		if u.ignore {
			full, err := t.table.kept(ctx, values)
			if err == nil {
				err = quota.Of(ctx).Take(quota.Row(full))
			}
			if err != nil {
				return err
			}
			made[i].full = append(made[i].full, full)
		}
	}
	return nil
}

// fitted is a value as a column's, of the row with this number.
func (u *update) fitted(ctx *sql.Context, v any, c *sql.Column, row int) (any, error) {
	if !u.ignore {
		return strict(ctx, v, c.Type, c.Name, row)
	}
	return lenient(ctx, v, c, row)
}

// checkChange asks for leave to run an UPDATE or DELETE, whose count of rows is an exact answer
// about the rows there are (see the package documentation). Columns are those that an UPDATE sets,
// nil for a DELETE.
func (t *Table) checkChange(ctx *sql.Context, columns []string) error {
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return sql.ErrReadOnlyTransaction.New()
	}
	if err := t.p.access.CheckWrite(ctx, t.def.Ref); err != nil {
		return err
	}
	if err := t.p.access.CheckRead(ctx, t.def.Ref); err != nil {
		return err
	}
	return t.may(ctx, false, columns == nil, columns)
}

// allowed asks for leave to change the targets, their columns or for nil to remove their rows, and
// to read what else is read.
func allowed(ctx *sql.Context, targets []*target, f *found, columns [][]string) error {
	for i, t := range targets {
		var set []string
		if columns != nil {
			set = columns[i]
		}
		if err := t.table.checkChange(ctx, set); err != nil {
			return err
		}
	}
	if f != nil {
		if err := lists.Each(f.reads, func(t *Table) error { return t.p.access.CheckRead(ctx, t.def.Ref) }); err != nil {
			return err
		}
	}
	return nil
}

func tablesOf(targets []*target) []*Table {
	return lists.Map(targets, func(t *target) *Table { return t.table })
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
