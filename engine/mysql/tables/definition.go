package tables

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// definition is the whole definition of a stored table: what CREATE TABLE makes and ALTER TABLE
// changes.
type definition struct {
	ref     store.TableRef
	columns []columnDef
	keys    []keyDef
	comment string
	first   uint64 // AUTO_INCREMENT=n, as declared
	checks  []checkMeta
	limits  []textLimit // of the alteration that is made
}

// columnDef is one column. From and fill say where its values come from when a table is rebuilt.
type columnDef struct {
	name     string
	store    string // the store's type
	nullable bool
	meta     columnMeta
	from     string // column of the old table; "" for a new column
	fill     any    // value of a new column in the rows that are there
	filled   *filling
	bytes    int // of a text's longest value in its declared charset; 0 for columns that are there
}

// filling is a new column's value in the store's SQL.
type filling struct {
	sql  string
	args []any
}

// keyDef is a PRIMARY KEY, a UNIQUE key or, if it is plain, an index of the catalogue alone: the
// store has none, and scans. The length of a column is that of its prefix, 0 for the whole.
type keyDef struct {
	name    string
	primary bool
	plain   bool
	columns []string
	lengths []int
	comment string
}

// enforced reports whether the store has keys, on which it cannot alter a table.
func (d *definition) enforced() bool {
	return slices.ContainsFunc(d.keys, func(k keyDef) bool { return !k.plain })
}

// primaryName is MySQL's name of every primary key.
const primaryName = "PRIMARY"

// definitionOf reads a stored table's definition.
func definitionOf(t store.Table) *definition {
	m := tableMetaOf(t)
	d := &definition{ref: t.Ref, comment: m.Comment, first: m.First, checks: m.Checks}
	for _, c := range t.Columns {
		d.columns = append(d.columns, columnDef{name: c.Name, store: c.Type, nullable: c.Nullable, meta: metaOf(c), from: c.Name})
	}
	for _, k := range t.Keys {
		d.keys = append(d.keys, keyDef{primary: k.Primary, columns: k.Columns})
	}
	d.nameKeys(m.Keys)
	for _, k := range m.Indexes {
		d.keys = append(d.keys, keyDef{name: k.Name, plain: true, columns: k.Columns, lengths: k.Lengths, comment: k.Comment})
	}
	return d
}

// nameKeys gives each key without a name the one it was created with, or else the one that MySQL
// would have given.
func (d *definition) nameKeys(known []keyMeta) {
	taken := map[string]bool{}
	for _, k := range d.keys {
		taken[fold(k.name)] = true
	}
	for i := range d.keys {
		k := &d.keys[i]
		if k.primary {
			k.name = primaryName
		}
		for _, m := range known {
			if k.name == "" && sameNames(m.Columns, k.columns) && !taken[fold(m.Name)] {
				k.name, k.comment = m.Name, m.Comment
			}
		}
		for n := 2; k.name == ""; n++ {
			name := k.columns[0]
			if n > 2 || taken[fold(name)] {
				name += "_" + strconv.Itoa(n)
			}
			if !taken[fold(name)] {
				k.name = name
			}
		}
		taken[fold(k.name)] = true
	}
}

func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}

// column returns the index of a column, or -1.
func (d *definition) column(name string) int {
	for i, c := range d.columns {
		if strings.EqualFold(c.name, name) {
			return i
		}
	}
	return -1
}

// key returns the index of the key with a name, or -1.
func (d *definition) key(name string) int {
	for i, k := range d.keys {
		if strings.EqualFold(k.name, name) {
			return i
		}
	}
	return -1
}

// uses reports whether a key that the store has, has the column.
func (d *definition) uses(column string) bool {
	return slices.ContainsFunc(d.keys, func(k keyDef) bool { return !k.plain && contains(k.columns, column) })
}

// createSQL returns the CREATE TABLE statement, under a name that may differ from the table's.
func (d *definition) createSQL(as store.TableRef) string {
	var parts []string
	for _, c := range d.columns {
		p := sqltext.StoreName(c.name) + " " + c.store
		if !c.nullable {
			p += " NOT NULL"
		}
		parts = append(parts, p)
	}
	for _, k := range d.keys {
		kind := "UNIQUE ("
		switch {
		case k.plain:
			continue
		case k.primary:
			kind = "PRIMARY KEY ("
		}
		parts = append(parts, kind+sqltext.StoreNames(k.columns)+")")
	}
	return "CREATE TABLE " + quote(as) + " (" + strings.Join(parts, ", ") + ")"
}

