package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/parse"
)

// createTable runs CREATE TABLE; made is false where the table is there under IF NOT EXISTS.
func (d *Database) createTable(ctx *sql.Context, n *plan.CreateTable) (made bool, err error) {
	ref := d.ref(n.Name())
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return false, err
	}
	if n.IfNotExists() {
		if taken, err := d.taken(ctx, n.Name()); err != nil || taken {
			ctx.Warn(1050, "Table '%s' already exists", n.Name())
			return false, err
		}
	}
	if err := d.free(ctx, n.Name()); err != nil {
		return false, err
	}
	def, err := d.newDefinition(ctx, n)
	if err != nil {
		return false, err
	}
	if err := d.p.atomically(ctx, func(s store.Session) error { return def.create(ctx, s) }); err != nil {
		return false, err
	}
	d.p.ids.forget(ref)
	return true, nil
}

// newDefinition turns a bound CREATE TABLE into a definition, or refuses what has no counterpart.
func (d *Database) newDefinition(ctx *sql.Context, n *plan.CreateTable) (*definition, error) {
	if n.Temporary() {
		return nil, unsupported("Create a plain table.", "Temporary tables are not supported.")
	}
	def := &definition{ref: d.ref(n.Name()), collation: n.Collation}
	if def.collation == sql.Collation_Unspecified {
		var err error
		if def.collation, err = d.p.Collation(ctx, d.name); err != nil {
			return nil, err
		}
	}
	if err := collation.Check(def.collation); err != nil {
		return nil, err
	}
	def.comment, _ = n.TableOpts["comment"].(string)
	if first, ok := n.TableOpts["auto_increment"].(uint64); ok && first > 1 {
		def.first = first
	}
	schema := n.PkSchema()
	for _, c := range schema.Schema {
		col, err := newColumn(ctx, c, def.collation)
		if err != nil {
			return nil, err
		}
		def.columns = append(def.columns, col)
	}
	if len(schema.PkOrdinals) > 0 {
		k := keyDef{name: primaryName, primary: true}
		for _, o := range schema.PkOrdinals {
			k.columns, k.lengths = append(k.columns, def.columns[o].name), append(k.lengths, 0)
			def.columns[o].nullable = false
		}
		for _, i := range n.Indexes() {
			for _, c := range i.Columns {
				at := slices.IndexFunc(k.columns, func(name string) bool { return strings.EqualFold(name, strings.Trim(c.Name, "`")) })
				if i.IsPrimary() && at >= 0 {
					k.lengths[at] = int(c.Length)
				}
			}
		}
		if err := def.addKey(ctx, d.p, k); err != nil {
			return nil, err
		}
	}
	parts := declaredParts(ctx)
	for _, i := range n.Indexes() {
		if i.IsPrimary() {
			if slices.ContainsFunc(i.Columns, func(c sql.IndexColumn) bool { return c.Expression != nil }) {
				return nil, mysql.NewSQLError(3756, "HY000", "The primary key cannot be a functional index")
			}
			continue
		}
		k, err := newKey(ctx, &parts, i.Name, i.Constraint, i.Columns, i.Comment)
		if err == nil {
			err = def.addKey(ctx, d.p, k)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := d.likeKeys(ctx, n, def); err != nil {
		return nil, err
	}
	if err := def.generate(); err != nil {
		return nil, err
	}
	def.nameKeys(nil)
	if !slices.ContainsFunc(def.columns, func(c columnDef) bool { return c.meta.Auto }) {
		def.first = 0
	}
	checks, plain := declaredChecks(ctx)
	if !plain && slices.ContainsFunc(def.columns, func(c columnDef) bool { return c.computed || c.hidden }) {
		return nil, unsupported("Create the table first, and INSERT … SELECT into it.", "A generated column, or a UNIQUE key on a prefix or an expression, in CREATE TABLE … SELECT is not supported.")
	}
	if len(checks) > 0 && !plain {
		return nil, unsupported("Create the table first, and INSERT … SELECT into it.", "A CHECK in CREATE TABLE … SELECT is not supported.")
	}
	if err := def.addChecks(checks); err != nil {
		return nil, err
	}
	foreign, _ := n.TableOpts[foreignOption].(sql.ForeignKeyConstraints)
	if err := lists.Each(foreign, func(c *sql.ForeignKeyConstraint) error { return d.addForeign(ctx, def, c) }); err != nil {
		return nil, err
	}
	if err := d.adopt(ctx, def); err != nil {
		return nil, err
	}
	if !plain { // a text of MySQL's own functions may be longer than a column that is declared
		return def, nil
	}
	return def, def.checkSize()
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
			from, ok := columnOf(source, c.name)
			if ok && strings.HasSuffix(from.Type, "]") {
				def.columns[i].store = from.Type
			}
			if _, isTime := fractionOf(metaOf(from).MySQL); ok && isTime {
				def.columns[i].meta.MySQL = metaOf(from).MySQL
			}
			def.columns[i].meta.Generated, def.columns[i].meta.Virtual = metaOf(from).Generated, metaOf(from).Virtual
		}
		for _, c := range definitionOf(source).columns {
			if c.hidden && def.column(c.name) < 0 {
				def.columns = append(def.columns, c)
			}
		}
		for _, c := range tableMetaOf(source).Checks {
			c.Name = def.checkName()
			def.checks = append(def.checks, c)
		}
		for _, k := range definitionOf(source).keys {
			switch at := def.key(k.name); {
			case at < 0 && !k.primary:
				def.keys = append(def.keys, k)
			case at >= 0 && k.primary: // go-mysql-server knows of no prefixes
				def.keys[at] = k
			}
		}
	}
	return nil
}

