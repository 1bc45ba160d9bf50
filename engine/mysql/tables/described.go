package tables

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/lists"
)

// Described is the definition of a stored table as a catalogue shows it. It is immutable.
type Described struct {
	Name, Comment string
	Collation     sql.CollationID // of columns that are declared without one
	Columns       []DescribedColumn
	Keys          []DescribedKey
	First         uint64 // AUTO_INCREMENT=n as declared, 0 for none: never the counter
	Checks        []DescribedCheck
	Foreign       []ForeignKey // by their names
}

// DescribedCheck is a CHECK constraint: Text is its condition without brackets.
type DescribedCheck struct {
	Name, Text string
	Enforced   bool
}

// DescribedColumn is one column of a table or a view.
type DescribedColumn struct {
	Name     string
	Type     sql.Type
	TypeText string // as CREATE TABLE takes it; a vector(n) where Type is JSON
	Nullable bool
	// Default is the text of the default, nil for none; Expression says that it is no constant.
	Default    *string
	Expression bool
	OnUpdate   string
	Auto       bool
	Generated  string // the expression of a generated column
	Virtual    bool
	Key        string // PRI, UNI, MUL or ""
	Comment    string
}

// DescribedKey is a PRIMARY or UNIQUE key, or an index.
type DescribedKey struct {
	Name    string
	Columns []string
	Unique  bool
	Lengths []int    // of the columns' prefixes, 0 for a whole column; nil where all are whole
	Exprs   []string // in the place of columns, "" for a column; nil where there are none
	Comment string
}

// Part returns the column of a part of the key, or its expression.
func (k DescribedKey) Part(part int) (column, expression any) {
	if k.Exprs == nil || k.Exprs[part] == "" {
		return k.Columns[part], nil
	}
	return nil, k.Exprs[part]
}

// SubPart is the length of the prefix of a column, nil for the whole.
func (k DescribedKey) SubPart(column int) any {
	if k.Lengths == nil || k.Lengths[column] == 0 {
		return nil
	}
	return int64(k.Lengths[column])
}

// Primary reports whether the key is the primary one.
func (k DescribedKey) Primary() bool { return k.Name == primaryName }

// described keeps the descriptions of a schema's tables for as long as the store lists the same
// definitions.
type described struct {
	mu       sync.Mutex
	bySchema map[string]describedSchema
}

type describedSchema struct {
	from []store.Table
	made []*Described
}

// Describe returns the definitions of the tables of a schema, sorted by name, whoever asks.
func (p *Provider) Describe(ctx *sql.Context, schema string) ([]*Described, error) {
	schema = fold(schema)
	if !p.visible(schema) {
		return nil, nil
	}
	from, err := p.store.Tables(ctx, schema)
	if err != nil {
		return nil, err
	}
	p.described.mu.Lock()
	defer p.described.mu.Unlock()
	if known, ok := p.described.bySchema[schema]; ok && sameTables(known.from, from) {
		return known.made, nil
	}
	made, err := lists.Try(from, func(t store.Table) (*Described, error) { return describe(ctx, t) })
	if err != nil {
		return nil, err
	}
	if p.described.bySchema == nil {
		p.described.bySchema = map[string]describedSchema{}
	}
	p.described.bySchema[schema] = describedSchema{from, made}
	return made, nil
}

// sameTables reports whether two listings are the same one: the store makes new slices for every
// listing that it reads.
func sameTables(a, b []store.Table) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Ref != b[i].Ref || len(a[i].Columns) != len(b[i].Columns) || a[i].Comment != b[i].Comment ||
			len(a[i].Columns) > 0 && &a[i].Columns[0] != &b[i].Columns[0] {
			return false
		}
	}
	return true
}

func describe(ctx *sql.Context, t store.Table) (*Described, error) {
	def := definitionOf(t)
	d := &Described{Name: t.Ref.Name, Comment: def.comment, Collation: def.collation, First: def.first, Foreign: slices.Clone(def.foreign)}
	slices.SortStableFunc(d.Foreign, func(a, b ForeignKey) int { return strings.Compare(fold(a.Name), fold(b.Name)) })
	for _, c := range def.checks {
		d.Checks = append(d.Checks, DescribedCheck{c.Name, c.Text, !c.Off})
	}
	for _, k := range def.keys {
		d.Keys = append(d.Keys, DescribedKey{Name: k.name, Columns: k.columns, Unique: !k.plain, Lengths: k.lengths, Exprs: k.exprs, Comment: k.comment})
	}
	for i, c := range t.Columns {
		m := def.columns[i].meta
		typ, err := columnType(ctx, c, m)
		if err != nil {
			return nil, err
		}
		text := typeText(c, typ)
		if _, isTime := fractionOf(m.MySQL); isTime {
			text = m.MySQL
		}
		col := DescribedColumn{Name: c.Name, Type: typ, TypeText: text, Nullable: c.Nullable,
			Generated: m.Generated, Virtual: m.Virtual, Auto: m.Auto, OnUpdate: m.OnUpdate, Comment: m.Comment, Key: def.keyOf(c.Name)}
		if col.Key == "PRI" {
			col.Nullable = false
		}
		if col.Default, col.Expression = defaultOf(m.Default); col.Default != nil && types.IsBit(typ) && !col.Expression {
			n, _ := strconv.ParseUint(*col.Default, 10, 64)
			bits := "b'" + strconv.FormatUint(n, 2) + "'"
			col.Default = &bits
		}
		d.Columns = append(d.Columns, col)
	}
	return d, nil
}

