package tables

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/planner/lower"
	"scrim/planner/parse"
)

var (
	errForeignKeys = unsupported("Leave the FOREIGN KEY out; CALL dp_link(child, child_column, parent, parent_column) tells the server how rows find their person.",
		"Foreign keys are not supported.")
	errChecks = unsupported("Leave the CHECK out.", "CHECK constraints are not supported.")
)

// createTable runs CREATE TABLE.
func (d *Database) createTable(ctx *sql.Context, n *plan.CreateTable) error {
	ref := d.ref(n.Name())
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	if n.IfNotExists() {
		if taken, err := d.taken(ctx, n.Name()); err != nil || taken {
			ctx.Warn(1050, "Table '%s' already exists", n.Name())
			return err
		}
	}
	if err := d.free(ctx, n.Name()); err != nil {
		return err
	}
	def, err := d.newDefinition(ctx, n)
	if err != nil {
		return err
	}
	if err := d.p.atomically(ctx, func(s store.Session) error { return def.create(ctx, s) }); err != nil {
		return err
	}
	d.p.ids.forget(ref)
	if first, ok := n.TableOpts["auto_increment"].(uint64); ok && first > 1 {
		d.p.ids.start(ref, first)
	}
	return nil
}

// start sets the first AUTO_INCREMENT value of a new table.
func (c *counters) start(ref store.TableRef, first uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next[ref] = first
}

// newDefinition turns a bound CREATE TABLE into a definition, or refuses what has no counterpart.
func (d *Database) newDefinition(ctx *sql.Context, n *plan.CreateTable) (*definition, error) {
	switch {
	case n.Temporary():
		return nil, unsupported("Create a plain table.", "Temporary tables are not supported.")
	case len(n.ForeignKeys()) > 0:
		return nil, errForeignKeys
	case len(n.Checks()) > 0:
		return nil, errChecks
	}
	def := &definition{ref: d.ref(n.Name())}
	def.comment, _ = n.TableOpts["comment"].(string)
	schema := n.PkSchema()
	for _, c := range schema.Schema {
		col, err := newColumn(ctx, c)
		if err != nil {
			return nil, err
		}
		def.columns = append(def.columns, col)
	}
	if len(schema.PkOrdinals) > 0 {
		k := keyDef{name: primaryName, primary: true}
		for _, o := range schema.PkOrdinals {
			k.columns = append(k.columns, def.columns[o].name)
			def.columns[o].nullable = false
		}
		def.keys = append(def.keys, k)
	}
	for _, i := range n.Indexes() {
		if i.IsPrimary() {
			continue
		}
		k, ok, err := newKey(ctx, i.Name, i.Constraint, i.Columns)
		if err != nil {
			return nil, err
		}
		if ok {
			def.keys = append(def.keys, k)
		}
	}
	if err := d.likeKeys(ctx, n, def); err != nil {
		return nil, err
	}
	for _, k := range def.keys {
		for _, c := range k.columns {
			if def.column(c) < 0 {
				return nil, sql.ErrKeyColumnDoesNotExist.New(c)
			}
		}
	}
	def.name(ctx)
	return def, nil
}

// likeKeys adds the UNIQUE keys of the table that CREATE TABLE ... LIKE names, and makes columns of
// vectors as they are there. go-mysql-server copies the keys of sql.IndexAddressable tables only,
// sees JSON in vectors, and keeps nothing of LIKE but what it copied: the statement's own tree says
// what was named.
func (d *Database) likeKeys(ctx *sql.Context, n *plan.CreateTable, def *definition) error {
	statement, _ := parse.Statement(ctx)
	ddl, ok := statement.(*sqlparser.DDL)
	if !ok || ddl.OptLike == nil || !strings.EqualFold(ddl.Table.Name.String(), n.Name()) {
		return nil
	}
	for _, like := range ddl.OptLike.LikeTables {
		schema := like.DbQualifier.String()
		if schema == "" {
			schema = ctx.GetCurrentDatabase()
		}
		source, ok, err := d.p.store.Table(ctx, store.TableRef{Schema: fold(schema), Name: fold(like.Name.String())})
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for i, c := range def.columns {
			if from, ok := columnOf(source, c.name); ok && strings.HasSuffix(from.Type, "]") {
				def.columns[i].store = from.Type
			}
		}
		for _, k := range definitionOf(source).keys {
			if !k.primary {
				def.keys = append(def.keys, k)
			}
		}
	}
	return nil
}

// columnOf finds a stored table's column by its name.
func columnOf(t store.Table, name string) (store.Column, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return store.Column{}, false
}

// name gives names to the keys that were declared without.
func (d *definition) name(*sql.Context) {
	var known []keyMeta
	for i, k := range d.keys {
		if k.name != "" && !k.primary {
			known = append(known, keyMeta{Name: k.name, Columns: k.columns})
			d.keys[i].name = ""
		}
	}
	d.nameKeys(known)
}

