package browse

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/mysql/virtual"
	"scrim/internal/refuse"
)

// table is a virtual table: its rows are made when they are read, for the session that reads.
type table struct {
	virtual.Named
	read func(ctx *sql.Context) ([]sql.Row, error)
	// within, if it is set, reads the rows within bounds.
	within func(ctx *sql.Context, only bounds) ([]sql.Row, error)
	only   bounds
}

var _ sql.Table = (*table)(nil)

// newTable makes a table that read reads.
func newTable(name string, schema sql.Schema, read func(*sql.Context) ([]sql.Row, error)) *table {
	return &table{Named: virtual.Named{Title: name, Columns: schema}, read: read}
}

// Collation implements sql.Table.
func (t *table) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// PartitionRows implements sql.Table.
func (t *table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	if t.within != nil {
		return virtual.Rows(func(ctx *sql.Context) ([]sql.Row, error) { return t.within(ctx, t.only) }), nil
	}
	return virtual.Rows(t.read), nil
}

// Types of the columns. Texts compare without case, as in MySQL's catalogue.
var (
	name    = types.MustCreateString(sqltypes.VarChar, 64, sql.Collation_Information_Schema_Default)
	long    = types.MustCreateString(sqltypes.VarChar, 2048, sql.Collation_Information_Schema_Default)
	text    = types.LongText
	number  = types.Int64
	natural = types.Uint64
	moment  = types.Datetime
)

// columns makes a schema from pairs of a name and a type.
func columns(database, table string, pairs ...any) sql.Schema {
	s := make(sql.Schema, len(pairs)/2)
	for i := range s {
		s[i] = &sql.Column{Name: pairs[2*i].(string), Type: pairs[2*i+1].(sql.Type), Nullable: true, Source: table, DatabaseSource: database}
	}
	return s
}

// named makes a schema of texts.
func named(database, table string, names ...string) sql.Schema {
	pairs := make([]any, 0, 2*len(names))
	for _, n := range names {
		pairs = append(pairs, n, sql.Type(long))
	}
	return columns(database, table, pairs...)
}

func none(*sql.Context) ([]sql.Row, error) { return nil, nil }

// database is a read-only database of virtual tables.
type database struct {
	virtual.Objects
	virtual.Triggers
	name   string
	tables map[string]*table // by lower-case name
	// make finds the tables that are not listed. It may be nil.
	make func(ctx *sql.Context, name string) (sql.Table, error)
}

var (
	_ sql.ReadOnlyDatabase        = (*database)(nil)
	_ sql.ViewDatabase            = (*database)(nil)
	_ sql.StoredProcedureDatabase = (*database)(nil)
	_ sql.TriggerDatabase         = (*database)(nil)
)

func newDatabase(name string, list ...*table) *database {
	d := &database{name: name, tables: map[string]*table{}}
	d.Objects, d.Triggers = d.refuse, d.refuse
	for _, t := range list {
		d.tables[strings.ToLower(t.Title)] = t
	}
	return d
}

// Name implements sql.Database.
func (d *database) Name() string { return d.name }

// IsReadOnly implements sql.ReadOnlyDatabase. A view of another database may select from
// information_schema, which go-mysql-server would take for a change of it; a table cannot be made
// in either.
func (d *database) IsReadOnly() bool { return d.name != sql.InformationSchemaDatabaseName }

// GetTableInsensitive implements sql.Database.
func (d *database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t, ok := d.tables[strings.ToLower(name)]; ok {
		return t, true, nil
	}
	if d.make == nil {
		return nil, false, nil
	}
	t, err := d.make(ctx, name)
	return t, t != nil && err == nil, err
}

// GetTableNames implements sql.Database.
func (d *database) GetTableNames(*sql.Context) ([]string, error) { return sorted(d.tables), nil }

func (d *database) refuse() error {
	return refuse.New(refuse.Unsupported, "The database %s is read-only.", strings.TrimSpace(d.name)).With("Use a database of your own.")
}

// bounds say what of a catalogue a query asks for: the rows of one database, or of tables of one
// name. "" is no bound.
type bounds struct{ database, table string }

