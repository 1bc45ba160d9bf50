package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/lists"
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
	return lists.Map(tableMetaOf(t.def).Checks, func(c checkMeta) sql.CheckDefinition {
		return sql.CheckDefinition{Name: c.Name, CheckExpression: c.Text, Enforced: !c.Off}
	}), nil
}

// Importable refuses an import into a table with CHECKs, foreign keys or computed columns, or in
// the place of rows that a foreign key of another table references: an import looks at no rows.
// Comments are those of the schema's tables.
func Importable(table string, comments map[string]string, replaces bool) error {
	remedy := "Load the file with LOAD DATA, or scrim import --server."
	m := tableMetaOf(store.Table{Comment: comments[table]})
	switch {
	case m.Computed:
		return unsupported(remedy, "An import into a table with generated columns, or with UNIQUE keys on prefixes or expressions, is not supported.")
	case len(m.Checks) > 0:
		return unsupported(remedy, "An import into a table with CHECK constraints (%s) is not supported.", m.Checks[0].Name)
	case len(m.Foreign) > 0:
		return unsupported(remedy, "An import into a table with foreign keys (%s) is not supported.", m.Foreign[0].Name)
	}
	for name, comment := range comments {
		for _, k := range tableMetaOf(store.Table{Comment: comment}).Foreign {
			if replaces && k.Parent == table {
				return unsupported(remedy, "An import in the place of rows that a foreign key (%s of %s) references is not supported.", k.Name, name)
			}
		}
	}
	return nil
}