// mainKey is the index of the primary key, or where there is none of the first UNIQUE key whose
// columns are all NOT NULL, which MySQL shows as one; -1 without either.
func (d *definition) mainKey() int {
	if i := d.key(primaryName); i >= 0 {
		return i
	}
	return slices.IndexFunc(d.keys, func(k keyDef) bool {
		nullable := func(c string) bool { return d.column(c) < 0 || d.columns[d.column(c)].nullable }
		return !k.plain && k.stored == nil && !slices.ContainsFunc(k.columns, nullable)
	})
}

// keyOf says as MySQL does which key a column leads: PRI, UNI for a key of its own, MUL for the
// first of several.
func (d *definition) keyOf(column string) string {
	found, main := "", d.mainKey()
	for n, k := range d.keys {
		for i, c := range k.columns {
			switch {
			case !strings.EqualFold(c, column):
			case n == main:
				return "PRI"
			case i == 0 && len(k.columns) == 1 && !k.plain:
				found = "UNI"
			case i == 0 && found == "":
				found = "MUL"
			}
		}
	}
	return found
}

// typeText is the text of a column's type. Arrays of a fixed length, which are read as JSON, are
// vectors.
func typeText(c store.Column, t sql.Type) string {
	if n, ok := strings.CutSuffix(c.Type, "]"); ok {
		if _, dim, ok := strings.Cut(n, "["); ok && dim != "" {
			if _, err := strconv.Atoi(dim); err == nil {
				return "vector(" + dim + ")"
			}
		}
	}
	return TypeText(t)
}

// StoredAs returns the store's type of a column that is declared with a type.
func StoredAs(t sql.Type) (string, error) {
	_, stored, err := storedType(t, sql.Collation_Default)
	return stored, err
}

// TypeText is the text of a type without its collation.
func TypeText(t sql.Type) string {
	text, _, _ := strings.Cut(t.String(), " COLLATE ")
	text, _, _ = strings.Cut(text, " CHARACTER SET ")
	return text
}

// defaultOf takes the quotes off a constant.
func defaultOf(text string) (value *string, expression bool) {
	if text == "" || strings.EqualFold(text, "NULL") {
		return nil, false
	}
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		q := text[:1]
		plain := strings.ReplaceAll(text[1:len(text)-1], q+q, q)
		return &plain, false
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil || strings.HasPrefix(text, "0x") {
		return &text, false
	}
	plain := text
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		plain = text[1 : len(text)-1]
	}
	if up := strings.ToUpper(plain); strings.HasPrefix(up, "CURRENT_TIMESTAMP") || strings.HasPrefix(up, "NOW(") {
		plain = strings.TrimSuffix(strings.Replace(up, "NOW(", "CURRENT_TIMESTAMP(", 1), "()")
	}
	return &plain, true
}

// Views returns the views of a schema, sorted by name, whoever asks.
func (p *Provider) Views(ctx *sql.Context, schema string) ([]sql.ViewDefinition, error) {
	return (&Database{p: p, name: fold(schema)}).AllViews(ctx)
}

// HasView reports whether a schema has a view of that name, whoever asks.
func (p *Provider) HasView(ctx *sql.Context, schema, name string) (bool, error) {
	_, ok, err := (&Database{p: p, name: fold(schema)}).GetViewDefinition(ctx, name)
	return ok, err
}

// Schemas lists the stored schemas, whoever asks.
func (p *Provider) Schemas(ctx context.Context) ([]string, error) {
	return p.schemas(ctx)
}

