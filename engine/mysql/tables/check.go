package tables

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/parse"
)

// checkMeta is a CHECK constraint: a part of a table's catalogue, which the store has not.
type checkMeta struct {
	Name string `json:"name"`
	Text string `json:"text"`          // the condition
	Off  bool   `json:"off,omitempty"` // NOT ENFORCED
}

// check is a constraint of a statement that writes.
type check struct {
	name      string
	condition sql.Expression
	enforced  bool
}

var _ sql.CheckTable = (*Table)(nil)

// GetChecks implements sql.CheckTable: go-mysql-server binds them for each statement that writes.
func (t *Table) GetChecks(*sql.Context) ([]sql.CheckDefinition, error) {
	var list []sql.CheckDefinition
	for _, c := range tableMetaOf(t.def).Checks {
		list = append(list, sql.CheckDefinition{Name: c.Name, CheckExpression: c.Text, Enforced: !c.Off})
	}
	return list, nil
}

// Importable refuses the table of a comment that has CHECKs: an import looks at no rows.
func Importable(comment string) error {
	if m := tableMetaOf(store.Table{Comment: comment}); len(m.Checks) > 0 {
		return unsupported("Load the file with LOAD DATA, or scrim import --server.", "An import into a table with CHECK constraints (%s) is not supported.", m.Checks[0].Name)
	}
	return nil
}

// withChecks is the table with constraints as they were bound for a statement.
func (t *Table) withChecks(ctx *sql.Context, bound sql.CheckConstraints) *Table {
	n := *t
	n.checks = nil
	for _, c := range bound {
		n.checks = append(n.checks, check{c.Name, (&target{table: t}).indexed(ctx, c.Expr), c.Enforced})
	}
	return &n
}

// check refuses a row, with values as they are stored, that a CHECK is false of. A statement for
// which the constraints were not bound writes nothing.
func (t *Table) check(ctx *sql.Context, row sql.Row) error {
	if len(t.checks) != t.declared {
		return unsupported("Use a plain INSERT or UPDATE of this table alone.", "The table %s has CHECK constraints, which this statement does not see.", t.def.Ref)
	}
	for _, c := range t.checks {
		if !c.enforced {
			continue
		}
		v, err := sql.EvaluateCondition(ctx, c.condition, row)
		if err != nil {
			return err
		}
		if sql.IsFalse(v) {
			return violated(c.name)
		}
	}
	return nil
}

// violated is an error that go-mysql-server's INSERT IGNORE knows.
func violated(name string) error { return sql.ErrCheckConstraintViolated.New(name) }

// round rounds the times of a row to the digits that their columns have, away from zero.
func (t *Table) round(row sql.Row) {
	for i, digits := range t.fractions {
		x, ok := row[i].(types.Timespan)
		if !ok {
			continue
		}
		unit := types.Timespan(1)
		for ; digits < 6; digits++ {
			unit *= 10
		}
		half := unit / 2
		if x < 0 {
			half = -half
		}
		row[i] = types.Time.MicrosecondsToTimespan(int64((x + half) / unit * unit))
	}
}

// specsOf are the parts of a statement that define columns and constraints, with what they do.
func specsOf(ctx *sql.Context) (specs []*sqlparser.DDL) {
	statement, _ := parse.Statement(ctx)
	switch s := statement.(type) {
	case *sqlparser.DDL:
		specs = []*sqlparser.DDL{s}
	case *sqlparser.AlterTable:
		specs = s.Statements
	}
	return specs
}

// declaredChecks are the CHECKs that CREATE TABLE makes, or the ADD CHECKs of ALTER TABLE, in their
// order. Plain says that the rows come later.
func declaredChecks(ctx *sql.Context) (list []*sqlparser.ConstraintDefinition, plain bool) {
	plain = true
	for _, s := range specsOf(ctx) {
		plain = plain && s.OptSelect == nil
		if s.TableSpec == nil || s.ColumnAction != "" || s.ConstraintAction != "" && !strings.EqualFold(s.ConstraintAction, sqlparser.AddStr) {
			continue
		}
		for _, c := range s.TableSpec.Constraints {
			if _, ok := c.Details.(*sqlparser.CheckConstraintDefinition); ok {
				list = append(list, c)
			}
		}
	}
	return list, plain
}

// ofColumn reports whether a clause of ALTER TABLE that defines the column has a CHECK.
func ofColumn(ctx *sql.Context, column string) bool {
	for _, s := range specsOf(ctx) {
		if s.ColumnAction != "" && s.TableSpec != nil && len(s.TableSpec.Constraints) > 0 && s.TableSpec.Columns[0].Name.EqualString(column) {
			return true
		}
	}
	return false
}

