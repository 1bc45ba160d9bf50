package auth

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/session"
	"scrim/engine/mysql/virtual"
	"scrim/internal/refuse"
)

// Limits of single accounts: CREATE USER and ALTER USER … WITH MAX_USER_CONNECTIONS n.
// go-mysql-server reads them and does nothing with them, and its plan of ALTER USER has no place
// for them. So an ALTER USER with limits is written as the CREATE USER that it would be
// (AsCreateUser), marked. The number is kept among the account's attributes.

// altered marks a CREATE USER that was an ALTER USER. No statement has it: AsCreateUser takes it
// off what was read.
const altered = "\x00altered"

// attributes are what is kept of an account beside what go-mysql-server knows.
type attributes struct {
	MaxUserConnections int64 `json:"max_user_connections,omitempty"`
}

// AsCreateUser returns an ALTER USER with limits as a CREATE USER, and any other statement as it
// is.
func AsCreateUser(s sqlparser.Statement) sqlparser.Statement {
	switch n := s.(type) {
	case *sqlparser.CreateUser:
		if n.Attribute == altered {
			n.Attribute = ""
		}
	case *sqlparser.DDL:
		if n.AccountLimits == nil || n.User.Name == "" {
			return s
		}
		user := sqlparser.AccountWithAuth{AccountName: n.User}
		if a := n.Authentication; a != nil && *a != (sqlparser.Authentication{}) {
			user.Auth1 = a
		}
		return &sqlparser.CreateUser{Auth: n.Auth, AccountLimits: n.AccountLimits, Attribute: altered, Users: []sqlparser.AccountWithAuth{user}, IfNotExists: n.IfExists}
	}
	return s
}

// checkLimits refuses limits that the server does not keep, and those that somebody but a DBA sets.
func checkLimits(by Caller, n *plan.CreateUser) error {
	l := n.AccountLimits
	if l == nil {
		return nil
	}
	for _, hourly := range []*int64{l.MaxQueriesPerHour, l.MaxUpdatesPerHour, l.MaxConnectionsPerHour} {
		if hourly != nil && *hourly != 0 {
			return refuse.New(refuse.Unsupported, "Limits by the hour are not supported.").With("MAX_USER_CONNECTIONS bounds the connections that an account has at once; budgets bound what it learns.")
		}
	}
	if n.Attribute == altered && !by.DBA {
		return notDBA("ALTER USER … WITH")
	}
	return nil
}

// Connections is the number of connections that an account may have at once by itself; 0 where it
// has no number of its own, and for nil.
func Connections(u *mysql_db.User) int64 { return attributesOf(u).MaxUserConnections }

func attributesOf(u *mysql_db.User) (a attributes) {
	if u != nil && u.Attributes != nil {
		_ = json.Unmarshal([]byte(*u.Attributes), &a) // what cannot be read is none of ours
	}
	return a
}

// change makes, alters or drops accounts. It gives new ones their identity, and keeps that of one
// that is altered, which go-mysql-server does not.
type change struct {
	virtual.Leaf
	db   *mysql_db.MySQLDb
	of   plan.CreateUser
	drop *plan.DropUser // nil, or else what is run
}

var (
	_        sql.ExecSourceRel = (*change)(nil)
	changing sync.Mutex        // one change at a time
)

// Changing returns the node of a statement that changes accounts, and any other as it is.
func Changing(db *mysql_db.MySQLDb, n sql.Node) (sql.Node, bool) {
	switch n := n.(type) {
	case *plan.CreateUser:
		return &change{db: db, of: *n}, true
	case *plan.AlterUser:
		return &change{db: db, of: plan.CreateUser{MySQLDb: n.MySQLDb, Users: []plan.AuthenticatedUser{n.User}, IfNotExists: n.IfExists, Attribute: altered}}, true
	case *plan.DropUser:
		return &change{db: db, drop: n}, true
	}
	return n, false
}