// Stored lists the stored tables of all databases, as schema.table, whoever may read them.
func (p *Provider) Stored(ctx context.Context) ([]string, error) {
	schemas, err := p.schemas(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, schema := range schemas {
		list, err := p.store.Tables(ctx, schema)
		if err != nil {
			return nil, err
		}
		out = append(out, lists.Map(list, func(t store.Table) string { return schema + "." + fold(t.Ref.Name) })...)
	}
	return out, nil
}

// Virtual lists the names of the databases that the server itself provides.
func (p *Provider) Virtual() map[string]sql.Database { return p.virtual }

// Sizes returns about how many rows the tables have that are public, as the store keeps it. The
// sizes of others are not told, whoever asks.
func (p *Provider) Sizes(ctx *sql.Context, public func(store.TableRef) bool) map[store.TableRef]uint64 {
	s, err := SessionOf(ctx)
	if err != nil {
		return nil
	}
	rows, err := s.Query(ctx, "SELECT lower(schema_name), lower(table_name), estimated_size FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal")
	if err != nil {
		return nil // in a transaction that was aborted, too
	}
	sizes := map[store.TableRef]uint64{}
	_ = store.Each(rows, func(row []any) error { // what was read before an error counts
		schema, _ := row[0].(string)
		name, _ := row[1].(string)
		size, ok := row[2].(int64)
		if ref := (store.TableRef{Schema: schema, Name: name}); ok && size >= 0 && public(ref) {
			sizes[ref] = uint64(size)
		}
		return nil
	})
	return sizes
}

// columnMeta is what MySQL says of a column and the store has no place for. It is kept, as JSON, in
// the store's comment of the column, so that it lives and dies with the column itself.
type columnMeta struct {
	MySQL    string `json:"mysql,omitempty"`     // column type text
	Default  string `json:"default,omitempty"`   // MySQL text of the default
	OnUpdate string `json:"on_update,omitempty"` // MySQL text of ON UPDATE
	Auto     bool   `json:"auto,omitempty"`      // AUTO_INCREMENT
	Comment  string `json:"comment,omitempty"`
	// Generated is the MySQL text of a generated column's expression.
	Generated string `json:"generated,omitempty"`
	Virtual   bool   `json:"virtual,omitempty"`
	// Key is the collation of a hidden column that holds the keys of another column's texts.
	Key string `json:"key,omitempty"`
}

// kind is the name of the type and its first number: of decimal(10,2) unsigned, decimal and 10.
func (m columnMeta) kind() (kind string, n int) {
	declared, _, _ := strings.Cut(m.MySQL, " ")
	kind, rest, _ := strings.Cut(declared, "(")
	_, _ = fmt.Sscanf(rest, "%d", &n)
	return kind, n
}

// tableMeta is the same of a table.
type tableMeta struct {
	Comment string `json:"comment,omitempty"`
	// Collation is the table's default, "" for bytes.
	Collation string       `json:"collation,omitempty"`
	First     uint64       `json:"first,omitempty"` // AUTO_INCREMENT
	Keys      []keyMeta    `json:"keys,omitempty"`
	Indexes   []keyMeta    `json:"indexes,omitempty"`
	Checks    []checkMeta  `json:"checks,omitempty"`
	Foreign   []ForeignKey `json:"foreign,omitempty"`
	// Computed says that the table has generated or hidden columns.
	Computed bool `json:"computed,omitempty"`
}

// keyMeta is a UNIQUE key, whose columns the store knows, or an index, which it does not.
type keyMeta struct {
	Name      string   `json:"name"`
	Columns   []string `json:"columns"`
	Lengths   []int    `json:"lengths,omitempty"`
	Exprs     []string `json:"exprs,omitempty"`
	Stored    []string `json:"stored,omitempty"`
	Comment   string   `json:"comment,omitempty"`
	Generated bool     `json:"generated,omitempty"`
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

// columnComment is a column's comment in the store, "" for none.
func columnComment(m columnMeta) string {
	if m == (columnMeta{}) {
		return ""
	}
	return encodeMeta(m)
}

// tableComment is the table's comment in the store, "" for none.
func (d *definition) tableComment() string {
	m := tableMeta{Comment: d.comment, Collation: recorded(d.collation), First: d.first, Checks: d.checks, Foreign: d.foreign}
	for _, c := range d.columns {
		m.Computed = m.Computed || c.hidden || c.meta.Generated != ""
	}
	for _, k := range d.keys {
		kept := keyMeta{Name: k.name, Columns: k.columns, Lengths: k.lengths, Exprs: k.exprs, Stored: k.stored, Comment: k.comment, Generated: k.generated}
		switch {
		case k.plain:
			m.Indexes = append(m.Indexes, kept)
		case !k.primary || k.stored != nil:
			m.Keys = append(m.Keys, kept)
		}
	}
	if m.Comment == "" && m.Collation == "" && m.First == 0 && !m.Computed && len(m.Checks)+len(m.Foreign)+len(m.Keys)+len(m.Indexes) == 0 {
		return ""
	}
	return encodeMeta(m)
}

// fractionOf returns the digits of the seconds of a TIME; ok is false for the texts of other types.
func fractionOf(text string) (digits int, ok bool) {
	if text == "time" {
		return 0, true
	}
	_, err := fmt.Sscanf(text, "time(%d)", &digits)
	return digits, err == nil
}
