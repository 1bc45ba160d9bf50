package auth

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/mysql/session"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// Root is the account that the first start makes; it is a DBA and may log in from anywhere.
const Root, RootHost = "root", anyHost

// Load fills db from the persister's file and attaches the persister. When there is no file it
// makes the root account with the given password, or with a generated one when that is empty, and
// returns the generated one: it is shown once and kept nowhere. The roles of the server are made
// where they are missing.
func Load(ctx *sql.Context, db *mysql_db.MySQLDb, p *Persister, password string) (generated string, err error) {
	data, ok, err := p.Load()
	if err != nil {
		return "", fmt.Errorf("auth: the accounts cannot be read: %w", err)
	}
	p.db = db
	db.SetPersister(p)
	db.SetEnabled(true)
	if ok {
		ed := db.Editor()
		defer ed.Close()
		if err := p.fill(ctx, ed, data); err != nil {
			return "", err
		}
		return "", makeRoles(ctx, db, ed)
	}
	if password == "" {
		if password, err = newPassword(); err != nil {
			return "", err
		}
		generated = password
	}
	ed := db.Editor()
	defer ed.Close()
	db.AddSuperUser(ed, Root, RootHost, password)
	return generated, makeRoles(ctx, db, ed)
}

// newPassword returns 144 random bits as 24 letters, digits, '-' and '_'.
func newPassword() (string, error) {
	b := make([]byte, 18)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("auth: no randomness for a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// IsDBA reports whether the account behind ctx has SUPER.
func IsDBA(ctx *sql.Context, db *mysql_db.MySQLDb) bool {
	return db.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Super))
}

// Audit returns the accounts in db that could be used without a password: there are none unless the
// file was changed by other means. The server refuses to start with one.
func Audit(db *mysql_db.MySQLDb) []string {
	var open []string
	rd := db.Reader()
	defer rd.Close()
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole && !u.Locked && (u.AuthString == "" || u.User == "") {
			open = append(open, u.User+"@"+u.Host)
		}
	})
	return open
}

// Named returns the account of the name user@host, its host as it is defined; nil if there is none.
// Its Identity is session.NewIdentity's, "" where an older version made it.
func Named(db *mysql_db.MySQLDb, name string) *mysql_db.User {
	at := strings.LastIndexByte(name, '@')
	if at < 0 {
		return nil
	}
	u := account(db, name[:at], name[at+1:])
	if u == nil || u.IsRole {
		return nil
	}
	return u
}

// account returns the account or role of exactly that name and host; nil if there is none.
// go-mysql-server's own search also returns an account whose host is a pattern that fits.
func account(db *mysql_db.MySQLDb, user, host string) *mysql_db.User {
	rd := db.Reader()
	defer rd.Close()
	u, _ := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	return u
}

// checkLast refuses a statement after which nobody could log in as a DBA: there is no way back.
func checkLast(db *mysql_db.MySQLDb, n sql.Node) error {
	var losers []plan.UserName
	switch n := n.(type) {
	case *plan.DropUser:
		losers = n.Users
	case *plan.RevokeRole:
		if slices.ContainsFunc(n.Roles, func(r plan.UserName) bool { return r.Name == session.DBA }) {
			losers = n.TargetUsers
		}
	case *plan.Revoke:
		if n.PrivilegeLevel.Database == "*" && slices.ContainsFunc(n.Privileges, func(p plan.Privilege) bool {
			return p.Type == plan.PrivilegeType_Super || p.Type == plan.PrivilegeType_All
		}) {
			losers = n.Users
		}
	}
	if len(losers) == 0 {
		return nil
	}
	lost := map[string]bool{}
	for _, l := range losers {
		user, host := nameOf(l)
		lost[user+"@"+host] = true
	}
	if slices.ContainsFunc(Accounts(db), func(a Account) bool { return a.DBA && !a.Role && !a.Locked && !lost[a.Name] }) {
		return nil
	}
	return refuse.New(refuse.Policy, "No other account is a DBA, and nobody could make one afterwards.").
		With("GRANT dba TO another account first.")
}

// Account is an account or a role as it is shown.
type Account struct {
	Name   string // user@host; of a role its name alone
	Role   bool
	Roles  []string // granted to it
	DBA    bool
	Locked bool     // of an account: it cannot log in
	Grants []string // what it can do, the privileges of its roles included
}

// Accounts lists all accounts by name, and then the roles.
func Accounts(db *mysql_db.MySQLDb) []Account {
	rd := db.Reader()
	defer rd.Close()
	var list []Account
	rd.VisitUsers(func(u *mysql_db.User) { list = append(list, accountIn(rd, u)) })
	slices.SortFunc(list, func(a, b Account) int {
		switch {
		case a.Role == b.Role:
			return cmp.Compare(a.Name, b.Name)
		case b.Role:
			return -1
		}
		return 1
	})
	return list
}

func accountIn(rd *mysql_db.Reader, u *mysql_db.User) Account {
	a := Account{Name: u.User + "@" + u.Host, Role: u.IsRole, Locked: u.Locked, Roles: rolesIn(rd, u.User, u.Host)}
	if u.IsRole {
		a.Name, a.Locked = u.User, false
	}
	set := privilegesIn(rd, u, a.Roles)
	a.DBA = set.Has(sql.PrivilegeType_Super)
	a.Grants = privilegeLines(set, " TO "+u.UserHostToString("`"))
	return a
}

