package browse

import (
	"encoding/hex"
	"strings"

	"scrim/internal/sqltext"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// answers make the answers of statements, as the table of one statement: made when the statement is
// bound, so that a table that is not there is an error where it is in MySQL. An argument is nil
// where the client left it out.
var answers map[string]func(s *Server, ctx *sql.Context, args []*string) (*table, error)

func init() {
	answers = map[string]func(s *Server, ctx *sql.Context, args []*string) (*table, error){
		"databases": (*Server).showDatabases, "tables": (*Server).showTables, "full tables": (*Server).showFullTables,
		"columns": (*Server).showColumns, "full columns": (*Server).showFullColumns, "index": (*Server).showIndex,
		"table status": (*Server).showTableStatus, "create table": (*Server).showCreateTable, "create view": (*Server).showCreateView,
		"create user": (*Server).showCreateUser, "create routine": (*Server).showCreateRoutine, "absent": (*Server).showAbsent, "nothing in": (*Server).showNothingIn,
		"errors": (*Server).showErrors, "count": (*Server).showCount,
	}
}

// from writes the query whose rows are an answer. Arguments are encoded, since they become the name
// of a table.
func from(kind string, args ...*string) string {
	parts := []string{hex.EncodeToString([]byte(kind))}
	for _, a := range args {
		if a == nil {
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, "x"+hex.EncodeToString([]byte(*a)))
	}
	return "SELECT * FROM " + sqltext.Name(ShowDatabase) + "." + sqltext.Name(strings.Join(parts, " "))
}

// ShowsMessages reports whether a statement shows the messages of the one before it in a form of
// ours.
func ShowsMessages(s sqlparser.Statement) bool {
	sel, ok := s.(*sqlparser.Select)
	if !ok || len(sel.From) != 1 {
		return false
	}
	t, ok := sel.From[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return false
	}
	name, ok := t.Expr.(sqlparser.TableName)
	if !ok || name.DbQualifier.String() != ShowDatabase {
		return false
	}
	kind, _, _ := strings.Cut(name.Name.String(), " ")
	return kind == hex.EncodeToString([]byte("errors")) || kind == hex.EncodeToString([]byte("count"))
}

// answer finds the table that from has named.
func (s *Server) answer(ctx *sql.Context, name string) (sql.Table, error) {
	parts := strings.Split(name, " ")
	kind, err := hex.DecodeString(parts[0])
	if err != nil {
		return nil, nil
	}
	var args []*string
	for _, p := range parts[1:] {
		if p == "-" {
			args = append(args, nil)
			continue
		}
		b, err := hex.DecodeString(strings.TrimPrefix(p, "x"))
		if err != nil {
			return nil, nil
		}
		text := string(b)
		args = append(args, &text)
	}
	make := answers[string(kind)]
	if make == nil || len(args) != arguments[string(kind)] {
		return nil, nil
	}
	t, err := make(s, ctx, args)
	if err != nil || t == nil {
		return nil, err
	}
	t.Title = name
	return t, nil
}

// arguments are how many arguments each answer takes.
var arguments = map[string]int{
	"databases": 1, "tables": 2, "full tables": 2, "columns": 2, "full columns": 2, "index": 2, "table status": 1,
	"create table": 2, "create view": 2, "create user": 2, "create routine": 2, "absent": 3, "nothing in": 2, "errors": 0, "count": 1,
}

// of returns an argument, "" for one that was left out.
func of(a *string) string {
	if a == nil {
		return ""
	}
	return *a
}

// fixedRows is the table of rows that are there already.
func fixedRows(schema sql.Schema, list []sql.Row) *table {
	return newTable("", schema, func(*sql.Context) ([]sql.Row, error) { return list, nil })
}

// like reports whether a name is like a pattern of MySQL, without case. No pattern fits all.
func like(pattern *string, name string) bool {
	if pattern == nil {
		return true
	}
	p, s := []rune(strings.ToLower(*pattern)), []rune(strings.ToLower(name))
	fits := make([]bool, len(s)+1) // fits[i]: the pattern so far is like s[:i]
	fits[0] = true
	for k := 0; k < len(p); k++ {
		plain := false
		if p[k] == '\\' && k+1 < len(p) {
			k++
			plain = true
		}
		next := make([]bool, len(s)+1)
		switch {
		case p[k] == '%' && !plain:
			for i, ok := 0, false; i <= len(s); i++ {
				ok = ok || fits[i]
				next[i] = ok
			}
		default:
			for i := range s {
				next[i+1] = fits[i] && (p[k] == s[i] || p[k] == '_' && !plain)
			}
		}
		fits = next
	}
	return fits[len(s)]
}
