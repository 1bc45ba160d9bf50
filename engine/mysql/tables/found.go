package tables

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/planner/tree"
)

// found is the SELECT that finds the rows of an UPDATE or DELETE of several tables, or with
// subqueries: it is planned as any SELECT, with its rules about whose rows may be read. A row has,
// for each target, its columns and the store's number, which is NULL where an outer join has no
// row; then what else the assignments read.
type found struct {
	query   sql.Node
	targets []*target
	reads   []*Table
	places  map[sql.ColumnId]int // of columns in a row
}

// source is a table that a FROM names.
type source struct {
	node  *plan.ResolvedTable
	name  string // its alias, where it has one
	table *Table // nil where it is not a stored one
}

// sourcesOf lists the tables of a row source; several is false where it is one table, perhaps with
// a filter, an order and a limit.
func sourcesOf(n sql.Node) (list []source, several bool) {
	switch x := n.(type) {
	case *plan.ResolvedTable:
		t, _ := asTable(x.Table)
		return []source{{node: x, name: x.Name(), table: t}}, false
	case *plan.TableAlias:
		if list, several = sourcesOf(x.Child); len(list) == 1 {
			list[0].name = x.Name()
		}
		return list, several
	case *plan.Filter, *plan.Sort, *plan.Limit, *plan.Offset:
		return sourcesOf(n.Children()[0])
	case *plan.JoinNode:
		l, _ := sourcesOf(x.Left())
		r, _ := sourcesOf(x.Right())
		return append(l, r...), true
	}
	return nil, true
}

// isFound reports whether a SELECT finds the rows of an UPDATE or DELETE.
func isFound(ctx *sql.Context, n sql.Node) bool {
	child := n.Children()[0]
	if u, ok := child.(*plan.UpdateSource); ok {
		child = u.Child
	}
	_, is := sourcesOf(child)
	if d, ok := n.(*plan.DeleteFrom); ok {
		is = is || d.HasExplicitTargets()
	}
	tree.Inspect(ctx, n, nil, func(e sql.Expression) {
		_, subquery := e.(*plan.Subquery)
		is = is || subquery
	})
	return is
}

// finder makes the SELECT of one statement.
type finder struct {
	ctx     *sql.Context
	verb    string
	sources []source
	targets []int // of the sources
	last    sql.ColumnId
	renamed map[sql.ColumnId]sql.ColumnId
	items   []sql.Expression
	found
}

// newFinder looks at the tables of a statement's row source.
func newFinder(ctx *sql.Context, verb string, n, child sql.Node) (*finder, error) {
	list, several := sourcesOf(child)
	f := &finder{ctx: ctx, verb: verb, sources: list, renamed: map[sql.ColumnId]sql.ColumnId{}, found: found{places: map[sql.ColumnId]int{}}}
	for several {
		switch x := child.(type) {
		case *plan.Sort:
			return nil, mysql.NewSQLError(1221, "HY000", "Incorrect usage of %s and ORDER BY", verb)
		case *plan.Limit, *plan.Offset:
			return nil, mysql.NewSQLError(1221, "HY000", "Incorrect usage of %s and LIMIT", verb)
		case *plan.Filter:
			child = x.Child
			continue
		}
		break
	}
	tree.Inspect(ctx, n, func(n sql.Node) {
		if t, ok := n.(plan.TableIdNode); ok {
			t.Columns().ForEach(func(id sql.ColumnId) { f.last = max(f.last, id) })
		}
		if t, ok := storedTable(n); ok && !slices.ContainsFunc(f.reads, func(r *Table) bool { return r.def.Ref == t.def.Ref }) {
			f.reads = append(f.reads, t)
		}
	}, func(e sql.Expression) {
		if id, ok := e.(sql.IdExpression); ok {
			f.last = max(f.last, id.Id())
		}
	})
	return f, nil
}

// notTarget is MySQL's refusal to change what is no table.
func (f *finder) notTarget(name string) error {
	return mysql.NewSQLError(1288, "HY000", "The target table %s of the %s is not updatable", name, f.verb)
}

