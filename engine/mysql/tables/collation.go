package tables

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/collation"
)

// The collation of a column is part of its type's text; a table and a database keep the one of what
// is declared in them without a collation. What has no record is by bytes.

// collationNamed returns the collation of a record.
func collationNamed(name string) sql.CollationID {
	if c, err := sql.ParseCollation("", name, false); err == nil && c != sql.Collation_Unspecified {
		return c
	}
	return collation.Bytes
}

// recorded is the record of a collation, "" for bytes.
func recorded(c sql.CollationID) string {
	if c == sql.Collation_Unspecified || c == collation.Bytes {
		return ""
	}
	return c.Name()
}

// bucketCollations is the store's bucket of the collations of databases, by their names.
const bucketCollations = "collations"

// collations keeps the collations of databases, once they have been read.
type collations struct {
	mu       sync.Mutex
	bySchema map[string]sql.CollationID // nil before they are read
}

// of returns the collation of a database.
func (c *collations) of(ctx context.Context, st store.Store, schema string) (sql.CollationID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bySchema == nil {
		s, err := st.Session(ctx)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		list, err := s.Meta().List(ctx, bucketCollations)
		if err != nil {
			return 0, err
		}
		c.bySchema = map[string]sql.CollationID{}
		for _, e := range list {
			c.bySchema[e.Key] = collationNamed(string(e.Value))
		}
	}
	if id, ok := c.bySchema[schema]; ok {
		return id, nil
	}
	return collation.Bytes, nil
}

// set records the collation of a database, in one transaction with what comes before it.
func (c *collations) set(ctx *sql.Context, p *Provider, schema string, id sql.CollationID, before func(store.Session) error) error {
	err := p.atomically(ctx, func(s store.Session) error {
		if before != nil {
			if err := before(s); err != nil {
				return err
			}
		}
		if name := recorded(id); name != "" {
			return s.Meta().Put(ctx, bucketCollations, schema, []byte(name))
		}
		return s.Meta().Delete(ctx, bucketCollations, schema)
	})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.bySchema != nil {
			c.bySchema[schema] = collationNamed(recorded(id))
		}
	}
	return err
}

func (c *collations) forget(schema string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.bySchema, schema)
}

// Collation returns the collation of a database, whoever asks.
func (p *Provider) Collation(ctx context.Context, schema string) (sql.CollationID, error) {
	return p.defaults.of(ctx, p.store, fold(schema))
}

// GetCollation implements sql.CollatedDatabase.
func (d *Database) GetCollation(ctx *sql.Context) sql.CollationID {
	c, err := d.p.Collation(ctx, d.name)
	if err != nil {
		return collation.Bytes // the interface has no error; the statement meets it at its own reads
	}
	return c
}

// SetCollation implements sql.CollatedDatabase: ALTER DATABASE.
func (d *Database) SetCollation(ctx *sql.Context, c sql.CollationID) error {
	if err := d.p.access.CheckDDL(ctx, store.TableRef{Schema: d.name}); err != nil {
		return err
	}
	if err := collation.Check(c); err != nil {
		return err
	}
	return d.p.defaults.set(ctx, d.p, d.name, c, nil)
}

// collation is that of the values of a text column, Bytes for other columns.
func (c columnDef) collation() sql.CollationID {
	if kind, _ := c.meta.kind(); !strings.HasSuffix(kind, "char") && !strings.HasSuffix(kind, "text") {
		return collation.Bytes
	}
	_, name, _ := strings.Cut(c.meta.MySQL, " COLLATE ")
	return collationNamed(name)
}

// CollationOf is the collation of the texts of a stored column, Bytes for other columns.
func CollationOf(c store.Column) sql.CollationID { return columnDef{meta: metaOf(c)}.collation() }

// collate runs ALTER TABLE … COLLATE, which changes what columns get that are added, and ALTER
// TABLE … CONVERT TO CHARACTER SET, which changes all columns, too.
func (d *Database) collate(ctx *sql.Context, table string, c sql.CollationID) error {
	if err := collation.Check(c); err != nil {
		return err
	}
	converts, err := converts(ctx)
	if err != nil {
		return err
	}
	if !converts {
		return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error {
			t.collation = c
			return nil
		}})
	}
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, reads: true, apply: func(t *definition) error {
		t.collation = c
		for i := range t.columns {
			if err := d.convert(ctx, t, i, c); err != nil {
				return err
			}
		}
		return t.checkSize()
	}})
}

