package tables

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
)

// formula is how the values of a column follow from the row's other ones: those of a generated
// column, or of a hidden one, which a UNIQUE key has in the place of a prefix or an expression.
// Every statement that writes a row computes them, and the store keeps them.
type formula struct {
	column int             // among the table's columns, behind which the hidden ones stand
	value  sql.Expression  // nil for a prefix
	of     int             // else the column that it is the prefix of, or the key
	length int             // of the prefix, 0 for the whole
	key    sql.CollationID // by which it is the key of a text; Unspecified for the value itself
	uses   []int           // the columns that it names
}

// eval computes the value for a row.
func (f *formula) eval(ctx *sql.Context, row sql.Row) (v any, err error) {
	if f.value != nil {
		v, err = f.value.Eval(ctx, row)
	} else if v, err = sql.UnwrapAny(ctx, row[f.of]); f.length > 0 {
		v = prefix(v, f.length)
	}
	if f.key == sql.Collation_Unspecified || v == nil || err != nil {
		return v, err
	}
	text, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	return collation.Key(f.key, text.(string)), nil
}

// prefix is the beginning of a text, or of bytes.
func prefix(v any, length int) any {
	switch x := v.(type) {
	case string:
		end, n := 0, 0
		for ; n < length && end < len(x); n++ {
			_, size := utf8.DecodeRuneInString(x[end:])
			end += size
		}
		return x[:end]
	case []byte:
		return x[:min(len(x), length)]
	}
	return v
}

// generated reports whether the column of a number is a generated one.
func (t *Table) generated(column int) bool {
	return column >= 0 && column < len(t.schema) && waits(t.schema[column].Default)
}

// formulas returns the formulas of the table, in the order in which they are computed.
func (t *Table) formulas(ctx *sql.Context) ([]formula, error) {
	if !t.computes {
		return nil, nil
	}
	texts, prefixes := make([]string, len(t.all)), map[int]formula{}
	for i, c := range t.all[:len(t.schema)] {
		texts[i] = metaOf(c).Generated
	}
	for _, k := range definitionOf(t.def).keys {
		for i, name := range k.stored {
			at := t.kinds.IndexOfColName(name)
			switch {
			case at < len(t.schema):
			case k.expression(i) != "":
				texts[at] = k.expression(i)
			default:
				of := t.kinds.IndexOfColName(k.columns[i])
				f := formula{column: at, of: of, uses: []int{of}}
				if k.lengths != nil {
					f.length = k.lengths[i]
				}
				prefixes[at] = f
			}
		}
	}
	bound, err := t.p.bind(ctx, t.def.Ref, t.kinds, texts)
	if err != nil {
		return nil, err
	}
	var list []formula
	for i, e := range bound {
		f, ok := prefixes[i]
		if e != nil {
			f, ok = formula{column: i, value: e}, true
			sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
				if g, isField := e.(*expression.GetField); isField {
					f.uses = append(f.uses, g.Index())
				}
				return true
			})
		}
		if name := metaOf(t.all[i]).Key; name != "" {
			f.key = collationNamed(name)
		}
		if ok {
			list = append(list, f)
		}
	}
	return list, nil
}

