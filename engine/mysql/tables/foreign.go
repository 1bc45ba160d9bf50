package tables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// ForeignKey is a FOREIGN KEY: a part of the catalogue of the table that declares it. The table it
// references is one of the same database, which may be missing where foreign_key_checks was off.
type ForeignKey struct {
	Name       string   `json:"name"`
	Columns    []string `json:"columns"`
	Parent     string   `json:"parent"`
	Referenced []string `json:"referenced"`
	OnDelete   string   `json:"on_delete,omitempty"` // CASCADE, SET NULL, RESTRICT; "" is NO ACTION
	OnUpdate   string   `json:"on_update,omitempty"`
}

// The actions of a foreign key that change rows.
const (
	cascade = string(sql.ForeignKeyReferentialAction_Cascade)
	setNull = string(sql.ForeignKeyReferentialAction_SetNull)
)

// Text is the key as CREATE TABLE takes it.
func (k ForeignKey) Text() string {
	t := "CONSTRAINT " + sqltext.Name(k.Name) + " FOREIGN KEY (" + quotedNames(k.Columns) + ") REFERENCES " +
		sqltext.Name(k.Parent) + " (" + quotedNames(k.Referenced) + ")"
	if k.OnDelete != "" {
		t += " ON DELETE " + k.OnDelete
	}
	if k.OnUpdate != "" {
		t += " ON UPDATE " + k.OnUpdate
	}
	return t
}

func quotedNames(names []string) string {
	return strings.Join(lists.Map(names, sqltext.Name), ",")
}

// foreignOption is the option of a CREATE TABLE node that carries its foreign keys past the rules
// of go-mysql-server, which expect a table of another interface.
const foreignOption = "scrim foreign keys"

// withoutForeign moves the foreign keys of CREATE TABLE to its options; nil where it has none.
func withoutForeign(n *plan.CreateTable) (sql.Node, error) {
	if len(n.ForeignKeys()) == 0 {
		return nil, nil
	}
	if n.Select() != nil {
		return nil, unsupported("Create the table first, and INSERT … SELECT into it.", "A FOREIGN KEY in CREATE TABLE … SELECT is not supported.")
	}
	options := map[string]any{foreignOption: sql.ForeignKeyConstraints(n.ForeignKeys())}
	for k, v := range n.TableOpts {
		options[k] = v
	}
	return plan.NewCreateTable(n.Db, n.Name(), n.IfNotExists(), n.Temporary(), &plan.TableSpec{
		TableOpts: options, Schema: n.PkSchema(), ChDefs: n.Checks(), IdxDefs: n.Indexes(), Collation: n.Collation,
	}), nil
}

// foreignChecks reports whether the session checks foreign keys.
func foreignChecks(ctx *sql.Context) bool {
	v, err := ctx.GetSessionVariable(ctx, "foreign_key_checks")
	on, errBool := sql.ConvertToBool(ctx, v)
	return err != nil || errBool != nil || on
}

// referencing is a foreign key of one table that references another one.
type referencing struct {
	child store.TableRef
	ForeignKey
}

// referencing lists the foreign keys that reference a table, by the names of table and key.
func (p *Provider) referencing(ctx *sql.Context, ref store.TableRef) (list []referencing, err error) {
	all, err := p.Describe(ctx, ref.Schema)
	for _, d := range all {
		for _, k := range d.Foreign {
			if k.Parent == ref.Name {
				list = append(list, referencing{store.TableRef{Schema: ref.Schema, Name: d.Name}, k})
			}
		}
	}
	return list, err
}

