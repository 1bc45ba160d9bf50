package catalog

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/collation"
	"scrim/internal/refuse"
)

// State says what a DBA has declared a table to be.
type State uint8

// States. A table that nobody declared is refused to everybody but a DBA with raw access.
const (
	Undeclared State = iota
	Public
	Protected
)

var stateNames = [...]string{Undeclared: "undeclared", Public: "public", Protected: "protected"}

// String returns the word that dp.policies shows.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

func parseState(word string) (State, bool) {
	for i, n := range stateNames {
		if n == word {
			return State(i), true
		}
	}
	return Undeclared, false
}

// Table is the policy of one table. It is immutable.
type Table struct {
	Name  string // schema.table, lower case
	State State
	// key of the table's budget; kept through renames, never used again for another table
	Account string
	// the space of units; kept with the account after unprotecting, so look at State first
	Entity string
	Unit   Unit
	// Also is a second person whom each row belongs to, of another entity; nil: none. Only a
	// protected table has one.
	Also *Owner
	// Relation is the neighbour relation of the table's losses, the same for all tables of its
	// entity.
	Relation Relation
	// Sized says that the number of persons in the table is public; with ReplaceOne only. It says
	// nothing about the persons that a WHERE or a GROUP BY selects, nor about those of a linked
	// table.
	Sized   bool
	Domains map[string]Domain // by lower-case column name
	// public standard deviations by lower-case column name: one for all coordinates, or one for
	// each
	Scales map[string][]float64
	// Defaults of session parameters for queries on the table.
	Defaults Defaults
}

// Unit says which person a row belongs to. Exactly one of the three is set on a protected table.
type Unit struct {
	Row    bool   // each row is one person
	Column string // the column that identifies the person
	// by which texts of Column are one person; "" where their bytes decide. It is the column's when
	// the table was protected, and stays.
	Collation string `encode:"omitzero"`
	Period    Period // with Column: only the rows of one period are the unit's
	Link      *Link  // the person is the one that the parent row belongs to
}

// Owner is a person whom each row of a table belongs to.
type Owner struct {
	Entity string
	Unit   Unit // a column or a link
}

// Owners are the persons whom each row belongs to; none of a table that is not protected.
func (t Table) Owners() []Owner {
	if t.State != Protected {
		return nil
	}
	list := []Owner{{t.Entity, t.Unit}}
	if t.Also != nil {
		list = append(list, *t.Also)
	}
	return list
}

// Of reports whether the table belongs to an entity, or did before it was unprotected.
func (t Table) Of(entity string) bool {
	return t.Entity == entity || t.Also != nil && t.Also.Entity == entity
}

// Link is a foreign key that leads towards the unit: Column refers to ParentColumn, a primary or
// unique key of Parent that the store enforces.
type Link struct {
	Column       string
	Parent       string // schema.table
	ParentColumn string
}

// Domain is the public domain of a column. Exactly one of Values, Source, Range and Span is set.
type Domain struct {
	Values []any   // public key set: string, int64, float64, bool, or nil where NULL is listed
	Source *Source // the values of a column of a public table, read when a query is planned
	Range  *Range  // public numeric range
	Span   *Span   // public range of dates or moments
	Null   bool    // of a range: NULL is a value too
}

// Source names a column of a public table.
type Source struct{ Table, Column string }

// Range is a closed interval.
type Range struct{ Min, Max float64 }

// Span is a closed interval of moments as the column shows them, without a zone, to microseconds.
type Span struct{ Min, Max time.Time }

// Distinct refuses a domain that has two equal values by a collation: they would be one key.
func (d Domain) Distinct(by sql.CollationID) error {
	seen := map[string]string{}
	for _, v := range d.Values {
		member, ok := v.(string)
		key := collation.Key(by, member)
		if was, twice := seen[key]; ok && twice {
			return refuse.New(refuse.Policy, "'%s' and '%s' are in the column's domain, and equal by the collation %s: they are one key.", was, member, by.Name()).
				With("List one of them.")
		}
		if ok {
			seen[key] = member
		}
	}
	return nil
}