// Contributor reports whether the account user@host, its host as it is defined, is there to send
// reports and for nothing else: all that it and its roles have been granted is INSERT on the
// database inbox or on tables of it. One of the server's own roles makes it another account, and so
// does any other privilege, but SELECT on the database dp, which everybody has.
func Contributor(db *mysql_db.MySQLDb, inbox, user, host string) bool {
	rd := db.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok || u.IsRole {
		return false
	}
	roles := rolesIn(rd, user, host)
	return !slices.ContainsFunc(roles, IsOwnRole) && insertsOnly(privilegesIn(rd, u, roles), inbox)
}

// insertsOnly reports whether a set has INSERT on a database or its tables, and nothing besides but
// SELECT on dp.
func insertsOnly(set mysql_db.PrivilegeSet, inbox string) bool {
	if !only(set.ToSlice()) || len(set.ToSliceDynamic(true))+len(set.ToSliceDynamic(false)) > 0 {
		return false
	}
	inserts := false
	for _, d := range set.GetDatabases() {
		may := sql.PrivilegeType_Select
		if own := strings.EqualFold(d.Name(), inbox); own {
			may = sql.PrivilegeType_Insert
			inserts = inserts || hasInsert(d)
		} else if !strings.EqualFold(d.Name(), session.DPDatabase) && d.HasPrivileges() {
			return false
		}
		if !only(d.ToSlice(), may) || len(d.GetRoutines()) > 0 || slices.ContainsFunc(d.GetTables(), func(t sql.PrivilegeSetTable) bool {
			return !only(t.ToSlice(), may) || len(t.GetColumns()) > 0
		}) {
			return false
		}
	}
	return inserts
}

func only(held []sql.PrivilegeType, may ...sql.PrivilegeType) bool {
	return !slices.ContainsFunc(held, func(p sql.PrivilegeType) bool { return !slices.Contains(may, p) })
}

func hasInsert(d sql.PrivilegeSetDatabase) bool {
	return d.Has(sql.PrivilegeType_Insert) || slices.ContainsFunc(d.GetTables(), func(t sql.PrivilegeSetTable) bool {
		return t.Has(sql.PrivilegeType_Insert)
	})
}

// Persister keeps the grant tables in one file. It is safe for concurrent use.
//
// The file is a line "scrim-users 1 DIRECTORY SHA256", the data directory's id and the digest of
// the rest, and then the grant tables as go-mysql-server writes them.
type Persister struct {
	path, directoryID string
	mu                sync.Mutex
	db                *mysql_db.MySQLDb // whose tables they are, once loaded
}

// format begins the file; the number is the version.
const format = "scrim-users 1"

// newerFormat is what a file of a newer program begins with.
var newerFormat = regexp.MustCompile(`^scrim-users ([2-9]|[1-9][0-9]+)\b`)

var _ mysql_db.MySQLDbPersistence = (*Persister)(nil)

// NewPersister keeps the grant tables of a data directory at path.
func NewPersister(path, directoryID string) *Persister {
	return &Persister{path: path, directoryID: directoryID}
}

// Load returns the grant tables; ok is false when there is no file yet. A file that is damaged, of
// an unknown version or of another data directory is refused.
func (p *Persister) Load() (data []byte, ok bool, err error) {
	data, err = os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	head, data, _ := bytes.Cut(data, []byte("\n"))
	directory, digest, _ := strings.Cut(strings.TrimPrefix(string(head), format+" "), " ")
	switch {
	case newerFormat.Match(head):
		return nil, false, fmt.Errorf("auth: %s was made by a newer version of scrim (%s; this version knows %q); nothing is damaged: use that version", p.path, newerFormat.Find(head), format)
	case !strings.HasPrefix(string(head), format+" ") || digest != digestOf(data):
		return nil, false, fmt.Errorf("auth: %s is damaged; restore the data directory as a whole from its backup", p.path)
	case directory != p.directoryID:
		return nil, false, fmt.Errorf("auth: %s belongs to another data directory; restore the data directory as a whole from its backup", p.path)
	}
	return data, true, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Persist implements mysql_db.MySQLDbPersistence: when it returns nil, the new state is on disk,
// and a crash at any point leaves either the old state or the new one. When it returns an error,
// the tables in memory, which go-mysql-server has changed before, get the state of the file again.
func (p *Persister) Persist(_ *sql.Context, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	head := fmt.Sprintf("%s %s %s\n", format, p.directoryID, digestOf(data))
	err := durable.Replace(p.path, 0o600, durable.Bytes(append([]byte(head), data...)))
	if err != nil && p.db != nil {
		next := make(chan struct{})
		go func() {
			close(next)
			ed := p.db.Editor() // next after the caller, who holds the tables
			defer ed.Close()
			if data, ok, err := p.Load(); err == nil && ok {
				_ = p.fill(sql.NewEmptyContext(), ed, data)
			}
		}()
		<-next
	}
	return err
}

// fill puts what the file holds into the tables.
func (p *Persister) fill(ctx *sql.Context, ed *mysql_db.Editor, data []byte) error {
	if err := p.db.OverwriteUsersAndGrantData(ctx, ed, data); err != nil {
		return fmt.Errorf("auth: the accounts cannot be read: %w", err)
	}
	repair(ed, data)
	return nil
}