// addForeign adds a foreign key that a statement declares, and an index of its columns where there
// is none. As in MySQL a key that is checked looks at its parent, another one only where it is
// there.
func (d *Database) addForeign(ctx *sql.Context, t *definition, c *sql.ForeignKeyConstraint) error {
	k := ForeignKey{Name: c.Name, Parent: fold(c.ParentTable), OnDelete: action(c.OnDelete), OnUpdate: action(c.OnUpdate)}
	switch {
	case fold(c.ParentDatabase) != t.ref.Schema:
		return unsupported("Keep both tables in one database.", "A foreign key to a table of another database is not supported.")
	case len(c.Columns) != len(c.ParentColumns):
		return mysql.NewSQLError(1239, "42000", "Incorrect foreign key definition for '%s': Key reference and table reference don't match", c.Name)
	case c.OnDelete == sql.ForeignKeyReferentialAction_SetDefault || c.OnUpdate == sql.ForeignKeyReferentialAction_SetDefault:
		return sql.ErrForeignKeySetDefault.New()
	case len(k.Name) > sql.MaxIdentifierLength:
		return sql.ErrInvalidIdentifier.New(k.Name)
	case k.Name == "":
		k.Name = t.foreignName()
	}
	all, err := d.p.Describe(ctx, t.ref.Schema)
	if err != nil {
		return err
	}
	taken := slices.Clone(t.foreign)
	for _, other := range all {
		if other.Name != t.ref.Name {
			taken = append(taken, other.Foreign...)
		}
	}
	if slices.ContainsFunc(taken, func(o ForeignKey) bool { return strings.EqualFold(o.Name, k.Name) }) {
		return mysql.NewSQLError(1826, "HY000", "Duplicate foreign key constraint name '%s'", k.Name)
	}
	for _, name := range c.Columns {
		at := t.column(strings.Trim(name, "`"))
		switch {
		case at < 0:
			return sql.ErrKeyColumnDoesNotExist.New(name)
		case contains(k.Columns, t.columns[at].name):
			return mysql.NewSQLError(1060, "42S21", "Duplicate column name '%s'", name)
		case t.columns[at].meta.endless():
			return mysql.NewSQLError(1170, "42000", "BLOB/TEXT column '%s' used in key specification without a key length", name)
		}
		k.Columns = append(k.Columns, t.columns[at].name)
	}
	if err := t.nullsOf(k); err != nil {
		return err
	}
	if err := t.computedOf(k); err != nil {
		return err
	}
	if err := lists.Each(t.checks, func(ch checkMeta) error { return t.changedBy(k, ch) }); err != nil {
		return err
	}
	k.Referenced = slices.Clone(c.ParentColumns)
	parent := t
	if k.Parent != t.ref.Name {
		stored, ok, err := d.p.store.Table(ctx, d.ref(k.Parent))
		switch {
		case err != nil:
			return err
		case ok && !stored.View:
			parent = definitionOf(stored)
		case foreignChecks(ctx):
			return mysql.NewSQLError(1824, "HY000", "Failed to open the referenced table '%s'", k.Parent)
		default:
			parent = nil
		}
		if ok { // a table whose rows nobody changes is no parent
			if err := d.p.access.CheckWrite(ctx, stored.Ref); err != nil {
				return err
			}
		}
	}
	if parent != nil {
		if err := t.fits(&k, parent, foreignChecks(ctx)); err != nil {
			return err
		}
	}
	t.foreign = append(t.foreign, k)
	if t.indexOf(k.Columns, false) >= 0 {
		return nil
	}
	index := keyDef{name: c.Name, plain: true, columns: slices.Clone(k.Columns), generated: true}
	if index.name != "" && t.key(index.name) >= 0 {
		return sql.ErrDuplicateKey.New(index.name)
	}
	t.keys = append(t.keys, index)
	t.nameKeys(nil)
	return nil
}

func action(a sql.ForeignKeyReferentialAction) string {
	if a == sql.ForeignKeyReferentialAction_DefaultAction || a == sql.ForeignKeyReferentialAction_NoAction {
		return ""
	}
	return string(a)
}

// endless reports whether a type is one of the texts that no key has whole.
func (m columnMeta) endless() bool {
	kind, _ := m.kind()
	return strings.HasSuffix(kind, "text") || strings.HasSuffix(kind, "blob")
}