// in reports whether a name may be within a bound. Letters with accents compare as those without,
// which is left to the condition.
func (bounds) in(bound, name string) bool {
	return bound == "" || strings.EqualFold(bound, name) || strings.ContainsFunc(name, func(r rune) bool { return r > 127 })
}

// boundsRuleID is outside the range that go-mysql-server uses.
const boundsRuleID analyzer.RuleId = 20200

// Rule returns the analysis rule that makes a table of the catalogue no larger than a query's
// condition on it:
//
//	SELECT … FROM information_schema.columns WHERE table_schema = 'shop' AND …
//
// It comes before all others, on the plan as it was bound. The condition stays, and decides: a
// bound only leaves out rows that it would drop, behind an outer join too.
func Rule() analyzer.Rule { return analyzer.Rule{Id: boundsRuleID, Apply: narrow} }

func narrow(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		asked := map[string]bounds{}
		for _, c := range expression.SplitConjunction(ctx, f.Expression) {
			note(ctx, asked, c)
		}
		if len(asked) == 0 {
			return n, transform.SameTree, nil
		}
		child, same, err := bound(ctx, f.Child, asked)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		return plan.NewFilter(ctx, f.Expression, child), transform.NewTree, nil
	})
}

// note notes a condition of the kind column = constant, by the name of the column's table.
func note(ctx *sql.Context, asked map[string]bounds, e sql.Expression) {
	eq, ok := e.(*expression.Equals)
	if !ok {
		return
	}
	column, ok := eq.Left().(*expression.GetField)
	value := eq.Right()
	if !ok {
		if column, ok = eq.Right().(*expression.GetField); !ok {
			return
		}
		value = eq.Left()
	}
	text, ok := said(ctx, value)
	if !ok || text == "" {
		return
	}
	b := asked[strings.ToLower(column.Table())]
	switch strings.ToUpper(column.Name()) {
	case "TABLE_SCHEMA":
		b.database = text
	case "TABLE_NAME":
		b.table = text
	default:
		return
	}
	asked[strings.ToLower(column.Table())] = b
}

// said is a text that the statement, or the session, says.
func said(ctx *sql.Context, e sql.Expression) (string, bool) {
	switch e.(type) {
	case *expression.Literal, *function.Database:
		v, err := e.Eval(ctx, nil)
		text, ok := v.(string)
		return strings.TrimRight(text, " "), err == nil && ok
	}
	return "", false
}

// bound puts bounds on the tables below a filter, down to the next node that is neither a join nor
// the name of a table.
func bound(ctx *sql.Context, n sql.Node, asked map[string]bounds) (sql.Node, transform.TreeIdentity, error) {
	switch t := n.(type) {
	case *plan.ResolvedTable:
		return boundTable(ctx, t, asked[strings.ToLower(t.Name())])
	case *plan.TableAlias:
		r, ok := t.Child.(*plan.ResolvedTable)
		if !ok {
			return n, transform.SameTree, nil
		}
		child, same, err := boundTable(ctx, r, asked[strings.ToLower(t.Name())])
		if err != nil || same {
			return n, transform.SameTree, err
		}
		changed, err := t.WithChildren(ctx, child)
		return changed, transform.NewTree, err
	case *plan.JoinNode:
		left, sameLeft, err := bound(ctx, t.Left(), asked)
		if err != nil {
			return n, transform.SameTree, err
		}
		right, sameRight, err := bound(ctx, t.Right(), asked)
		if err != nil || bool(sameLeft) && bool(sameRight) {
			return n, transform.SameTree, err
		}
		changed, err := t.WithChildren(ctx, left, right)
		return changed, transform.NewTree, err
	}
	return n, transform.SameTree, nil
}

func boundTable(ctx *sql.Context, n *plan.ResolvedTable, b bounds) (sql.Node, transform.TreeIdentity, error) {
	t, ok := n.Table.(*table)
	if !ok || t.within == nil || b == (bounds{}) {
		return n, transform.SameTree, nil
	}
	own := *t
	own.only = b
	changed, err := n.ReplaceTable(ctx, &own)
	return changed, transform.NewTree, err
}
