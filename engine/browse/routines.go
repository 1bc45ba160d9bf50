package browse

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"

	"scrim/engine/session"
	"scrim/engine/store"
	"scrim/engine/tables"
)

// routineDatabase is where the server's procedures are said to be. They are called by their name
// alone, too.
const routineDatabase = session.DPDatabase

// routineType is what all of them are: functions are part of the server, and not listed by MySQL
// either.
const routineType = "PROCEDURE"

func (s *Server) routines(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		list = append(list, sql.Row{r.Name, defCatalog, routineDatabase, r.Name, routineType, "", nil, nil, nil, nil, nil, nil, nil, nil,
			"SQL", nil, nil, "SQL", "SQL", "NO", "MODIFIES SQL DATA", nil, "INVOKER", nil, nil, "", r.Doc, "root@%", charset(), collation(), collation()})
	}
	return list, nil
}

// parameters lists the parameters of the procedures, all of which are texts.
func (s *Server) parameters(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		for i, p := range parametersOf(r.Signature) {
			list = append(list, sql.Row{defCatalog, routineDatabase, r.Name, uint64(i + 1), "IN", p, "text", nil, nil, nil, nil, nil, charset(), collation(), "text", routineType})
		}
	}
	return list, nil
}

// parametersOf reads the names of parameters in a signature such as
//
//	dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, window [, reason])
func parametersOf(signature string) []string {
	_, inside, ok := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	if !ok {
		return nil
	}
	var names []string
	for _, p := range strings.Split(inside, ",") {
		p, _, _ = strings.Cut(p, "|")
		if p = strings.Trim(p, " []"); p != "" {
			names = append(names, p)
		}
	}
	return names
}

// routine finds a procedure by its name.
func (s *Server) routine(name string) (Routine, bool) {
	for _, r := range s.Routines {
		if strings.EqualFold(r.Name, name) {
			return r, true
		}
	}
	return Routine{}, false
}

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

func sortVariables(list []Variable) {
	slices.SortFunc(list, func(a, b Variable) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