// target makes a source one whose rows change, and returns its number.
func (f *finder) target(i int) (int, error) {
	if at := slices.Index(f.targets, i); at >= 0 {
		return at, nil
	}
	s := f.sources[i]
	if s.table == nil {
		return 0, f.notTarget(s.name)
	}
	if s.table.schema.IndexOfColName("rowid") >= 0 {
		return 0, unsupported("Rename the column with ALTER TABLE … RENAME COLUMN.", "%s of a table with a column named rowid is not supported.", f.verb)
	}
	numbered := s.table.numbered()
	t := &target{table: s.table, first: len(f.items)}
	old := tree.ColumnIDs(s.node, len(s.table.schema))
	if old == nil {
		return 0, f.notTarget(s.name)
	}
	for j, c := range numbered.schema {
		f.last++
		if j < len(old) {
			f.renamed[old[j]] = f.last
		}
		f.places[f.last] = len(f.items)
		f.items = append(f.items, tree.Column(f.last, s.node.Id(), c.Type, s.node.SqlDatabase.Name(), s.name, c.Name))
	}
	f.targets, f.found.targets = append(f.targets, i), append(f.found.targets, t)
	return len(f.targets) - 1, nil
}

// column returns the place in a row of a column as it is numbered now, which any table of the FROM
// may have.
func (f *finder) column(g *expression.GetField) int {
	if _, ok := f.places[g.Id()]; !ok {
		f.places[g.Id()] = len(f.items)
		f.items = append(f.items, g)
	}
	return f.places[g.Id()]
}

// value adds an expression, and returns its place in a row.
func (f *finder) value(e sql.Expression) int {
	f.last++
	f.items = append(f.items, expression.NewAlias(f.ctx, e.String(), e).WithId(f.last))
	return len(f.items) - 1
}

// indexed makes an expression's columns those of a row.
func (f *finder) indexed(e sql.Expression) (sql.Expression, error) {
	if tree.HasSubquery(f.ctx, e) {
		return nil, unsupported("Run the subquery first, or assign the column last.", "A subquery beside a column that the %s has assigned before is not supported.", f.verb)
	}
	return tree.Replaced(f.ctx, e, func(g *expression.GetField) sql.Expression { return g.WithIndex(f.column(g)) })
}

// columns replaces the columns of an expression by those that the targets have in the SELECT.
func (f *finder) columns(e sql.Expression) (sql.Expression, error) {
	e, _, err := transform.Expr(f.ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch x := e.(type) {
		case *expression.GetField:
			if id, ok := f.renamed[x.Id()]; ok {
				return x.WithId(id).(sql.Expression), transform.NewTree, nil
			}
		case *plan.Subquery:
			q, err := f.numbered(x.Query)
			return x.WithQuery(q).WithCorrelated(f.set(x.Correlated())), transform.NewTree, err
		}
		return e, transform.SameTree, nil
	})
	return e, err
}

// set is a set of columns as they are numbered in the SELECT.
func (f *finder) set(columns sql.ColSet) (out sql.ColSet) {
	columns.ForEach(func(id sql.ColumnId) {
		if now, ok := f.renamed[id]; ok {
			id = now
		}
		out.Add(id)
	})
	return out
}

// numbered is a part of the statement with the targets' row numbers in it. The binder numbers the
// columns of a table one after the other, so those of a target get numbers anew.
func (f *finder) numbered(n sql.Node) (sql.Node, error) {
	n, _, err := transform.NodeWithOpaque(f.ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch x := n.(type) {
		case *plan.ResolvedTable:
			for i, at := range f.targets {
				if s := f.sources[at]; s.node.Id() == x.Id() {
					return f.numberedTable(x, i)
				}
			}
		case *plan.TableAlias:
			if rt, ok := x.Child.(*plan.ResolvedTable); ok {
				return x.WithColumns(rt.Columns()).(sql.Node), transform.NewTree, nil
			}
		case *plan.SubqueryAlias:
			return x.WithCorrelated(f.set(x.Correlated)), transform.NewTree, nil
		}
		e, ok := n.(sql.Expressioner)
		if !ok || len(e.Expressions()) == 0 {
			return n, transform.SameTree, nil
		}
		list := slices.Clone(e.Expressions())
		for i := range list {
			var err error
			if list[i], err = f.columns(list[i]); err != nil {
				return nil, transform.SameTree, err
			}
		}
		n, err := e.WithExpressions(ctx, list...)
		return n, transform.NewTree, err
	})
	return n, err
}

func (f *finder) numberedTable(n *plan.ResolvedTable, target int) (sql.Node, transform.TreeIdentity, error) {
	t := f.found.targets[target]
	replaced, err := n.ReplaceTable(f.ctx, t.table.numbered())
	if err != nil {
		return nil, transform.SameTree, err
	}
	var columns sql.ColSet
	for _, e := range f.items[t.first : t.first+len(t.table.schema)+1] {
		columns.Add(tree.ID(e))
	}
	return replaced.(plan.TableIdNode).WithColumns(columns).(sql.Node), transform.NewTree, nil
}

