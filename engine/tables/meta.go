package tables

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"

	"scrim/engine/store"
	"scrim/planner/lower"
)

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
	Comment string    `json:"comment,omitempty"`
	Keys    []keyMeta `json:"keys,omitempty"`
}

// keyMeta is the name that a UNIQUE key was created with.
type keyMeta struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
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

// parsed keeps the types of column type texts, which are few: parsing costs more than all else that
// building a table does.
var parsed sync.Map // string -> sql.Type

// columnType returns the SQL type of a stored column: the one it was created with, or else the one
// that its store type is shown as.
func columnType(ctx *sql.Context, c store.Column, m columnMeta) (sql.Type, error) {
	if m.MySQL == "" {
		return lower.MySQLType(c.Type)
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