// newColumn turns a bound column into its definition.
func newColumn(ctx *sql.Context, c *sql.Column) (columnDef, error) {
	switch {
	case c.Generated != nil || c.Virtual:
		return columnDef{}, unsupported("Store the value, or compute it in a view.", "The generated column %s is not supported.", c.Name)
	}
	t, stored, err := storedType(c.Type)
	if err != nil {
		return columnDef{}, err
	}
	def := columnDef{name: c.Name, store: stored, nullable: c.Nullable && !c.PrimaryKey}
	def.meta = columnMeta{MySQL: t.String(), Auto: c.AutoIncrement, Comment: c.Comment}
	if !c.AutoIncrement {
		def.meta.Default, err = defaultText(ctx, c.Default, c.Name)
	}
	def.meta.OnUpdate = c.OnUpdate.String()
	return def, err
}

// storedType returns the type that a column of a declared type is shown as, and the store's type of
// it. Text has the one collation that the store has. TINYINT(1), which BOOLEAN is short for, holds
// more than 0 and 1. A VECTOR(n) is shown as JSON, like the vectors of imported tables.
func storedType(t sql.Type) (shown sql.Type, stored string, err error) {
	if v, ok := t.(types.VectorType); ok {
		return types.JSON, fmt.Sprintf("DOUBLE[%d]", v.Dimensions), nil
	}
	if s, ok := t.(sql.TypeWithCollation); ok && !types.IsBinaryType(t) {
		if t, err = s.WithNewCollation(sql.Collation_Default); err != nil {
			return nil, "", err
		}
	}
	if t == types.Boolean {
		return t, "TINYINT", nil
	}
	stored, err = lower.DuckDBType(t)
	return t, stored, err
}

// defaultText is the MySQL text of a default, as SHOW CREATE TABLE would give it back; "" for nil.
func defaultText(ctx *sql.Context, d *sql.ColumnDefaultValue, column string) (string, error) {
	if d != nil && d.IsLiteral() {
		v, err := d.Eval(ctx, nil)
		if at, ok := v.(time.Time); err != nil || ok && at.Year() < 1 {
			return "", mysql.NewSQLError(mysql.ERInvalidDefault, "42000", "Invalid default value for '%s'", column)
		}
	}
	return d.String(), nil
}

// newKey turns a declared index into a key. Indexes that are not UNIQUE only make look-ups fast,
// which the store does without: they are accepted and left out, with a note.
func newKey(ctx *sql.Context, name string, constraint sql.IndexConstraint, columns []sql.IndexColumn) (k keyDef, ok bool, err error) {
	switch constraint {
	case sql.IndexConstraint_None:
		note(ctx, "The index "+name+" is left out: tables are scanned column by column")
		return k, false, nil
	case sql.IndexConstraint_Unique:
	default:
		return k, false, unsupported("Leave the index out.", "FULLTEXT, SPATIAL and VECTOR indexes are not supported.")
	}
	k.name = name
	for _, c := range columns {
		if c.Expression != nil || c.Length > 0 {
			return k, false, unsupported("Make the key of whole columns.", "A UNIQUE key on a prefix or an expression is not supported.")
		}
		k.columns = append(k.columns, strings.Trim(c.Name, "`"))
	}
	return k, true, nil
}

// Made is a table whose rows the server has made.
type Made struct {
	Ref     store.TableRef
	Comment string
	Columns sql.Schema
	Rows    []sql.Row
}

// CommentOf is the comment that a table was made with.
func CommentOf(t store.Table) string { return tableMetaOf(t).Comment }

// Check refuses columns that no table can have.
func (m Made) Check(ctx *sql.Context) error {
	_, err := m.definition(ctx)
	return err
}

func (m Made) definition(ctx *sql.Context) (*definition, error) {
	def := &definition{ref: m.Ref, comment: m.Comment}
	for _, c := range m.Columns {
		col, err := newColumn(ctx, c)
		if err != nil {
			return nil, err
		}
		def.columns = append(def.columns, col)
	}
	return def, nil
}

// Make makes a table with its rows, in the place of the one of that name if replaces says so, and
// runs also, in one transaction of the session's. What the session has open is committed before.
func (p *Provider) Make(ctx *sql.Context, m Made, replaces bool, also func(store.Session) error) error {
	def, err := m.definition(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range def.columns {
		names = append(names, c.name)
	}
	rows := make([][]any, len(m.Rows))
	for i, row := range m.Rows {
		rows[i] = make([]any, len(row))
		for c, v := range row {
			if rows[i][c], err = writeValue(ctx, v, m.Columns[c].Type, store.Column{Name: names[c], Type: def.columns[c].store}); err != nil {
				return err
			}
		}
	}
	return p.atomically(ctx, func(s store.Session) error {
		if replaces {
			if err := dropMade(ctx, s, m.Ref); err != nil {
				return err
			}
		}
		if err := def.create(ctx, s); err != nil {
			return err
		}
		if err := s.Append(ctx, m.Ref, names, rows); err != nil {
			return classify(err, &m.Ref)
		}
		return also(s)
	})
}

// DropMade drops such a table, if it is there, and runs also, in one transaction.
func (p *Provider) DropMade(ctx *sql.Context, ref store.TableRef, also func(store.Session) error) error {
	return p.atomically(ctx, func(s store.Session) error {
		if err := dropMade(ctx, s, ref); err != nil {
			return err
		}
		return also(s)
	})
}

func dropMade(ctx *sql.Context, s store.Session, ref store.TableRef) error {
	if _, err := s.Write(ctx, []store.TableRef{ref}, "DROP TABLE IF EXISTS "+quote(ref)); err != nil {
		return classify(err, &ref)
	}
	return nil
}
