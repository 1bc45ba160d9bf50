package browse

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// Routine is a stored procedure of the server.
type Routine struct{ Name, Signature, Doc string }

// Variable is a status variable and its value.
type Variable struct {
	Name  string
	Value any
}

// Options are what the answers are made of. All are required but Traffic and TLS.
type Options struct {
	Tables   *tables.Provider
	Routines []Routine
	// Public reports whether a table has been declared public.
	Public func(store.TableRef) bool
	// All reports whether an account sees what concerns all: DBAs and auditors do.
	All func(ctx *sql.Context) bool
	// DBA reports whether an account is a DBA's.
	DBA func(ctx *sql.Context) bool
	// Roles returns the roles of the account.
	Roles func(ctx *sql.Context) []string
	// Traffic returns the bytes that the session's connection, or all of them, received and sent.
	// Nil: nothing is counted.
	Traffic func(ctx *sql.Context, all bool) (received, sent uint64)
	// TLS returns the cipher and the version of the session's connection, "" in clear. Nil: none is
	// in TLS.
	TLS func(ctx *sql.Context) (cipher, version string)
	// ShowCreateUser returns the statement that makes an account, without its password; false if
	// there is none.
	ShowCreateUser func(user, host string) (string, bool)
}

// Server answers.
type Server struct {
	Options
	catalog     *analyzer.Catalog
	information *database
	mysql       *database
	fixed       sync.Map // name of a virtual database -> its objects
	started     time.Time
}

// The names of the databases that clients cannot name.
const (
	ShowDatabase  = "show "
	MySQLDatabase = "mysql "
)

// New returns the answers of a server, whose virtual databases are to be given to its provider.
func New() *Server { return &Server{started: time.Now()} }

// Databases returns the virtual databases for the provider.
func (s *Server) Databases() []sql.Database {
	s.mysql = newDatabase(MySQLDatabase)
	show := newDatabase(ShowDatabase)
	show.make = s.answer
	return []sql.Database{s.performance(), s.sys(), s.mysql, show}
}

// Open completes the server once the catalogue and all that the options speak of are there, and
// puts its information_schema in the place of go-mysql-server's.
func (s *Server) Open(c *analyzer.Catalog, o Options) {
	s.catalog, s.Options = c, o
	s.information = s.informationSchema()
	c.InfoSchema = s.information
	s.fillMySQL()
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

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
