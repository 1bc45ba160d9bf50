package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/quota"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// target is which rows of one stored table an UPDATE or DELETE is about.
type target struct {
	table *Table
	first int // the place of its columns in a row that is found
	where []sql.Expression
	order sql.SortConditions
	limit sql.Expression
}

// targetOf takes the row source of an UPDATE or DELETE apart. It returns nil, nil when the table is
// not a stored one.
func targetOf(ctx *sql.Context, verb string, n sql.Node) (*target, error) {
	var t target
	for {
		switch x := n.(type) {
		case *plan.Filter:
			t.where = append(t.where, x.Expression)
			n = x.Child
		case *plan.Sort:
			t.order = x.SortConditions
			n = x.Child
		case *plan.Limit:
			t.limit = x.Limit
			n = x.Child
		case *plan.TableAlias:
			n = x.Child
		case *plan.ResolvedTable:
			table, ok := asTable(x.Table)
			if !ok {
				return nil, nil
			}
			if t.table = table; table.schema.IndexOfColName("rowid") >= 0 {
				return nil, unsupported("Rename the column with ALTER TABLE … RENAME COLUMN.", "%s of a table with a column named rowid is not supported.", verb)
			}
			return &t, nil
		default:
			if !readsStored(ctx, n) {
				return nil, nil
			}
			return nil, unsupported(verb+" one table, and give the rows by conditions on its own columns.",
				"%s of several tables or of a view is not supported.", verb)
		}
	}
}

func readsStored(ctx *sql.Context, n sql.Node) bool {
	found := false
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			_, stored := asTable(rt.Table)
			found = found || stored
		}
		return !found
	})
	return found
}

// condition returns the generated condition that the rows meet, "TRUE" for all rows. As those of a
// SELECT, the store finds them where it evaluates as MySQL does, and go-mysql-server where not:
// then the condition has their numbers in the store, which hold until the end of the transaction.
func (t *target) condition(ctx *sql.Context, b *lower.Binder) (string, error) {
	where, err := t.translated(ctx, b)
	if r, ok := refuse.As(err); !ok || r.Code != refuse.Expression {
		return where, err
	}
	*b = lower.Binder{Raise: true}
	it, err := t.evaluated(ctx, plan.NewResolvedTable(t.table.numbered(), nil, nil))
	if err != nil {
		return "", err
	}
	var ids []byte
	err = each(ctx, it, func(row sql.Row) error {
		ids = append(strconv.AppendInt(ids, row[len(row)-1].(int64), 10), ',')
		return quota.Of(ctx).Take(24)
	})
	return byNumber(b, ids), err
}

// byNumber is the condition that a row has one of the store's numbers, each of which has a comma
// behind it.
func byNumber(b *lower.Binder, ids []byte) string {
	return "rowid IN (SELECT unnest(CAST(" + b.Bind("["+strings.TrimSuffix(string(ids), ",")+"]") + " AS BIGINT[])))"
}

// sequence is the order of the rows where a key changes, or where a foreign key of the table
// references the table itself: that of the statement, or of the primary key, in which MySQL goes
// through them.
func (t *target) sequence(ctx *sql.Context, b *lower.Binder, keys bool) (string, error) {
	if !keys && !slices.ContainsFunc(t.table.foreign, func(k ForeignKey) bool { return k.Parent == t.table.Name() }) {
		return "", nil
	}
	by, err := t.ordered(ctx, b)
	if err == nil && len(by) == 0 {
		by = []string{"rowid"}
		if k := t.table.primary(); k != nil {
			by = []string{sqltext.StoreNames(k.Columns)}
		}
	}
	return " ORDER BY " + strings.Join(by, ", "), err
}

// primary is the primary key, or nil.
func (t *Table) primary() *store.Key {
	if i := slices.IndexFunc(t.def.Keys, func(k store.Key) bool { return k.Primary }); i >= 0 {
		return &t.def.Keys[i]
	}
	return nil
}

// numbered is the table with the store's number of each row as its last column that is shown.
func (t *Table) numbered() *Table {
	n := *t
	n.def.Columns = append(slices.Clone(t.def.Columns), store.Column{Name: "rowid", Type: "BIGINT"})
	n.schema = append(slices.Clone(t.schema), &sql.Column{Name: "rowid", Type: types.Int64, Source: t.def.Ref.Name, DatabaseSource: t.def.Ref.Schema})
	n.all, n.kinds = slices.Concat(n.def.Columns, t.def.Hidden), slices.Concat(n.schema, t.kinds[len(t.schema):])
	n.ordinals = every(len(n.schema))
	return &n
}