// foreignName is the name of a foreign key that is declared without one.
func (d *definition) foreignName() string {
	last := uint32(0) // MySQL counts in 32 bits, and names like its own in capitals not at all
	for _, k := range d.foreign {
		if n, ok := strings.CutPrefix(k.Name, d.ref.Name+"_ibfk_"); ok {
			number, _ := strconv.Atoi(n)
			last = max(last, uint32(number))
		}
	}
	return fmt.Sprintf("%s_ibfk_%d", d.ref.Name, last+1)
}

// nullsOf refuses SET NULL of columns that are NOT NULL.
func (d *definition) nullsOf(k ForeignKey) error {
	for _, name := range k.Columns {
		at := d.column(name)
		primary := slices.ContainsFunc(d.keys, func(k keyDef) bool { return k.primary && contains(k.columns, name) })
		if (k.OnDelete == setNull || k.OnUpdate == setNull) && (!d.columns[at].nullable || primary) {
			return mysql.NewSQLError(1830, "HY000", "Column '%s' cannot be NOT NULL: needed in a foreign key constraint '%s' SET NULL", name, k.Name)
		}
	}
	return nil
}

// virtual is MySQL's error of a foreign key with a virtual column.
func (k ForeignKey) virtual(column string) error {
	return mysql.NewSQLError(3733, "HY000", "Foreign key '%s' uses virtual column '%s' which is not supported.", k.Name, column)
}

// computedOf refuses a foreign key on a virtual column, and actions that set values of a stored
// generated column, or of one that such a column follows from.
func (d *definition) computedOf(k ForeignKey) error {
	for _, name := range k.Columns {
		c := d.columns[d.column(name)]
		switch {
		case c.meta.Virtual:
			return k.virtual(name)
		case c.meta.Generated == "":
		case k.OnUpdate == cascade || k.OnUpdate == setNull:
			return mysql.NewSQLError(3104, "HY000", "Cannot define foreign key with %s clause on a generated column.", "ON UPDATE "+k.OnUpdate)
		case k.OnDelete == setNull:
			return mysql.NewSQLError(3104, "HY000", "Cannot define foreign key with %s clause on a generated column.", "ON DELETE "+k.OnDelete)
		}
	}
	acts := slices.ContainsFunc([]string{k.OnDelete, k.OnUpdate}, func(a string) bool { return a == cascade || a == setNull })
	for _, c := range d.columns {
		if !acts || c.meta.Generated == "" || c.meta.Virtual {
			continue
		}
		if slices.ContainsFunc(columnsIn(c.meta.Generated), func(n string) bool { return contains(k.Columns, n) }) {
			return mysql.NewSQLError(1215, "HY000", "Cannot add foreign key constraint '%s': the stored column '%s' follows from a column of it, which an action changes.", k.Name, c.name)
		}
	}
	return nil
}

// changedBy refuses a CHECK on a column that a foreign key's action changes: nothing would look at
// it then.
func (d *definition) changedBy(k ForeignKey, c checkMeta) error {
	for _, name := range columnsIn(c.Text) {
		if contains(k.Columns, name) && (k.OnDelete == setNull || k.OnUpdate == setNull || k.OnUpdate == cascade) {
			return mysql.NewSQLError(3823, "HY000", "Column '%s' cannot be used in a check constraint '%s': needed in a foreign key constraint '%s' referential action.", name, c.Name, k.Name)
		}
	}
	return nil
}

// fits looks at the parent that a foreign key references: its columns, whose names the key takes,
// their types, and if indexed says so its indexes.
func (d *definition) fits(k *ForeignKey, parent *definition, indexed bool) error {
	for i, name := range k.Referenced {
		at := parent.column(strings.Trim(name, "`"))
		if at < 0 {
			return mysql.NewSQLError(3734, "HY000", "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'", name, k.Name, k.Parent)
		}
		k.Referenced[i] = parent.columns[at].name
		if parent.columns[at].meta.Virtual {
			return k.virtual(k.Referenced[i])
		}
		if !comparable(d.columns[d.column(k.Columns[i])], parent.columns[at]) {
			return mysql.NewSQLError(3780, "HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.", k.Columns[i], k.Referenced[i], k.Name)
		}
	}
	if indexed && parent.indexOf(k.Referenced, true) < 0 {
		return mysql.NewSQLError(1822, "HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'", k.Name, k.Parent)
	}
	return nil
}