// find plans the SELECT over the statement's row source, in the order of columns if any.
func (f *finder) find(a *analyzer.Analyzer, child sql.Node, flags *sql.QueryFlags, by ...sql.Expression) (*found, error) {
	child, err := f.numbered(child)
	if err != nil {
		return nil, err
	}
	if len(by) > 0 {
		order := make(sql.SortConditions, len(by))
		for i := range order {
			order[i].Order, order[i].NullOrdering = sql.Ascending, sql.NullsFirst
		}
		child = plan.NewSort(order.FromExpressions(f.ctx, by...), child)
	}
	own := &sql.QueryFlags{}
	if flags != nil {
		own.Flags = flags.Flags.Copy()
	}
	for _, dml := range []int{sql.QFlagUpdate, sql.QFlagDelete, sql.QFlagMax1Row} {
		own.Unset(dml)
	}
	f.query, err = a.Analyze(f.ctx, plan.NewProject(f.ctx, f.items, child), nil, own)
	return &f.found, err
}

// permitted asks for the privileges to change the targets, and to read whatever the FROM names.
// What derived tables and subqueries read has been asked for where they were bound.
func (f *finder) permitted(a *analyzer.Analyzer, change sql.PrivilegeType) error {
	for i, s := range f.sources {
		needs := map[string]sql.PrivilegeType{"SELECT": sql.PrivilegeType_Select}
		if slices.Contains(f.targets, i) {
			needs[f.verb] = change
		}
		for word, p := range needs {
			subject := sql.PrivilegeCheckSubject{Database: s.node.SqlDatabase.Name(), Table: s.node.Name()}
			if !a.Catalog.MySQLDb.UserHasPrivileges(f.ctx, sql.NewPrivilegedOperation(subject, p)) {
				c := f.ctx.Client()
				return mysql.NewSQLError(1142, "42000", "%s command denied to user '%s'@'%s' for table '%s'", word, c.User, c.Address, s.node.Name())
			}
		}
	}
	return nil
}

// newFoundUpdate returns the node that stands for an UPDATE whose rows a SELECT finds.
func newFoundUpdate(ctx *sql.Context, a *analyzer.Analyzer, n *plan.Update, flags *sql.QueryFlags) (sql.Node, error) {
	from, ok := n.Child.(*plan.UpdateSource)
	if !ok {
		return nil, nil
	}
	if len(n.Returning) > 0 {
		return nil, errReturning
	}
	f, err := newFinder(ctx, "UPDATE", n, from.Child)
	if err != nil {
		return nil, err
	}
	all, explicit := from.UpdateExprs.AllExpressions(), len(from.UpdateExprs.ExplicitUpdateExprs())
	u := &update{ignore: n.Ignore}
	var values []sql.Expression
	for i, e := range all {
		field, value, err := assigned(e)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(f.sources, func(s source) bool { return s.node.Id() == field.TableId() })
		if at < 0 {
			return nil, f.notTarget(field.Table())
		}
		if i >= explicit && !slices.Contains(f.targets, at) {
			continue // of a table that the statement only reads
		}
		of, err := f.target(at)
		if err != nil {
			return nil, err
		}
		column := f.found.targets[of].table.schema.IndexOfColName(field.Name())
		if column < 0 {
			return nil, sql.ErrTableColumnNotFound.New(field.Table(), field.Name())
		}
		if f.found.targets[of].table.generated(column) {
			if !waits(value) {
				return nil, f.found.targets[of].table.errGiven(column)
			}
			continue
		}
		if _, isDefault := value.(*expression.Wrapper); isDefault && f.ambiguous(field.Name()) {
			return nil, unsupported("Write the value.", "DEFAULT of the column %s, which several tables of the UPDATE have, is not supported.", field.Name())
		}
		u.assign(of, column, i >= explicit)
		values = append(values, value)
	}
	if err := f.permitted(a, sql.PrivilegeType_Update); err != nil {
		return nil, err
	}
	if err := f.twice(u); err != nil {
		return nil, err
	}
	for i, t := range f.found.targets {
		for j, c := range t.table.schema {
			if c.OnUpdate != nil && !slices.ContainsFunc(u.set, func(a assignment) bool { return a.of == i && a.column == j }) {
				return nil, unsupported("Assign CURRENT_TIMESTAMP to it.", "UPDATE of several tables with a column %s, one of them ON UPDATE, is not supported.", c.Name)
			}
		}
		t.table = t.table.withChecks(ctx, checksOf(t.table, n.Checks()))
	}
	var before sql.ColSet
	for i := range u.set {
		s := &u.set[i]
		t := f.found.targets[s.of]
		own := false
		s.value, own = assignable(ctx, t.table, s.column, values[i])
		switch _, constant := s.value.(*expression.Literal); {
		case s.value == nil || constant:
		case own || s.derived:
			s.value = t.indexed(ctx, s.value)
		default:
			if s.value, err = f.columns(s.value); err == nil && f.uses(s.value, before) {
				s.value, err = f.indexed(s.value)
			} else if err == nil {
				s.place = f.value(s.value)
			}
			if err != nil {
				return nil, err
			}
		}
		if s.guarded = s.value; s.value != nil && s.place == 0 {
			if s.guarded, err = standard.Guarded(ctx, s.value); err != nil {
				return nil, err
			}
		}
		before.Add(tree.ID(f.items[t.first+s.column]))
	}
	u.targets, u.leaf, u.joined = f.found.targets, leaf{name: "UPDATE " + names(f.found.targets)}, len(f.sources) > 1
	if err := u.follow(ctx); err != nil {
		return nil, err
	}
	var by []sql.Expression
	if len(u.targets) == 1 && !u.joined && !isSorted(from.Child) && u.targets[0].table.touchesKey(u.sets(0)) {
		by = append(by, lists.Map(u.targets[0].table.pk, func(i int) sql.Expression { return f.items[u.targets[0].first+i] })...)
	}
	u.found, err = f.find(a, from.Child, flags, by...)
	return u, err
}

