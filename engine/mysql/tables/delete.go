package tables

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/quota"
	"scrim/planner/lower"
)

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