// Defaults are the parameters that queries on a table get when nothing nearer sets them; nil or 0
// means that the built-in value holds.
type Defaults struct {
	Epsilon float64 `json:"dp_epsilon,omitempty"`
	Delta   float64 `json:"dp_delta,omitempty"`
	Rho     float64 `json:"dp_rho,omitempty"`
	// upper limit of one statement's dp_epsilon
	MaxEpsilon float64 `json:"max_epsilon,omitempty"`
	MaxGroups  int     `json:"dp_max_groups_contributed,omitempty"`
	// rows of one unit beyond this are left out by secret random choice
	MaxRowsPerUnit int64 `json:"max_rows_per_unit,omitempty"`
	// key selection never shows keys with a noisy count under this
	MinimumGroupUnits int    `json:"min_group_units,omitempty"`
	Method            string `json:"dp_method,omitempty"` // of the means of vectors
	// how groups are answered: together or apart
	GroupBy string `json:"dp_group_by,omitempty"`
	// public upper bound on the number of units: EXPLAIN tells the disk that their numbers take
	MaxPersons int64 `json:"max_persons,omitempty"`
	// the analysts of the table find each other's stored answers
	ShareReplays bool `json:"dp_share_replays,omitempty"`
}

// Reader is what the planner needs of a catalogue: a lookup on one immutable state.
type Reader interface {
	// Table returns the policy of schema.table; a table without one is Undeclared.
	Table(name string) Table
	// Disjoint reports whether a DBA has declared that nobody is a person of both entities.
	Disjoint(entity, other string) bool
}

// MaxName is the longest name of a table (with its schema), column or entity, in bytes: MySQL's 64
// characters of up to four bytes for each of two parts, and the dot.
const MaxName = 2*4*64 + 1

// RowUnit is what dp_protect takes in place of a column where each row is one person.
const RowUnit = "row"

// tableName folds and checks the name of a table: schema.table with exactly one dot, since a name
// with a dot inside could not be told from another schema's table.
func tableName(name string) (string, error) {
	n := strings.ToLower(name)
	schema, table, ok := strings.Cut(n, ".")
	if !ok || schema == "" || table == "" || strings.Contains(table, ".") || !plain(n) {
		return "", refuse.New(refuse.Policy, "%s is not the name of a table.", quoted(name)).
			With("Name it as schema.table; neither part may hold a dot.")
	}
	return n, nil
}

// existing folds, checks and looks up the name of a table.
func existing(s Schema, name string) (string, error) {
	n, err := tableName(name)
	if err != nil {
		return "", err
	}
	if !s.HasTable(n) {
		return "", refuse.New(refuse.Policy, "There is no table %s.", n).
			With("Name a table that exists; a view is protected by the tables that it reads.")
	}
	return n, nil
}

// columnOf folds, checks and looks up a column of a table.
func columnOf(s Schema, table, column string) (string, error) {
	c := strings.ToLower(column)
	if c == "" || !plain(c) || !s.HasColumn(table, c) {
		return "", refuse.New(refuse.Policy, "The table %s has no column %s.", table, quoted(column)).
			With("Name a column of the table.")
	}
	return c, nil
}

// entityName folds and checks the name of an entity.
func entityName(name string) (string, error) {
	n := strings.ToLower(name)
	ok := n != "" && n != "default" && len(n) <= 64
	for _, r := range n {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	}
	if !ok {
		return "", refuse.New(refuse.Policy, "%s is not the name of an entity.", quoted(name)).
			With("Name the kind of person, for example 'customer': up to 64 letters, digits, underscores, dashes and dots.")
	}
	return n, nil
}

// plain reports whether a name can be stored and shown.
func plain(s string) bool {
	return len(s) <= MaxName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// quoted shows a client's text in a message, cut and escaped.
func quoted(s string) string {
	const limit = 64
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteRune('\uFFFD')
		}
	}
	b.WriteByte('\'')
	return b.String()
}