// convert gives a column that is a text another collation.
func (d *Database) convert(ctx *sql.Context, t *definition, column int, c sql.CollationID) error {
	next := t.columns[column]
	typ, err := columnType(ctx, store.Column{Type: next.store}, next.meta)
	if err != nil || next.hidden || next.store != "VARCHAR" {
		return err
	}
	has, ok := typ.(sql.TypeWithCollation)
	if !ok || has.Collation() == c {
		return nil
	}
	if c == sql.Collation_binary {
		return unsupported("MODIFY the columns to BLOB, one by one.", "CONVERT TO CHARACTER SET binary is not supported.")
	}
	if err := d.p.checkAlter(ctx, t.ref, Change{Op: ModifyColumn, Column: next.name, Collation: c}); err != nil {
		return err
	}
	if err := t.mayRetype(next.name); err != nil {
		return err
	}
	if typ, err = has.WithNewCollation(c); err != nil {
		return err
	}
	next.meta.MySQL = typ.String()
	if s, isText := typ.(sql.StringType); isText {
		next.bytes = int(s.MaxByteLength())
	}
	t.columns[column] = next
	t.limitCharset(next)
	return d.retyped(ctx, t, next.name)
}

// converts reports whether an ALTER TABLE is one of CONVERT TO, of which the tree says nothing.
func converts(ctx *sql.Context) (bool, error) {
	clauses := 0
	for _, s := range specsOf(ctx) {
		if s.AlterCollationSpec != nil {
			clauses++
		}
	}
	found, last := false, 0
	lexer := sqlparser.NewStringTokenizer(ctx.Query())
	for {
		token, _ := lexer.Scan()
		if token == 0 || token == sqlparser.LEX_ERROR {
			break
		}
		found = found || last == sqlparser.CONVERT && token == sqlparser.TO
		last = token
	}
	if clauses == 0 || found && clauses > 1 {
		return false, unsupported("Send it as a statement of its own.", "ALTER TABLE with a character set or a collation is not supported here.")
	}
	return found, nil
}

// narrow returns the character set of a type of texts that has not all characters.
func narrow(t sql.Type) (sql.CharacterSetID, bool) {
	s, ok := t.(sql.StringType)
	if !ok || !types.IsTextOnly(t) {
		return 0, false
	}
	return s.CharacterSet(), collation.Narrow(s.CharacterSet())
}

// narrows reports whether a column has such a type. A nil table has none.
func (t *Table) narrows() bool {
	return t != nil && slices.ContainsFunc(t.schema, func(c *sql.Column) bool { _, ok := narrow(c.Type); return ok })
}

// wide is a type of texts with all characters and as much room: go-mysql-server counts the bytes of
// a text of latin1 in UTF-8, as which it is kept.
func wide(t sql.Type) sql.Type {
	s := t.(sql.StringType)
	length := s.MaxCharacterLength()
	if t.Type() == sqltypes.Text {
		length = s.MaxByteLength()
	}
	w, err := types.CreateString(t.Type(), length, collation.Bytes)
	if err != nil {
		return types.LongText
	}
	return w
}

// replaced is a text with question marks in the place of characters that its type does not have.
func replaced(t sql.Type, text string) string {
	set, ok := narrow(t)
	if !ok {
		return text
	}
	return collation.Within(set, text)
}

// within is replaced with a warning, of a value of the row with a number.
func within(ctx *sql.Context, v any, c *sql.Column, row int) any {
	set, ok := narrow(c.Type)
	if !ok || v == nil {
		return v
	}
	x, _, err := wide(c.Type).Convert(ctx, v)
	text, _ := x.(string)
	if at := collation.Outside(set, text); err == nil && at >= 0 {
		warn(ctx, 1366, errOutside(text, at, c.Name, row))
		return replaced(c.Type, text)
	}
	return v
}