// each hands over rows one by one.
func each(ctx *sql.Context, it sql.RowIter, f func(sql.Row) error) error {
	defer it.Close(ctx)
	for {
		row, err := it.Next(ctx)
		if isEOF(err) {
			return nil
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return err
		}
	}
}

// evaluation are the rules that rewrite the conditions of a SELECT before go-mysql-server evaluates
// them, which for some types changes what they say.
var evaluation = []string{"pushNotFilters", "applyHashIn"}

// evaluated has go-mysql-server find the rows of the table n.
func (t *target) evaluated(ctx *sql.Context, n sql.Node) (it sql.RowIter, err error) {
	for _, e := range t.where {
		n = plan.NewFilter(ctx, t.indexed(ctx, e), n)
	}
	if len(t.order) > 0 {
		by := t.order.ToExpressions()
		for i, e := range by {
			by[i] = t.indexed(ctx, e)
		}
		n = plan.NewSort(t.order.FromExpressions(ctx, by...), n)
	}
	if t.limit != nil {
		n = plan.NewLimit(t.limit, n)
	}
	n, _, err = standard.Guard(ctx, n)
	flags := new(sql.QueryFlags)
	flags.Set(sql.QFlgNotExpr)
	for _, r := range slices.Concat(analyzer.OnceBeforeDefault, analyzer.OnceAfterDefault) {
		if err == nil && slices.Contains(evaluation, r.Id.String()) {
			n, _, err = r.Apply(ctx, nil, n, nil, analyzer.DefaultRuleSelector, flags)
		}
	}
	if err != nil {
		return nil, err
	}
	return rowexec.NewBuilder(nil, sql.EngineOverrides{}).Build(ctx, n, nil)
}

func (t *target) indexed(ctx *sql.Context, e sql.Expression) sql.Expression {
	return indexed(ctx, t.table.schema, t.first, e)
}

// indexed makes an expression's columns those of a schema by their place, from first on.
func indexed(ctx *sql.Context, schema sql.Schema, first int, e sql.Expression) sql.Expression {
	e, _ = tree.Replaced(ctx, e, func(f *expression.GetField) sql.Expression {
		return f.WithIndex(first + schema.IndexOfColName(f.Name()))
	})
	return e
}

// translated is the condition in the store's SQL. The error is a refusal of code Expression where
// the store would answer otherwise than MySQL.
func (t *target) translated(ctx *sql.Context, b *lower.Binder) (string, error) {
	parts := make([]string, 0, len(t.where))
	for _, e := range t.where {
		if lower.MayExceed(ctx, e) {
			return "", refuse.New(refuse.Expression, "A text may be too long.")
		}
		p, err := lower.LowerPredicate(ctx, e, b, t.columns(nil))
		if err != nil {
			return "", err
		}
		parts = append(parts, "("+p.SQL+")")
	}
	all := cmp.Or(strings.Join(parts, " AND "), "TRUE")
	if t.limit == nil {
		return all, nil
	}
	return t.limited(ctx, b, all)
}

// limited adds ORDER BY and LIMIT to a condition, by the store's own row numbers.
func (t *target) limited(ctx *sql.Context, b *lower.Binder, all string) (string, error) {
	order, err := t.ordered(ctx, b)
	if err != nil {
		return "", err
	}
	v, err := t.limit.Eval(ctx, nil)
	if err != nil {
		return "", err
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	q := "rowid IN (SELECT rowid FROM " + quote(t.table.def.Ref) + " WHERE " + all
	if len(order) > 0 {
		q += " ORDER BY " + strings.Join(order, ", ")
	}
	return q + " LIMIT CAST(" + b.Bind(n) + " AS BIGINT))", nil
}

// ordered is ORDER BY in the store's SQL.
func (t *target) ordered(ctx *sql.Context, b *lower.Binder) (order []string, err error) {
	for _, f := range t.order {
		e, err := lower.Lower(ctx, f.Expr, b, t.columns(nil))
		if err != nil {
			return nil, err
		}
		direction := " ASC NULLS FIRST"
		if f.Order == sql.Descending {
			direction = " DESC NULLS LAST"
		}
		order = append(order, lower.Ordered(e).SQL+direction)
	}
	return order, nil
}

// columns resolves the table's columns but for those that have been assigned.
func (t *target) columns(assigned []int) lower.Columns {
	return func(f *expression.GetField) (lower.Expr, bool) {
		i := t.table.schema.IndexOfColName(f.Name())
		if i < 0 || slices.Contains(assigned, i) {
			return lower.Expr{}, false
		}
		c := t.table.def.Columns[i]
		x := lower.Typed(lower.ReadColumn(sqltext.StoreName(c.Name), c.Type), t.table.schema[i].Type)
		return x, x.Type.Kind != lower.Null
	}
}

// remove is a DELETE.
type remove struct {
	leaf
	targets []*target
	found   *found // nil where it is one statement of the store
}

// newDelete returns the node that stands for a DELETE from one stored table, nil for other tables.
func newDelete(ctx *sql.Context, n *plan.DeleteFrom) (sql.Node, error) {
	t, err := targetOf(ctx, "DELETE", n.Child)
	if err != nil || t == nil {
		return nil, err
	}
	if len(n.Returning) > 0 {
		return nil, errReturning
	}
	return &remove{leaf: leaf{name: "DELETE FROM " + t.table.def.Ref.String()}, targets: []*target{t}}, nil
}

// WithChildren implements sql.Node.
func (r *remove) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(r, children...)
}