// bind binds expressions of the columns of one table, nil for "".
func (p *Provider) bind(ctx *sql.Context, ref store.TableRef, schema sql.Schema, texts []string) (list []sql.Expression, err error) {
	defer func() { // how the binder fails
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				panic(r)
			} else if _, bug := r.(runtime.Error); bug {
				panic(r)
			}
		}
	}()
	bound := schema.Copy()
	for i, c := range bound {
		c.Default, c.OnUpdate, c.Generated = nil, nil, nil
		if texts[i] != "" {
			c.Generated, c.HiddenSystem = sql.NewUnresolvedColumnDefaultValue(texts[i]), true
		}
	}
	bound = planbuilder.New(ctx, p.Catalog, nil).ResolveSchemaDefaults(ref.Schema, ref.Name, bound)
	list = make([]sql.Expression, len(bound))
	for i, c := range bound {
		if c.Generated == nil {
			continue
		}
		e := standard.Typed(ctx, c.Generated.Expr)
		if list[i], err = standard.Guarded(ctx, indexed(ctx, schema, 0, e)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// fill computes what formulas say of a row, counted from 1, whose other values are as they are
// stored.
func (t *Table) fill(ctx *sql.Context, list []formula, row sql.Row, n int) error {
	if len(list) == 0 {
		return nil
	}
	for i, c := range t.schema {
		if x, ok := row[i].(string); ok && c.Type.Type() == sqltypes.Char {
			row[i] = strings.TrimRight(x, " ")
		}
	}
	for _, f := range list {
		c := t.kinds[f.column]
		v, err := f.eval(ctx, row)
		if err == nil {
			v, err = strict(ctx, v, c.Type, c.Name, n)
		}
		if err == nil && v == nil && !t.all[f.column].Nullable {
			err = mysql.NewSQLError(mysql.ERBadNullError, mysql.SSConstraintViolation, "Column '%s' cannot be null", c.Name)
		}
		if err != nil {
			return err
		}
		row[f.column] = v
		t.round(row)
	}
	return nil
}

// written are the values that a row, which fill has seen, gets in the columns of formulas.
func (t *Table) written(ctx *sql.Context, list []formula, row sql.Row) ([]any, error) {
	return lists.Try(list, func(f formula) (any, error) {
		return writeValue(ctx, row[f.column], t.kinds[f.column].Type, t.all[f.column])
	})
}

// widened is a copy of a row with places for the hidden columns.
func (t *Table) widened(row sql.Row) sql.Row {
	return append(slices.Clone(row), make(sql.Row, len(t.all)-len(row))...)
}

// touched are the formulas whose values change with those of the columns.
func touched(list []formula, columns []int) (out []formula) {
	columns = slices.Clone(columns)
	for _, f := range list {
		if slices.ContainsFunc(f.uses, func(c int) bool { return slices.Contains(columns, c) }) {
			columns, out = append(columns, f.column), append(out, f)
		}
	}
	return out
}

// follow finds the columns whose values follow from assigned ones, and all that follow from others
// where the row may be left out for what it would have.
func (u *update) follow(ctx *sql.Context) error {
	u.formulas = make([][]formula, len(u.targets))
	for i, t := range u.targets {
		var columns []int
		for _, a := range u.set {
			if a.of == i {
				columns = append(columns, a.column)
			}
		}
		all, err := t.table.formulas(ctx)
		if err != nil {
			return err
		}
		if u.formulas[i] = all; !u.ignore {
			u.formulas[i] = touched(all, columns)
		}
	}
	return nil
}

// whole makes a row that is written one with all columns, hidden ones too, whose values are as they
// are stored, and refuses it where a CHECK is false. The row itself gets values of its generated
// columns.
func (e *editor) whole(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	e.t.round(row)
	full := row
	if e.t.computes {
		if e.formulas == nil {
			var err error
			if e.formulas, err = e.t.formulas(ctx); err != nil {
				return nil, err
			}
		}
		e.row++
		full = e.t.widened(row)
		if err := e.t.fill(ctx, e.formulas, full, e.row); err != nil {
			return nil, err
		}
		copy(row, full)
	}
	return full, e.t.check(ctx, row)
}

// stored is a row of the table with its hidden columns.
func (e *editor) stored(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	if len(e.t.all) == len(row) {
		return row, nil
	}
	all, err := e.t.formulas(ctx)
	if err != nil {
		return nil, err
	}
	hidden := slices.DeleteFunc(all, func(f formula) bool { return f.column < len(row) })
	full := e.t.widened(row)
	return full, e.t.fill(ctx, hidden, full, 1)
}

// awaited is the value of a generated column in go-mysql-server's tree, as its default: NULL until
// the table computes it, when all others are known.
type awaited struct{ *expression.Literal }

// WithChildren implements sql.Expression.
func (a awaited) WithChildren(*sql.Context, ...sql.Expression) (sql.Expression, error) {
	return a, nil
}

// waits reports whether an expression is the DEFAULT of a generated column.
func waits(e sql.Expression) bool {
	if w, ok := e.(*expression.Wrapper); ok {
		e = w.Unwrap()
	}
	if d, ok := e.(*sql.ColumnDefaultValue); ok && d != nil {
		_, ok = d.Expr.(awaited)
		return ok
	}
	_, ok := e.(*expression.DefaultColumn)
	return ok
}

func (t *Table) errGiven(column int) error {
	return mysql.NewSQLError(3105, "HY000", "The value specified for generated column '%s' in table '%s' is not allowed.", t.schema[column].Name, t.Name())
}

// checkGiven refuses an INSERT that gives a generated column a value. It returns what it assigns to
// the other columns of a row that is there.
func (t *Table) checkGiven(n *plan.InsertInto) (*plan.UpdateExprs, error) {
	for i, name := range n.ColumnNames {
		at := t.schema.IndexOfColName(name)
		if !t.generated(at) {
			continue
		}
		values, ok := n.Source.(*plan.Values)
		if !ok {
			return nil, t.errGiven(at)
		}
		if slices.ContainsFunc(values.ExpressionTuples, func(tuple []sql.Expression) bool { return i < len(tuple) && !waits(tuple[i]) }) {
			return nil, t.errGiven(at)
		}
	}
	if !n.OnDupExprs.HasUpdates() {
		return n.OnDupExprs, nil
	}
	var kept []sql.Expression
	explicit := len(n.OnDupExprs.ExplicitUpdateExprs())
	for i, e := range n.OnDupExprs.AllExpressions() {
		field, value, err := assigned(e)
		if err != nil {
			return nil, err
		}
		switch at := t.schema.IndexOfColName(field.Name()); {
		case !t.generated(at):
			kept = append(kept, e)
		case !waits(value):
			return nil, t.errGiven(at)
		case i < len(n.OnDupExprs.ExplicitUpdateExprs()):
			explicit--
		}
	}
	return plan.NewUpdateExprs(kept, explicit), nil
}

// unfilled is the destination of an INSERT whose generated columns may be NULL until they are
// computed, and in which texts count by their characters.
func (t *Table) unfilled(n *plan.InsertDestination) (sql.Node, transform.TreeIdentity, error) {
	changed, same := *n, transform.SameTree
	changed.Sch = n.Sch.Copy()
	for i, c := range changed.Sch {
		if !c.Nullable && t.generated(i) {
			c.Nullable, same = true, transform.NewTree
		}
		if _, ok := narrow(c.Type); ok {
			c.Type, same = wide(c.Type), transform.NewTree
		}
	}
	return &changed, same, nil
}

// recompute marks the columns whose values follow from those of a column that changes, and returns
// the names of those that are shown.
func (d *definition) recompute(column string) (names []string) {
	from := []string{column}
	for i := range d.columns {
		c := &d.columns[i]
		if slices.ContainsFunc(columnsIn(c.meta.Generated), func(n string) bool { return contains(from, n) }) {
			c.computed, from, names = true, append(from, c.name), append(names, c.name)
		}
	}
	for _, k := range d.keys {
		for i, name := range k.stored {
			if at := d.column(name); at >= 0 && d.columns[at].hidden && contains(from, k.columns[i]) {
				d.columns[at].computed = true
			}
		}
	}
	return names
}

// table is the definition as the store will list it.
func (d *definition) table() store.Table {
	t := store.Table{Ref: d.ref, Comment: d.tableComment()}
	for _, c := range d.columns {
		column := store.Column{Name: c.name, Type: c.store, Nullable: c.nullable, Comment: columnComment(c.meta)}
		if c.hidden {
			t.Hidden = append(t.Hidden, column)
		} else {
			t.Columns = append(t.Columns, column)
		}
	}
	for _, k := range d.keys {
		if !k.plain {
			t.Keys = append(t.Keys, store.Key{Primary: k.primary, Columns: k.inStore()})
		}
	}
	return t
}

// compute gives the rows that are there the values of the columns that are marked.
func (d *definition) compute(ctx *sql.Context, p *Provider, s store.Session) error {
	t, err := newTable(ctx, p, d.table())
	if err != nil {
		return err
	}
	all, err := t.formulas(ctx)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(all, func(f formula) bool { return !d.columns[d.column(t.all[f.column].Name)].computed })
	columns := []string{"rowid"}
	columns = append(columns, lists.Map(list, func(f formula) string { return t.all[f.column].Name })...)
	numbered, n := t.numbered(), 0
	for last := int64(-1); ; {
		var changed [][]any
		q := fmt.Sprintf("%s WHERE rowid > %d ORDER BY rowid LIMIT %d", numbered.selectSQL(numbered.ordinals), last, batch)
		err := each(ctx, newRows(q, nil, numbered.schema), func(row sql.Row) error {
			last = row[len(t.schema)].(int64)
			n++
			full := t.widened(row[:len(t.schema)])
			if err := t.fill(ctx, list, full, n); err != nil {
				return err
			}
			values, err := t.written(ctx, list, full)
			changed = append(changed, append([]any{last}, values...))
			return err
		})
		if err == nil {
			err = s.Change(ctx, d.ref, columns, changed)
		}
		if err != nil || len(changed) == 0 {
			return classify(err, &d.ref)
		}
	}
}