// isSorted reports whether a row source has an ORDER BY.
func isSorted(n sql.Node) bool {
	switch n.(type) {
	case *plan.Sort:
		return true
	case *plan.Limit, *plan.Offset:
		return isSorted(n.Children()[0])
	}
	return false
}

// twice refuses an UPDATE of a key of a table that it changes by two names: the store then numbers
// the rows anew. MySQL refuses that for the primary key.
func (f *finder) twice(u *update) error {
	for i, at := range f.targets {
		for j, other := range f.targets[:i] {
			a, b := f.sources[other], f.sources[at]
			if a.table.def.Ref != b.table.def.Ref {
				continue
			}
			for _, s := range u.set {
				if (s.of != i && s.of != j) || !a.table.touchesKey([]int{s.column}) {
					continue
				}
				if slices.ContainsFunc(a.table.def.Keys, func(k store.Key) bool { return k.Primary && contains(k.Columns, a.table.def.Columns[s.column].Name) }) {
					return mysql.NewSQLError(1706, "HY000", "Primary key/partition key update is not allowed since the table is updated both as '%s' and '%s'.", a.name, b.name)
				}
				return unsupported("Change the key in a statement of its own.", "UPDATE of a UNIQUE key of the table %s, which is changed both as %s and %s, is not supported.", a.table.Name(), a.name, b.name)
			}
		}
	}
	return nil
}

// uses reports whether an expression, or a subquery in it, reads one of the columns.
func (f *finder) uses(e sql.Expression, columns sql.ColSet) bool {
	return tree.Contains(f.ctx, e, func(e sql.Expression) bool {
		switch x := e.(type) {
		case *expression.GetField:
			return columns.Contains(x.Id())
		case *plan.Subquery:
			return x.Correlated().Intersects(columns)
		}
		return false
	})
}

// ambiguous reports whether several tables of the FROM have a column of the name.
func (f *finder) ambiguous(column string) bool {
	n := 0
	for _, s := range f.sources {
		if s.table == nil || s.table.schema.IndexOfColName(column) >= 0 {
			n++
		}
	}
	return n > 1
}

// checksOf picks a table's CHECKs out of those of a statement.
func checksOf(t *Table, all sql.CheckConstraints) (list sql.CheckConstraints) {
	for _, c := range all {
		for _, own := range tableMetaOf(t.def).Checks {
			if strings.EqualFold(own.Name, c.Name) {
				list = append(list, c)
			}
		}
	}
	return list
}

// isDerived reports whether a FROM has rows of this name that are not a table's.
func isDerived(n sql.Node, name string) bool {
	is := false
	transform.Inspect(n, func(n sql.Node) bool {
		if named, ok := n.(sql.Nameable); ok && strings.EqualFold(named.Name(), name) {
			is = true
		}
		return !is
	})
	return is
}

// sameTable reports whether a target as the binder has found it is a source.
func sameTable(target plan.TableIdNode, s source) bool {
	if target.Id() == s.node.Id() {
		return true
	}
	rt, ok := target.(*plan.ResolvedTable)
	return ok && strings.EqualFold(rt.Name(), s.node.Name()) && rt.SqlDatabase.Name() == s.node.SqlDatabase.Name()
}

func names(targets []*target) string {
	return strings.Join(lists.Map(targets, func(t *target) string { return t.table.def.Ref.String() }), ", ")
}