// declaredFraction is n of a column that the statement declares as TIME(n); ok is false of others.
func declaredFraction(ctx *sql.Context, column string) (digits int, ok bool) {
	for _, s := range specsOf(ctx) {
		if s.TableSpec == nil {
			continue
		}
		for _, c := range s.TableSpec.Columns {
			if c.Name.EqualString(column) && strings.EqualFold(c.Type.Type, "time") {
				for _, n := range []*sqlparser.SQLVal{c.Type.Length, c.Type.Scale} {
					if n != nil {
						_, _ = fmt.Sscan(string(n.Val), &digits)
					}
				}
				return digits, true
			}
		}
	}
	return 0, false
}

// changing are the functions whose values are not of the row alone.
var changing = map[string]bool{"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "sysdate": true, "curdate": true, "current_date": true,
	"curtime": true, "current_time": true, "utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true, "rand": true, "uuid": true, "uuid_short": true,
	"connection_id": true, "user": true, "current_user": true, "session_user": true, "system_user": true, "current_role": true, "database": true, "schema": true, "version": true,
	"found_rows": true, "row_count": true, "last_insert_id": true, "sleep": true, "benchmark": true, "get_lock": true, "release_lock": true, "release_all_locks": true,
	"is_free_lock": true, "is_used_lock": true, "load_file": true, "master_pos_wait": true, "random_bytes": true}

// addCheck adds a CHECK that a statement declares.
func (d *definition) addCheck(c *sqlparser.ConstraintDefinition) error {
	details := c.Details.(*sqlparser.CheckConstraintDefinition)
	m := checkMeta{Name: c.Name, Off: !details.Enforced}
	if m.Name == "" {
		m.Name = d.checkName()
	}
	for _, other := range d.checks {
		if strings.EqualFold(other.Name, m.Name) {
			return mysql.NewSQLError(3822, "HY000", "Duplicate check constraint name '%s'.", m.Name)
		}
	}
	err := sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery, *sqlparser.Default, *sqlparser.ValuesFuncExpr, *sqlparser.GroupConcatExpr:
			return false, mysql.NewSQLError(3815, "HY000", "An expression of a check constraint '%s' contains disallowed function.", m.Name)
		case *sqlparser.FuncExpr:
			if name := n.Name.Lowered(); changing[name] || n.IsAggregate() || n.Over != nil || strings.HasPrefix(name, "dp_") {
				return false, mysql.NewSQLError(3814, "HY000", "An expression of a check constraint '%s' contains disallowed function: %s.", m.Name, name)
			}
		case *sqlparser.ColName:
			at := d.column(n.Name.String())
			switch {
			case strings.HasPrefix(n.Name.String(), "@"):
				return false, mysql.NewSQLError(3816, "HY000", "An expression of a check constraint '%s' cannot refer to a user or system variable.", m.Name)
			case at < 0:
				return false, mysql.NewSQLError(3820, "HY000", "Check constraint '%s' refers to non-existing column '%s'.", m.Name, n.Name.String())
			case d.columns[at].meta.Auto:
				return false, mysql.NewSQLError(3818, "HY000", "Check constraint '%s' cannot refer to an auto-increment column.", m.Name)
			}
		}
		return true, nil
	}, details.Expr)
	if err != nil {
		return err
	}
	condition := details.Expr
	for inner, ok := condition.(*sqlparser.ParenExpr); ok; inner, ok = condition.(*sqlparser.ParenExpr) {
		condition = inner.Expr
	}
	text := sqlparser.NewTrackedBuffer(func(b *sqlparser.TrackedBuffer, n sqlparser.SQLNode) {
		if c, ok := n.(*sqlparser.ColName); ok {
			b.WriteString(sqltext.Name(d.columns[d.column(c.Name.String())].name))
			return
		}
		if p, ok := n.(*sqlparser.ParenExpr); ok && operation(p.Expr) {
			n = p.Expr
		}
		if n != condition && operation(n) { // in brackets, as MySQL writes it
			b.WriteByte('(')
			n.Format(b)
			b.WriteByte(')')
			return
		}
		n.Format(b)
	})
	text.Myprintf("%v", condition)
	m.Text = text.String()
	d.checks = append(d.checks, m)
	return nil
}

func operation(n sqlparser.SQLNode) bool {
	switch n.(type) {
	case *sqlparser.ComparisonExpr, *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.BinaryExpr, *sqlparser.RangeCond, *sqlparser.IsExpr:
		return true
	}
	return false
}

