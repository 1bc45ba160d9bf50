package tables

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"scrim/engine/store"
)

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