// columnOf finds a stored table's column by its name.
func columnOf(t store.Table, name string) (store.Column, bool) {
	return lists.Find(t.Columns, func(c store.Column) bool { return strings.EqualFold(c.Name, name) })
}

// newColumn turns a bound column into its definition. A text without a collation has that of its
// table.
func newColumn(ctx *sql.Context, c *sql.Column, of sql.CollationID) (columnDef, error) {
	switch {
	case sql.IsHiddenSystemColumn(c.Name):
		return columnDef{}, mysql.NewSQLError(1166, "42000", "Incorrect column name '%s'", c.Name)
	case inlineReference(ctx, c.Name):
		return columnDef{}, unsupported("Write FOREIGN KEY ("+c.Name+") REFERENCES … behind the columns.", "REFERENCES at the column %s, which MySQL reads and forgets, is not supported.", c.Name)
	}
	t, stored, err := storedType(c.Type, of)
	if r := (*refuse.Error)(nil); errors.As(err, &r) {
		err = refuse.New(r.Code, "The column %s cannot be stored. %s", c.Name, r.Cause).With("%s", r.Remedy)
	}
	if err != nil {
		return columnDef{}, err
	}
	def := columnDef{name: c.Name, store: stored, nullable: c.Nullable && !c.PrimaryKey && !c.AutoIncrement}
	def.meta = columnMeta{MySQL: t.String(), Auto: c.AutoIncrement, Comment: c.Comment}
	if digits, ok := declaredFraction(ctx, c.Name); ok && standard.IsTimespan(t) {
		def.meta.MySQL = "time"
		if digits > 0 {
			def.meta.MySQL = fmt.Sprintf("time(%d)", digits)
		}
	}
	if s, ok := t.(sql.StringType); ok {
		def.bytes = int(s.MaxByteLength())
	}
	if !c.AutoIncrement && !waits(c.Default) {
		def.meta.Default, err = defaultText(ctx, c.Default, c.Name)
	}
	def.meta.OnUpdate = c.OnUpdate.String()
	if c.Generated != nil {
		def.formula, def.meta.Virtual = declaredFormula(ctx, c.Name)
	}
	return def, err
}