// checkName is the name of a CHECK that is declared without one.
func (d *definition) checkName() string {
	for n := 1; ; n++ {
		name, taken := fmt.Sprintf("%s_chk_%d", d.ref.Name, n), false
		for _, c := range d.checks {
			taken = taken || strings.EqualFold(c.Name, name)
		}
		if !taken {
			return name
		}
	}
}

// columnsIn are the columns that the text of a default or a CHECK names.
func columnsIn(text string) (names []string) {
	s, err := sqlparser.Parse("SELECT " + text)
	if err != nil {
		return nil
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if c, ok := n.(*sqlparser.ColName); ok {
			names = append(names, c.Name.String())
		}
		return true, nil
	}, s)
	return names
}

// rests refuses to drop or rename a column that a default or a CHECK names. A CHECK of a dropped
// column alone goes with it.
func (d *definition) rests(column string, drop bool) error {
	for _, c := range d.columns {
		if !strings.EqualFold(c.name, column) && contains(columnsIn(c.meta.Default), column) {
			return mysql.NewSQLError(3837, "HY000", "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.", column, d.ref.Name)
		}
	}
	var kept []checkMeta
	for _, c := range d.checks {
		names, others := columnsIn(c.Text), false
		for _, n := range names {
			others = others || !strings.EqualFold(n, column)
		}
		switch {
		case !contains(names, column):
			kept = append(kept, c)
		case others || !drop:
			return mysql.NewSQLError(3959, "HY000", "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed.", c.Name, column)
		}
	}
	d.checks = kept
	return nil
}

// addCheck runs ADD CHECK, which every row that is there has to meet.
func (d *Database) addCheck(ctx *sql.Context, n *plan.CreateCheck) error {
	name := n.Table.Name()
	var number int
	err := d.alter(ctx, name, alteration{change: Change{Op: ModifyColumn}, reads: n.Check.Enforced, meta: true, apply: func(t *definition) error {
		list, _ := declaredChecks(ctx)
		if w, ok := ctx.Value(alteredKey{}).(*altered); ok {
			number = w.checks
			w.checks++
		}
		if number >= len(list) {
			return unsupported("Send it as a statement of its own.", "ADD CHECK is not supported here.")
		}
		return t.addCheck(list[number])
	}, verify: func(def *definition) func(store.Session) error {
		if !n.Check.Enforced {
			return nil
		}
		added := def.checks[len(def.checks)-1].Name
		return func(s store.Session) error {
			stored, err := d.stored(ctx, name)
			if err != nil {
				return err
			}
			table, err := newTable(ctx, d.p, stored)
			if err != nil {
				return err
			}
			against := &target{table: table, where: []sql.Expression{expression.NewNot(n.Check.Expr)}}
			b, found := lower.Binder{Raise: true}, false
			where, err := against.condition(ctx, &b)
			if err != nil {
				return err
			}
			rows, err := s.Query(ctx, "SELECT 1 FROM "+quote(stored.Ref)+" WHERE "+where+" LIMIT 1", b.Args()...)
			if err == nil {
				err = store.Each(rows, func([]any) error { found = true; return nil })
			}
			if err == nil && found {
				err = violated(added)
			}
			return classify(err, &stored.Ref)
		}
	}})
	return err
}

// dropCheck runs DROP CHECK.
func (d *Database) dropCheck(ctx *sql.Context, table, name string) error {
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error {
		for i, c := range t.checks {
			if strings.EqualFold(c.Name, name) {
				t.checks = append(t.checks[:i:i], t.checks[i+1:]...)
				return nil
			}
		}
		return mysql.NewSQLError(3821, "HY000", "Check constraint '%s' is not found in the table.", name)
	}})
}

// dropConstraint returns the node that stands for DROP CONSTRAINT: of a key, or of a CHECK.
func dropConstraint(n *plan.DropConstraint) (r sql.Node) {
	transform.Inspect(n.Child, func(c sql.Node) bool {
		rt, ok := c.(*plan.ResolvedTable)
		if !ok {
			return true
		}
		t, ok := asTable(rt.Table)
		if !ok {
			return false
		}
		if definitionOf(t.def).key(n.Name) >= 0 {
			r = newAlterIndex(plan.NewAlterDropIndex(rt.SqlDatabase, rt, n.IfExists, n.Name))
		} else {
			r = plan.NewAlterDropCheck(rt, n.Name)
		}
		return false
	})
	return r
}