// writeMeta stores what the store's own definition has no place for.
func (d *definition) writeMeta(ctx *sql.Context, s store.Session) error {
	for _, c := range d.columns {
		text := "NULL"
		if c.meta != (columnMeta{}) {
			text = "'" + encodeMeta(c.meta) + "'"
		}
		if err := d.commentOn(ctx, s, "COLUMN "+quote(d.ref)+"."+sqltext.StoreName(c.name), text); err != nil {
			return err
		}
	}
	m := tableMeta{Comment: d.comment, First: d.first, Checks: d.checks}
	for _, k := range d.keys {
		kept := keyMeta{Name: k.name, Columns: k.columns, Lengths: k.lengths, Comment: k.comment}
		switch {
		case k.plain:
			m.Indexes = append(m.Indexes, kept)
		case !k.primary:
			m.Keys = append(m.Keys, kept)
		}
	}
	text := "NULL"
	if m.Comment != "" || m.First > 0 || len(m.Checks)+len(m.Keys)+len(m.Indexes) > 0 {
		text = "'" + encodeMeta(m) + "'"
	}
	return d.commentOn(ctx, s, "TABLE "+quote(d.ref), text)
}

func (d *definition) commentOn(ctx *sql.Context, s store.Session, what, text string) error {
	_, err := s.Write(ctx, []store.TableRef{d.ref}, "COMMENT ON "+what+" IS "+text)
	return err
}

// create makes the table.
func (d *definition) create(ctx *sql.Context, s store.Session) error {
	if _, err := s.Write(ctx, []store.TableRef{d.ref}, d.createSQL(d.ref)); err != nil {
		return classify(err, &d.ref)
	}
	return d.writeMeta(ctx, s)
}

// rebuild replaces the stored table by one of this definition that holds the same rows. It is how
// every change is made that the store cannot make in place.
func (d *definition) rebuild(ctx *sql.Context, s store.Session) error {
	next := store.TableRef{Schema: d.ref.Schema, Name: "__rebuild " + d.ref.Name}
	var b lower.Binder
	into := make([]string, len(d.columns))
	from := make([]string, len(d.columns))
	for i, c := range d.columns {
		into[i] = c.name
		if c.from != "" {
			from[i] = "CAST(" + sqltext.StoreName(c.from) + " AS " + c.store + ")"
			if strings.HasPrefix(c.meta.MySQL, "char(") {
				from[i] = "rtrim(" + from[i] + ", ' ')"
			}
			continue
		}
		if c.filled != nil {
			from[i] = c.filled.sql
			for _, v := range c.filled.args {
				b.Bind(v)
			}
			continue
		}
		from[i] = "CAST(" + b.Bind(bound(c.fill)) + " AS " + c.store + ")"
	}
	steps := []struct {
		sql  string
		args []any
	}{
		{d.createSQL(next), nil},
		{"INSERT INTO " + quote(next) + " (" + sqltext.StoreNames(into) + ") SELECT " + strings.Join(from, ", ") + " FROM " + quote(d.ref), b.Args()},
		{"DROP TABLE " + quote(d.ref), nil},
		{"ALTER TABLE " + quote(next) + " RENAME TO " + sqltext.StoreName(d.ref.Name), nil},
	}
	for _, step := range steps {
		if _, err := s.Write(ctx, []store.TableRef{d.ref}, step.sql, step.args...); err != nil {
			return classify(err, &d.ref)
		}
	}
	return d.writeMeta(ctx, s)
}

// columnMeta is what MySQL says of a column and the store has no place for. It is kept, as JSON, in
// the store's comment of the column, so that it lives and dies with the column itself.
type columnMeta struct {
	MySQL    string `json:"mysql,omitempty"`     // column type text
	Default  string `json:"default,omitempty"`   // MySQL text of the default
	OnUpdate string `json:"on_update,omitempty"` // MySQL text of ON UPDATE
	Auto     bool   `json:"auto,omitempty"`      // AUTO_INCREMENT
	Comment  string `json:"comment,omitempty"`
}

// tableMeta is the same of a table.
type tableMeta struct {
	Comment string      `json:"comment,omitempty"`
	First   uint64      `json:"first,omitempty"` // AUTO_INCREMENT
	Keys    []keyMeta   `json:"keys,omitempty"`
	Indexes []keyMeta   `json:"indexes,omitempty"`
	Checks  []checkMeta `json:"checks,omitempty"`
}

// keyMeta is a UNIQUE key, whose columns the store knows, or an index, which it does not.
type keyMeta struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Lengths []int    `json:"lengths,omitempty"`
	Comment string   `json:"comment,omitempty"`
}