// storedType returns the type that a column of a declared type is shown as, and the store's type of
// it. A text without a collation gets the one given. TINYINT(1), which BOOLEAN is short for, holds
// more than 0 and 1. A VECTOR(n) is shown as JSON, like the vectors of imported tables.
func storedType(t sql.Type, of sql.CollationID) (shown sql.Type, stored string, err error) {
	if v, ok := t.(types.VectorType); ok {
		return types.JSON, fmt.Sprintf("DOUBLE[%d]", v.Dimensions), nil
	}
	if s, ok := t.(sql.TypeWithCollation); ok && !types.IsBinaryType(t) {
		if s.Collation() != sql.Collation_Unspecified {
			of = s.Collation()
		}
		if err := collation.Check(of); err != nil {
			return nil, "", err
		}
		if t, err = s.WithNewCollation(of); err != nil {
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

// newKey turns a declared index into a key. Declared are the expressions of the statement's keys
// that have some: those of this key, if it is one, are the first, and are taken off.
func newKey(ctx *sql.Context, declared *[][]sqlparser.Expr, name string, constraint sql.IndexConstraint, columns []sql.IndexColumn, comment string) (keyDef, error) {
	k := keyDef{name: name, plain: constraint == sql.IndexConstraint_None, comment: comment}
	switch constraint {
	case sql.IndexConstraint_None, sql.IndexConstraint_Unique:
	default:
		return k, unsupported("Leave the index out: LIKE and the functions of texts and shapes scan without one.",
			"FULLTEXT, SPATIAL and VECTOR indexes are not supported.")
	}
	for _, c := range columns {
		if c.Expression != nil {
			if k.parts == nil {
				if len(*declared) == 0 {
					return k, unsupported("Send it as a statement of its own.", "An index on an expression is not supported here.")
				}
				k.parts, *declared = (*declared)[0], (*declared)[1:]
			}
		}
		k.columns, k.lengths = append(k.columns, strings.Trim(c.Name, "`")), append(k.lengths, int(c.Length))
	}
	return k, nil
}

// addKey adds a key to a definition, with its columns as they are spelled there.
func (d *definition) addKey(ctx *sql.Context, p *Provider, k keyDef) error {
	if k.name != "" && d.key(k.name) >= 0 {
		return sql.ErrDuplicateKey.New(k.name)
	}
	if len(k.name) > sql.MaxIdentifierLength {
		return sql.ErrInvalidIdentifier.New(k.name)
	}
	if len(k.columns) > 16 {
		return mysql.NewSQLError(1070, "42000", "Too many key parts specified; max 16 parts allowed")
	}
	prefix := false
	for i, name := range k.columns {
		if k.parts != nil && k.parts[i] != nil {
			if err := d.addPart(ctx, p, &k, i); err != nil {
				return err
			}
			continue
		}
		at := d.column(name)
		switch {
		case at < 0:
			return sql.ErrKeyColumnDoesNotExist.New(name)
		case contains(k.columns[:i], name):
			return sql.ErrDuplicateColumn.New(name)
		}
		k.columns[i] = d.columns[at].name
		length := 0
		if k.lengths != nil {
			length = k.lengths[i]
		}
		whole, err := d.columns[at].keyPart(length)
		if err != nil {
			return err
		}
		if length == 0 {
			continue
		}
		if whole {
			k.lengths[i] = 0
		}
		prefix = prefix || k.lengths[i] > 0
	}
	if !prefix {
		k.lengths = nil
	}
	if !k.plain {
		if err := d.hide(&k); err != nil {
			return err
		}
	}
	d.keys = append(d.keys, k)
	return nil
}

// keyPart refuses a part of a key that MySQL has no keys of: the column, or its prefix of a length;
// whole says that this is all of it. A column that no text declares may be any.
func (c columnDef) keyPart(length int) (whole bool, err error) {
	kind, n := c.meta.kind()
	sized := strings.HasSuffix(kind, "char") || strings.HasSuffix(kind, "binary")
	long := c.meta.endless()
	width := 1
	if strings.HasSuffix(kind, "char") || strings.HasSuffix(kind, "text") {
		if width = 4; c.bytes > 0 && n > 0 {
			width = c.bytes / n
		}
	}
	size := 0
	switch {
	case kind == "json":
		return false, mysql.NewSQLError(3152, "42000", "JSON column '%s' supports indexing only via generated columns on a specified JSON path.", c.name)
	case long && length == 0:
		return false, mysql.NewSQLError(1170, "42000", "BLOB/TEXT column '%s' used in key specification without a key length", c.name)
	case length > 0 && (!sized && !long || sized && n < length):
		return false, mysql.NewSQLError(1089, "HY000", "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, "+
			"or the storage engine doesn't support unique prefix keys")
	case length > 0:
		size = length * width
	case sized:
		size = n * width
	}
	if size > longestKey*4 {
		err = mysql.NewSQLError(1071, "42000", "Specified key was too long; max key length is %d bytes", longestKey*4)
	}
	return sized && n == length, err
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
	def := &definition{ref: m.Ref, comment: m.Comment, collation: sql.Collation_Default}
	for _, c := range m.Columns {
		col, err := newColumn(ctx, c, def.collation)
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
	names := lists.Map(def.columns, func(c columnDef) string { return c.name })
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