// RowIter implements sql.ExecSourceRel.
func (l *change) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	changing.Lock()
	defer changing.Unlock()
	next, there := *l, make([]bool, len(l.of.Users))
	next.of.Users = slices.Clone(l.of.Users)
	for i := range there {
		u, k, err := &next.of.Users[i], keyOf(l.of.Users[i].UserName), error(nil)
		if old := account(l.db, k.User, k.Host); old != nil {
			u.Identity, there[i] = old.Identity, true
		} else if u.Identity, err = session.NewIdentity(ctx, k.User+"@"+k.Host); err != nil {
			return nil, err
		}
	}
	if err := next.account(ctx, there); err != nil {
		return nil, err
	}
	if limits := l.of.AccountLimits; limits != nil && limits.MaxUserConnections != nil {
		if err := l.limit(ctx, there, *limits.MaxUserConnections); err != nil {
			return nil, err
		}
	}
	if l.drop != nil {
		disconnect(ctx, l.drop.Users)
	}
	return sql.RowsToRowIter(sql.Row{types.NewOkResult(0)}), nil
}

// disconnect ends the connections of dropped accounts, but that of the statement, whose next one is
// refused, as is the first of one that is logging in.
func disconnect(ctx *sql.Context, users []plan.UserName) {
	for _, p := range ctx.ProcessList.Processes() {
		of := mysql_db.UserPrimaryKey{User: p.User, Host: p.Host}
		if p.Connection != ctx.Session.ID() && slices.ContainsFunc(users, func(u plan.UserName) bool { return keyOf(u) == of }) {
			ctx.ProcessList.Kill(p.Connection)
			ctx.KillConnection(p.Connection)
		}
	}
}

// account does what the statement says beside limits.
func (l *change) account(ctx *sql.Context, there []bool) error {
	var node sql.Node = &l.of
	if l.drop != nil {
		node = l.drop
	} else if l.of.Attribute == altered {
		u := l.of.Users[0]
		if u.Auth1 == nil && there[0] || !there[0] && l.of.IfNotExists {
			return nil
		}
		// an account that is not there is refused by it
		node = &plan.AlterUser{MySQLDb: l.of.MySQLDb, User: u, IfExists: l.of.IfNotExists}
	}
	rows, err := rowexec.NewBuilder(nil, sql.EngineOverrides{}).Build(ctx, node, nil)
	if err == nil {
		_, err = sql.RowIterToRows(ctx, rows)
	}
	return err
}

// keyOf is the account that go-mysql-server takes a name for: an empty host is any.
func keyOf(n plan.UserName) mysql_db.UserPrimaryKey {
	user, host := nameOf(n)
	host = cmp.Or(host, anyHost)
	return mysql_db.UserPrimaryKey{User: user, Host: host}
}

// limit keeps the number of the accounts that the statement made, or altered.
func (l *change) limit(ctx *sql.Context, there []bool, number int64) error {
	ed := l.db.Editor()
	defer ed.Close()
	for i, n := range l.of.Users {
		if there[i] != (l.of.Attribute == altered) {
			// CREATE USER IF NOT EXISTS of one that was there, or ALTER USER IF EXISTS of one that
			// is not
			continue
		}
		u, ok := ed.GetUser(keyOf(n.UserName))
		if !ok {
			return fmt.Errorf("auth: the account %s is not there after its statement", n.UserName.String("'"))
		}
		a := attributesOf(u)
		a.MaxUserConnections = number
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		kept := string(text)
		// in its place, as ALTER USER does: go-mysql-server would keep a copy beside it
		u.Attributes = &kept
		ed.PutUser(u)
	}
	return l.db.Persist(ctx, ed)
}

// IsReadOnly implements sql.Node.
func (*change) IsReadOnly() bool { return false }

// Schema implements sql.Node.
func (*change) Schema(*sql.Context) sql.Schema { return types.OkResultSchema }

// WithChildren implements sql.Node.
func (l *change) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(l, children...)
}

// String implements sql.Node, without passwords.
func (*change) String() string { return "Accounts" }