// A comment with this in front is ours, and base64 so that no text of a client is part of the
// generated SQL; any other is a plain comment of an imported table.
const metaMark = "scrim:"

func encodeMeta(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("tables: metadata does not encode: " + err.Error()) // plain strings always do
	}
	return metaMark + base64.StdEncoding.EncodeToString(text)
}

func metaOf(c store.Column) columnMeta {
	m := columnMeta{MySQL: c.MySQL}
	decodeMeta(c.Comment, &m, &m.Comment)
	return m
}

func tableMetaOf(t store.Table) tableMeta {
	var m tableMeta
	decodeMeta(t.Comment, &m, &m.Comment)
	return m
}

func decodeMeta(text string, into any, plain *string) {
	if rest, ok := strings.CutPrefix(text, metaMark); ok {
		decoded, err := base64.StdEncoding.DecodeString(rest)
		if err == nil && json.Unmarshal(decoded, into) == nil {
			return
		}
	}
	*plain = text
}

// fractionOf returns the digits of the seconds of a TIME; ok is false for the texts of other types.
func fractionOf(text string) (digits int, ok bool) {
	if text == "time" {
		return 0, true
	}
	_, err := fmt.Sscanf(text, "time(%d)", &digits)
	return digits, err == nil
}

// fixedSizes are the bytes of a column of a type, of which texts tell nothing more.
var fixedSizes = map[string]int{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "float": 4, "double": 8, "date": 3, "year": 1, "enum": 2, "set": 8,
	"tinytext": 9, "tinyblob": 9, "text": 10, "blob": 10, "mediumtext": 11, "mediumblob": 11, "longtext": 12, "longblob": 12, "json": 12, "geometry": 12}

// checkSize refuses what is too large for a row of MySQL's, which nothing here needs and whoever
// moves the table there does.
func (d *definition) checkSize() error {
	if len(d.columns) > 4096 {
		return mysql.NewSQLError(1117, "HY000", "Too many columns")
	}
	size, before := 0, 0 // of the columns that were there, which have passed
	for _, c := range d.columns {
		declared := strings.Fields(c.meta.MySQL)
		if len(declared) == 0 {
			continue // of a file: no text tells its type
		}
		kind, rest, _ := strings.Cut(declared[0], "(")
		var n, scale int
		_, _ = fmt.Sscanf(rest, "%d,%d", &n, &scale)
		width, last := 1, size
		switch kind {
		case "char", "varchar":
			if width = 4; c.bytes > 0 && n > 0 {
				width = c.bytes / n
			}
			fallthrough
		case "binary", "varbinary":
			if n *= width; strings.HasPrefix(kind, "var") {
				if n > 65535 && c.bytes > 0 {
					return mysql.NewSQLError(1074, "42000", "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead", c.name, 65535/width)
				}
				n += 2
			}
			size += n
		case "decimal":
			size += n*4/9 + 1
		case "bit":
			size += (n + 7) / 8
		case "datetime", "timestamp", "time":
			size += 5 + (n+1)/2
		default:
			size += fixedSizes[kind]
		}
		if c.from != "" {
			before += size - last
		}
	}
	if size > 65535 && before <= 65535 {
		return mysql.NewSQLError(1118, "42000", "Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. This includes storage overhead, "+
			"check the manual. You have to change some columns to TEXT or BLOBs")
	}
	return nil
}

// parsed keeps the types of column type texts, which are few: parsing costs more than all else that
// building a table does.
var parsed sync.Map // string -> sql.Type

// columnType returns the SQL type of a stored column: the one it was created with, or else the one
// that its store type is shown as.
func columnType(ctx *sql.Context, c store.Column, m columnMeta) (sql.Type, error) {
	if m.MySQL == "" {
		return lower.MySQLType(c.Type)
	}
	if _, isTime := fractionOf(m.MySQL); isTime {
		return types.Time, nil
	}
	if t, ok := parsed.Load(m.MySQL); ok {
		return t.(sql.Type), nil
	}
	t, err := planbuilder.ParseColumnTypeString(ctx, m.MySQL)
	if err != nil {
		return lower.MySQLType(c.Type)
	}
	if s, ok := t.(sql.TypeWithCollation); ok && s.Collation() == sql.Collation_Unspecified {
		if t, err = s.WithNewCollation(sql.Collation_Default); err != nil {
			return nil, err
		}
	}
	parsed.Store(m.MySQL, t)
	return t, nil
}