// BuildRowIter implements sql.ExecBuilderNode.
func (r *remove) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, _ sql.Row) (sql.RowIter, error) {
	if err := allowed(ctx, r.targets, r.found, nil); err != nil {
		return nil, err
	}
	var n int64
	err := r.targets[0].table.atOnce(ctx, func(s store.Session) error {
		conditions := make([]string, len(r.targets))
		binders := make([]lower.Binder, len(r.targets))
		for i := range binders {
			binders[i].Raise = true
		}
		var err error
		if r.found == nil {
			conditions[0], err = r.targets[0].condition(ctx, &binders[0])
		} else {
			conditions, err = r.numbers(ctx, b, binders)
		}
		for i, t := range r.targets {
			var order string
			if err == nil {
				order, err = t.sequence(ctx, &binders[i], false)
			}
			if err == nil {
				var removed int64
				removed, err = t.table.remove(ctx, s, conditions[i], binders[i].Args(), order, tablesOf(r.targets))
				n += removed
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return okResult(n, nil), nil
}

// numbers are conditions by the numbers of the rows that were found, one for each target.
func (r *remove) numbers(ctx *sql.Context, b sql.NodeExecBuilder, binders []lower.Binder) ([]string, error) {
	rows, err := b.Build(ctx, r.found.query, nil)
	if err != nil {
		return nil, err
	}
	lists, conditions := make([][]byte, len(r.targets)), make([]string, len(r.targets))
	err = each(ctx, rows, func(row sql.Row) error {
		for i, t := range r.targets {
			if id, ok := row[t.first+len(t.table.schema)].(int64); ok {
				lists[i] = append(strconv.AppendInt(lists[i], id, 10), ',')
				if err := quota.Of(ctx).Take(24); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for i := range conditions {
		conditions[i] = byNumber(&binders[i], lists[i])
	}
	return conditions, err
}

// newFoundDelete returns the node that stands for a DELETE whose rows a SELECT finds.
func newFoundDelete(ctx *sql.Context, a *analyzer.Analyzer, n *plan.DeleteFrom, flags *sql.QueryFlags) (sql.Node, error) {
	if len(n.Returning) > 0 {
		return nil, errReturning
	}
	f, err := newFinder(ctx, "DELETE", n, n.Child)
	if err != nil {
		return nil, err
	}
	if !n.HasExplicitTargets() {
		if len(f.sources) != 1 {
			return nil, f.notTarget("")
		}
		_, err = f.target(0)
	}
	for _, t := range n.GetDeleteTargets() {
		if err != nil || !n.HasExplicitTargets() {
			break
		}
		named, ok := t.(sql.Nameable)
		if !ok {
			return nil, mysql.NewSQLError(1109, "42S02", "Unknown table in MULTI DELETE")
		}
		name, at := named.Name(), -1
		for i, s := range f.sources {
			if !strings.EqualFold(s.name, name) {
				continue
			}
			if at >= 0 {
				return nil, unsupported("Give them aliases.", "DELETE from one of two tables with the name %s is not supported.", name)
			}
			at = i
		}
		id, isTable := t.(plan.TableIdNode)
		switch {
		case at < 0 && isDerived(n.Child, name):
			return nil, f.notTarget(name)
		case at < 0, isTable && !sameTable(id, f.sources[at]):
			return nil, mysql.NewSQLError(1109, "42S02", "Unknown table '%s' in MULTI DELETE", name)
		case slices.Contains(f.targets, at):
			return nil, mysql.NewSQLError(1066, "42000", "Not unique table/alias: '%s'", name)
		}
		_, err = f.target(at)
	}
	if err == nil {
		err = f.permitted(a, sql.PrivilegeType_Delete)
	}
	if err != nil {
		return nil, err
	}
	r := &remove{}
	if r.found, err = f.find(a, n.Child, flags); err != nil {
		return nil, err
	}
	r.targets, r.leaf = r.found.targets, leaf{name: "DELETE FROM " + names(r.found.targets)}
	return r, nil
}