// comparable reports whether MySQL lets one column reference the other: those of whole numbers have
// one size and sign, texts one collation, and so on.
func comparable(child, parent columnDef) bool {
	a, b := child.keyType(), parent.keyType()
	return a == b && a != ""
}

// keyType is what the types of columns have in common of which one may reference the other.
func (c columnDef) keyType() string {
	if c.meta.MySQL == "" || c.store == "JSON" {
		return c.store // of a file
	}
	kind, _ := c.meta.kind()
	switch kind {
	case "char", "varchar":
		return "text " + c.collation().Name()
	case "binary", "varbinary":
		return "bytes"
	case "decimal", "bit", "datetime", "timestamp", "time":
		return "digits"
	case "enum", "set":
		return kind
	case "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob", "json", "geometry":
		return ""
	}
	if strings.Contains(c.meta.MySQL, "unsigned") {
		kind += " unsigned"
	}
	return kind
}

// indexOf returns the first index that begins with the columns, in their order, -1 if there is
// none. An index that is extended ends with the columns of the primary key.
func (d *definition) indexOf(columns []string, extended bool) int {
	return slices.IndexFunc(d.keys, func(k keyDef) bool {
		has := slices.Clone(k.columns)
		if len(k.lengths) > 0 {
			return false
		}
		if p := d.key(primaryName); extended && p >= 0 && !k.primary {
			for _, c := range d.keys[p].columns {
				if !contains(has, c) {
					has = append(has, c)
				}
			}
		}
		return len(has) >= len(columns) && sameNames(has[:len(columns)], columns)
	})
}

// covered drops the indexes that foreign keys made, and that the new key k makes needless.
func (d *definition) covered(k keyDef) {
	if len(k.lengths) > 0 {
		return
	}
	d.keys = slices.DeleteFunc(d.keys, func(o keyDef) bool {
		return o.generated && o.name != k.name && len(o.columns) <= len(k.columns) && sameNames(o.columns, k.columns[:len(o.columns)])
	})
}

// addForeignKey runs ADD FOREIGN KEY. Its success tells that every row has a parent, where keys are
// checked.
func (d *Database) addForeignKey(ctx *sql.Context, c *sql.ForeignKeyConstraint) error {
	change := alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error { return d.addForeign(ctx, t, c) }}
	if foreignChecks(ctx) {
		for _, name := range []string{c.Table, c.ParentTable} {
			if err := d.p.access.CheckDDL(ctx, d.ref(name)); err != nil {
				return err
			}
			if err := d.p.access.CheckRead(ctx, d.ref(name)); err != nil {
				return err
			}
		}
		change.after = func(t *definition) func(store.Session) error {
			k := t.foreign[len(t.foreign)-1]
			return func(s store.Session) error { return d.orphans(ctx, s, t, k) }
		}
	}
	return d.alter(ctx, c.Table, change)
}

// alterForeign runs RENAME of a foreign key, or DROP where there is no new name.
func (d *Database) alterForeign(ctx *sql.Context, table, name, to string) error {
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error {
		i := slices.IndexFunc(t.foreign, func(k ForeignKey) bool { return strings.EqualFold(k.Name, name) })
		switch {
		case i < 0:
			return sql.ErrCantDropFieldOrKey.New(name)
		case to == "":
			t.foreign = append(t.foreign[:i:i], t.foreign[i+1:]...)
			return nil
		case slices.ContainsFunc(t.foreign, func(k ForeignKey) bool { return strings.EqualFold(k.Name, to) && !strings.EqualFold(to, name) }):
			return mysql.NewSQLError(1826, "HY000", "Duplicate foreign key constraint name '%s'", to)
		}
		t.foreign[i].Name = to
		return nil
	}})
}
