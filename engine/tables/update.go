package tables

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// update is an UPDATE that runs as one statement in the store.
type update struct {
	leaf
	*target
	set []assignment
}

// assignment is one column = value, or = DEFAULT.
type assignment struct {
	column  int
	value   sql.Expression
	derived bool // by ON UPDATE: made when another column changes
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
		u.set = append(u.set, assignment{column: column, value: value, derived: i >= explicit})
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
	s, err := SessionOf(ctx)
	if err != nil {
		return nil, err
	}
	var b lower.Binder
	list, differs, err := u.assignments(ctx, &b)
	if err != nil {
		return nil, err
	}
	where, err := u.condition(ctx, &b)
	if err != nil {
		return nil, err
	}
	matched, err := u.matched(ctx)
	if err != nil {
		return nil, err
	}
	ref := u.table.def.Ref
	changed, err := s.Write(ctx, []store.TableRef{ref},
		"UPDATE "+quote(ref)+" SET "+strings.Join(list, ", ")+" WHERE ("+where+") AND ("+strings.Join(differs, " OR ")+")", b.Args()...)
	if err != nil {
		return nil, classify(err, &ref)
	}
	affected := changed
	if ctx.Client().Capabilities&mysql.CapabilityClientFoundRows != 0 {
		affected = matched
	}
	return okResult(affected, plan.UpdateInfo{Matched: int(matched), Updated: int(changed)}), nil
}

// matched counts the rows that the WHERE is about; MySQL reports them beside those that changed.
func (u *update) matched(ctx *sql.Context) (int64, error) {
	var b lower.Binder
	where, err := u.condition(ctx, &b)
	if err != nil {
		return 0, err
	}
	it := newRows("SELECT count(*) FROM "+quote(u.table.def.Ref)+" WHERE "+where, b.Args(), sql.Schema{{Type: types.Int64}})
	defer it.Close(ctx)
	row, err := it.Next(ctx)
	if err != nil {
		return 0, err
	}
	return row[0].(int64), nil
}

// assignments returns the list after SET, and for each column the condition that its value changes.
// As in MySQL an assignment sees the values of those before it.
func (u *update) assignments(ctx *sql.Context, b *lower.Binder) (list, differs []string, err error) {
	assigned := map[int]lower.Expr{}
	byColumn := map[int]string{}
	derived := map[int]bool{}
	var order []int
	for _, a := range u.set {
		value, err := u.value(ctx, b, a, assigned)
		if err != nil {
			return nil, nil, err
		}
		if _, again := byColumn[a.column]; !again {
			order = append(order, a.column)
		}
		byColumn[a.column], derived[a.column] = value, a.derived
		assigned[a.column] = lower.ReadColumn("("+value+")", u.table.def.Columns[a.column].Type)
	}
	for _, i := range order {
		name := sqltext.StoreName(u.table.def.Columns[i].Name)
		list = append(list, name+" = "+byColumn[i])
		if !derived[i] {
			differs = append(differs, name+" IS DISTINCT FROM "+byColumn[i])
		}
	}
	return list, differs, nil
}

// value returns the generated value of one assignment in the column's store type. A value that does
// not fit makes the statement fail, as in MySQL's strict mode.
func (u *update) value(ctx *sql.Context, b *lower.Binder, a assignment, assigned map[int]lower.Expr) (string, error) {
	column, typ := u.table.def.Columns[a.column], u.table.schema[a.column].Type
	given := a.value
	if w, ok := a.value.(*expression.Wrapper); ok { // column = DEFAULT
		if given = w.Unwrap(); given == nil {
			given = (*sql.ColumnDefaultValue)(nil)
		}
	}
	if d, ok := given.(*sql.ColumnDefaultValue); ok {
		return u.defaultValue(ctx, b, a.column, d)
	}
	if l, ok := a.value.(*expression.Literal); ok {
		v, err := strict(ctx, l.Value(), typ, column.Name)
		if err != nil {
			return "", err
		}
		w, err := writeValue(ctx, v, typ, column)
		if err != nil {
			return "", err
		}
		return u.table.bind(b, a.column, w), nil
	}
	e, err := lower.Lower(ctx, a.value, b, u.columns(assigned))
	if err != nil {
		return "", err
	}
	text := e.SQL
	if s, ok := typ.(sql.StringType); ok && e.Type.Kind == lower.String && column.Type == "VARCHAR" {
		limit := b.Bind(s.MaxCharacterLength())
		text = "CASE WHEN length(" + text + ") > CAST(" + limit + " AS BIGINT) THEN error('" + tooLong + "') ELSE " + text + " END"
	}
	if s, ok := typ.(sql.EnumType); ok {
		list := make([]string, len(s.Values()))
		for i, v := range s.Values() {
			list[i] = b.Bind(v)
		}
		text = "CAST(" + text + " AS VARCHAR)"
		text = "CASE WHEN " + text + " NOT IN (" + strings.Join(list, ", ") + ") THEN error('" + tooLong + "') ELSE " + text + " END"
	}
	if column.Type == "BLOB" && e.Type.Kind == lower.String {
		return "encode(" + text + ")", nil
	}
	return "CAST(" + text + " AS " + column.Type + ")", nil
}

// defaultValue is the value of column = DEFAULT.
func (u *update) defaultValue(ctx *sql.Context, b *lower.Binder, column int, d *sql.ColumnDefaultValue) (string, error) {
	if d == nil || d.Expr == nil {
		return "CAST(NULL AS " + u.table.def.Columns[column].Type + ")", nil
	}
	v, err := d.Eval(ctx, nil)
	if err != nil {
		return "", err
	}
	w, err := writeValue(ctx, v, u.table.schema[column].Type, u.table.def.Columns[column])
	if err != nil {
		return "", err
	}
	return u.table.bind(b, column, w), nil
}

// strict converts a constant to a column's type, and fails where MySQL's strict mode does, with
// MySQL's numbers.
func strict(ctx *sql.Context, v any, t sql.Type, column string) (any, error) {
	if v == nil {
		return nil, nil
	}
	c, in, err := t.Convert(ctx, v)
	if r, ok := t.(sql.RoundingNumberType); ok {
		c, in, err = r.ConvertRound(ctx, v)
	}
	switch {
	case types.ErrLengthBeyondLimit.Is(err):
		return nil, mysql.NewSQLError(mysql.ERDataTooLong, mysql.SSDataTooLong, "Data too long for column '%s'", column)
	case err != nil:
		return nil, mysql.NewSQLError(mysql.ERTruncatedWrongValueForField, mysql.SSUnknownSQLState, "Incorrect value for column '%s'", column)
	case in != sql.InRange:
		return nil, mysql.NewSQLError(mysql.ERWarnDataOutOfRange, mysql.SSDataOutOfRange, "Out of range value for column '%s'", column)
	}
	return c, nil
}