// withChecks is the table with constraints as they were bound for a statement.
func (t *Table) withChecks(ctx *sql.Context, bound sql.CheckConstraints) *Table {
	n := *t
	n.checks = nil
	for _, c := range bound {
		n.checks = append(n.checks, check{c.Name, indexed(ctx, t.schema, 0, c.Expr), c.Enforced})
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
			return sql.ErrCheckConstraintViolated.New(c.name)
		}
	}
	return nil
}

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
		if s.TableSpec == nil || s.ColumnAction != "" && s.ConstraintAction == "" || s.ConstraintAction != "" && !strings.EqualFold(s.ConstraintAction, sqlparser.AddStr) {
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

// ofColumn returns the CHECKs within the clause of ALTER TABLE that defines a column.
// go-mysql-server makes no clauses of their own of them.
func ofColumn(ctx *sql.Context, column string) []*sqlparser.ConstraintDefinition {
	for _, s := range specsOf(ctx) {
		if s.ColumnAction != "" && s.ConstraintAction == "" && s.TableSpec != nil && len(s.TableSpec.Columns) > 0 && s.TableSpec.Columns[0].Name.EqualString(column) {
			return s.TableSpec.Constraints
		}
	}
	return nil
}

// declaredColumns are the columns that the statement defines.
func declaredColumns(ctx *sql.Context) (list []*sqlparser.ColumnDefinition) {
	for _, s := range specsOf(ctx) {
		if s.TableSpec != nil {
			list = append(list, s.TableSpec.Columns...)
		}
	}
	return list
}

// declaredFraction is n of a column that the statement declares as TIME(n); ok is false of others.
func declaredFraction(ctx *sql.Context, column string) (digits int, ok bool) {
	for _, c := range declaredColumns(ctx) {
		if c.Name.EqualString(column) && strings.EqualFold(c.Type.Type, "time") {
			for _, n := range []*sqlparser.SQLVal{c.Type.Length, c.Type.Scale} {
				if n != nil {
					_, _ = fmt.Sscan(string(n.Val), &digits)
				}
			}
			return digits, true
		}
	}
	return 0, false
}

// inlineReference reports whether the statement defines the column with REFERENCES.
func inlineReference(ctx *sql.Context, column string) bool {
	return slices.ContainsFunc(declaredColumns(ctx), func(c *sqlparser.ColumnDefinition) bool {
		return c.Name.EqualString(column) && c.Type.ForeignKeyDef != nil
	})
}

// changing are the functions whose values are not of the row alone.
var changing = map[string]bool{"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "sysdate": true, "curdate": true, "current_date": true,
	"curtime": true, "current_time": true, "utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true, "rand": true, "uuid": true, "uuid_short": true,
	"connection_id": true, "user": true, "current_user": true, "session_user": true, "system_user": true, "current_role": true, "database": true, "schema": true, "version": true,
	"found_rows": true, "row_count": true, "last_insert_id": true, "sleep": true, "benchmark": true, "get_lock": true, "release_lock": true, "release_all_locks": true,
	"is_free_lock": true, "is_used_lock": true, "load_file": true, "master_pos_wait": true, "random_bytes": true}

// addChecks adds the CHECKs that a statement declares.
func (d *definition) addChecks(list []*sqlparser.ConstraintDefinition) error {
	return lists.Each(list, d.addCheck)
}

func (d *definition) addCheck(c *sqlparser.ConstraintDefinition) error {
	details := c.Details.(*sqlparser.CheckConstraintDefinition)
	m := checkMeta{Name: c.Name, Off: !details.Enforced}
	if m.Name == "" {
		m.Name = d.checkName()
	}
	if slices.ContainsFunc(d.checks, func(other checkMeta) bool { return strings.EqualFold(other.Name, m.Name) }) {
		return mysql.NewSQLError(3822, "HY000", "Duplicate check constraint name '%s'.", m.Name)
	}
	if err := d.deterministic(details.Expr, m.Name, ofCheck); err != nil {
		return err
	}
	m.Text = d.written(details.Expr)
	if err := lists.Each(d.foreign, func(k ForeignKey) error { return d.changedBy(k, m) }); err != nil {
		return err
	}
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

// columnsIn are the columns that the text of a default, a CHECK or the like names.
func columnsIn(text string) (names []string) {
	if text == "" {
		return nil
	}
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

// rests refuses to drop or rename a column that a default, a generated column, an index or a CHECK
// names. A CHECK of a dropped column alone goes with it.
func (d *definition) rests(column string, drop bool) error {
	for _, k := range d.keys {
		if slices.ContainsFunc(k.exprs, func(e string) bool { return contains(columnsIn(e), column) }) {
			return mysql.NewSQLError(3837, "HY000", "Column '%s' has a functional index dependency and cannot be dropped or renamed.", column)
		}
	}
	for _, c := range d.columns {
		if contains(columnsIn(c.meta.Generated), column) {
			return mysql.NewSQLError(3108, "HY000", "Column '%s' has a generated column dependency.", column)
		}
		if !strings.EqualFold(c.name, column) && contains(columnsIn(c.meta.Default), column) {
			return mysql.NewSQLError(3766, "HY000", "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.", column, d.ref.Name)
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
	return d.alter(ctx, n.Table.Name(), alteration{change: Change{Op: ModifyColumn}, reads: n.Check.Enforced, meta: true, apply: func(t *definition) error {
		list, _ := declaredChecks(ctx)
		number := 0
		if w, ok := ctx.Value(alteredKey{}).(*altered); ok {
			number = w.checks
			w.checks++
		}
		if number >= len(list) {
			return unsupported("Send it as a statement of its own.", "ADD CHECK is not supported here.")
		}
		return t.addCheck(list[number])
	}, after: d.p.checked(ctx, 1)})
}

// checked returns what looks whether the rows of a table meet the checks that an alteration has
// added as the last ones.
func (p *Provider) checked(ctx *sql.Context, added int) func(*definition) func(store.Session) error {
	return func(d *definition) func(store.Session) error {
		list := slices.Clone(d.checks[len(d.checks)-added:])
		return func(s store.Session) error {
			for _, c := range list {
				if c.Off || !slices.ContainsFunc(d.checks, func(o checkMeta) bool { return o.Name == c.Name }) {
					continue // dropped by a later clause
				}
				if err := d.meets(ctx, p, s, c); err != nil {
					return classify(err, &d.ref)
				}
			}
			return nil
		}
	}
}

// meets refuses a CHECK that a row of the table, as the definition says it is now, does not meet.
func (d *definition) meets(ctx *sql.Context, p *Provider, s store.Session, c checkMeta) error {
	t, err := newTable(ctx, p, d.table())
	if err != nil {
		return err
	}
	schema := append(t.schema.Copy(), &sql.Column{Name: "a check", Type: types.Boolean, Nullable: true, Source: t.def.Ref.Name, DatabaseSource: t.def.Ref.Schema})
	texts := make([]string, len(schema))
	texts[len(texts)-1] = c.Text
	bound, err := p.bind(ctx, t.def.Ref, schema, texts)
	if err != nil {
		return err
	}
	against := &target{table: t, where: []sql.Expression{expression.NewNot(bound[len(bound)-1])}}
	b := lower.Binder{Raise: true}
	where, err := against.condition(ctx, &b)
	if err != nil {
		return err
	}
	if found, err := anyRow(ctx, s, quote(t.def.Ref)+" WHERE "+where, b.Args()...); err != nil || !found {
		return err
	}
	return sql.ErrCheckConstraintViolated.New(c.Name)
}

// anyRow reports whether there is a row in FROM from, in the store's SQL.
func anyRow(ctx *sql.Context, s store.Session, from string, args ...any) (found bool, err error) {
	rows, err := s.Query(ctx, "SELECT 1 FROM "+from+" LIMIT 1", args...)
	if err == nil {
		err = store.Each(rows, func([]any) error { found = true; return nil })
	}
	return found, err
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
		def, db := definitionOf(t.def), &Database{p: t.p, name: t.def.Ref.Schema}
		if slices.ContainsFunc(def.foreign, func(k ForeignKey) bool { return strings.EqualFold(k.Name, n.Name) }) {
			r = clauseOf(plan.NewAlterDropForeignKey(db.name, t.Name(), n.Name), db)
		} else if def.key(n.Name) >= 0 {
			r = clauseOf(plan.NewAlterDropIndex(rt.SqlDatabase, rt, n.IfExists, n.Name), db)
		} else {
			r = plan.NewAlterDropCheck(rt, n.Name)
		}
		return false
	})
	return r
}
