package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/params"
	"scrim/internal/quota"
	"scrim/internal/remark"
	"scrim/internal/spent"
	"scrim/internal/turns"
)

// Opener opens store connections; store.Store is one.
type Opener interface {
	Session(ctx context.Context) (store.Session, error)
}

// Options are what every session of a server shares. Store, IsDBA, Account and NoteRaw are
// required.
type Options struct {
	Store Opener
	// IsDBA reports whether the session's account has the SUPER privilege.
	IsDBA func(*sql.Context) bool
	// Roles returns the names of the roles granted to the session's account, sorted. Nil: none
	// ever.
	Roles func(*sql.Context) []string
	// Account returns the account user@host, nil where there is none.
	Account func(principal string) *mysql_db.User
	// LastID returns the id of the ledger's last record, for NewIdentity.
	LastID func() uint64
	// NoteRaw records durably that the principal is about to read raw rows. An error refuses the
	// switch.
	NoteRaw func(ctx *sql.Context, principal string) error
	// Memory bounds what a session and its statements hold. Nil: nothing does.
	Memory *quota.Limits
	// Turns are taken by statements that compute for long. Nil: none do.
	Turns *turns.Turns

	running sync.Map // the *atomic.Int64 of each principal
}

// Session is the server's session of one client. GMS calls it from one goroutine at a time, except
// for Close, which may come from another one.
type Session struct {
	*sql.BaseSession
	// Conn is the client's connection; nil in tests.
	Conn     net.Conn
	Identity string // of the account, see NewIdentity

	opts *Options

	mu     sync.Mutex
	store  *counted
	closed bool

	protected atomic.Bool
	prepared  map[string]Prepared // by lower-case name
	// preparedText is how many bytes the texts of prepared have.
	preparedText int
	commands     atomic.Uint64
	quota        *quota.Account // nil without bounds
	seat         *turns.Seat    // nil without turns
	diagnostics  diagnostics
	remarks      []remark.Remark // on the last private statement
	spent        spent.Last
	nextLoad     *store.Load // what the next LOAD DATA does; nil: it inserts rows
}

var (
	_ sql.Session               = (*Session)(nil)
	_ sql.TransactionSession    = (*Session)(nil)
	_ sql.LifecycleAwareSession = (*Session)(nil)
	_ remark.Keeper             = (*Session)(nil)
	_ spent.Keeper              = (*Session)(nil)
)

// New wraps the base session of an authenticated client.
func New(base *sql.BaseSession, opts *Options) *Session {
	return &Session{BaseSession: base, opts: opts, quota: opts.account(), seat: opts.seat(base.Client())}
}

// From returns the server's session in ctx; false inside contexts that no client started.
func From(ctx *sql.Context) (*Session, bool) {
	s, ok := ctx.Session.(*Session)
	return s, ok
}

// Principal names the account that pays for the session's queries: user@host, as the account is
// defined (the host may be a pattern such as %).
func (s *Session) Principal() string {
	c := s.Client()
	return c.User + "@" + c.Address
}

// Principal names the account behind ctx, "" when no client is.
func Principal(ctx *sql.Context) string {
	if s, ok := From(ctx); ok {
		return s.Principal()
	}
	return ""
}

// PrincipalOf names the account that a client has logged in to, user@host.
func PrincipalOf(c *mysql.Conn) string {
	if u, ok := c.UserData.(Account); ok {
		return u.User + "@" + u.Host
	}
	return c.User
}

// ContextOf returns a context of an account that has no connection, which tells what the account
// is. address says from where it asks.
func ContextOf(o *Options, address, user, host string) *sql.Context {
	base := sql.NewBaseSessionWithClientServer(address, sql.Client{User: user, Address: host}, 0)
	return sql.NewContext(context.Background(), sql.WithSession(New(base, o)))
}

// Store returns the session's store connection, opened on first use, inside the transaction that
// the client is in. It is the same one for as long as the client stays connected.
func (s *Session) Store(ctx *sql.Context) (store.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, context.Canceled
	}
	if s.store == nil {
		st, err := s.opts.Store.Session(ctx)
		if err != nil {
			return nil, err
		}
		s.store = &counted{Session: st}
	}
	if tx, ok := s.GetTransaction().(*Transaction); ok && tx.explicit && !s.store.InTransaction() {
		if err := s.store.Begin(ctx); err != nil {
			return nil, err
		}
	}
	return s.store, nil
}

// SetNextLoad says what the session's next LOAD DATA does beside inserting rows.
func (s *Session) SetNextLoad(l *store.Load) { s.nextLoad = l }

// TakeLoad returns what SetNextLoad has said, once.
func (s *Session) TakeLoad() *store.Load {
	l := s.nextLoad
	s.nextLoad = nil
	return l
}

// DPDatabase is the virtual database that every account may read: its tables show each account what
// is theirs.
const DPDatabase = "dp"

// readByAll are the databases of virtual tables that every account may read, because they show each
// account what it may see.
var readByAll = []string{DPDatabase, "information_schema", "performance_schema", "sys", "show ", "mysql "}

// SetPrivilegeSet implements sql.Session: it is how GMS keeps the account's privileges for the
// session, and where every account gets the right to read the databases of readByAll.
func (s *Session) SetPrivilegeSet(p sql.PrivilegeSet, counter uint64) {
	if set, ok := p.(mysql_db.PrivilegeSet); ok {
		for _, name := range readByAll {
			set.AddDatabase(name, sql.PrivilegeType_Select)
		}
	}
	s.BaseSession.SetPrivilegeSet(p, counter)
}

// TouchProtected notes that the running statement reads protected tables: every error of it that is
// not a refusal is then told as the one fixed text.
func (s *Session) TouchProtected() { s.protected.Store(true) }

// TouchesProtected reports whether the running statement has been noted to read protected tables.
func (s *Session) TouchesProtected() bool { return s.protected.Load() }

// CommandBegin implements sql.LifecycleAwareSession: a new command has touched nothing yet, and is
// refused once the account has been dropped, whoever has its name since.
func (s *Session) CommandBegin() error {
	s.protected.Store(false)
	s.quota.Begin()
	s.seat.Begin()
	s.diagnostics.keeps = false
	s.commands.Add(1)
	s.opts.commands(s.Principal()).Add(1)
	if u := s.opts.Account(s.Principal()); u == nil || u.Identity != s.Identity {
		s.opts.commands(s.Principal()).Add(-1)
		c := s.Client()
		return mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError,
			"Access denied for user '%s'@'%s': the account has been dropped", c.User, c.Address)
	}
	return nil
}

// Commands is the number of commands of the session so far.
func (s *Session) Commands() uint64 { return s.commands.Load() }

// CommandEnd implements sql.LifecycleAwareSession.
func (s *Session) CommandEnd() {
	s.opts.commands(s.Principal()).Add(-1)
	s.quota.Begin()
	s.seat.End()
}

// SessionEnd implements sql.LifecycleAwareSession: it rolls back what is open and closes the store
// connection.
func (s *Session) SessionEnd() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.quota.Close()
	if s.store != nil {
		if s.store.InTransaction() {
			_ = s.store.Rollback(context.Background())
		}
		_ = s.store.Close()
		s.store = nil
	}
}

// Facts tells the planner about the session of a statement: it is a planner.SessionFacts.
type Facts struct{}

// Parameter implements planner.SessionFacts.
func (Facts) Parameter(ctx *sql.Context, p *params.Parameter) (params.Value, bool) {
	s, ok := From(ctx)
	if !ok {
		return params.Value{}, false
	}
	return s.Parameter(p)
}

// RawAccess implements planner.SessionFacts.
func (Facts) RawAccess(ctx *sql.Context) bool { return Raw(ctx) }

// IsDBA implements planner.SessionFacts.
func (Facts) IsDBA(ctx *sql.Context) bool { return IsDBA(ctx) }

var _ turns.Holder = (*Session)(nil)

// Seat implements turns.Holder.
func (s *Session) Seat() *turns.Seat { return s.seat }

// seat is the seat of a client's new session.
func (o *Options) seat(c sql.Client) *turns.Seat {
	if o == nil {
		return nil
	}
	return o.Turns.Seat(c.User + "@" + c.Address)
}

var _ quota.Holder = (*Session)(nil)

// Quota implements quota.Holder.
func (s *Session) Quota() *quota.Account { return s.quota }

// account is the account of a new session.
func (o *Options) account() *quota.Account {
	if o == nil || o.Memory == nil {
		return nil
	}
	return quota.New(*o.Memory)
}

// Prepared is a statement that PREPARE has put under a name.
type Prepared struct {
	Text      string
	Params    int
	Statement sqlparser.Statement
}

// maxPrepared and maxPreparedText bound a session's named statements, and the bytes of their texts
// together.
const (
	maxPrepared     = 16382
	maxPreparedText = 16 << 20
)

// Remember puts a statement under a name; names differ by more than their case.
func (s *Session) Remember(name string, p Prepared) error {
	if len(s.prepared) >= maxPrepared {
		return mysql.NewSQLError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxPrepared)
	}
	if s.preparedText+len(p.Text) > maxPreparedText {
		return mysql.NewSQLError(1461, "42000", "Can't keep more than %d bytes of prepared statements in a session; DEALLOCATE some", maxPreparedText)
	}
	if s.prepared == nil {
		s.prepared = map[string]Prepared{}
	}
	s.Forget(name)
	s.prepared[strings.ToLower(name)] = p
	s.preparedText += len(p.Text)
	return nil
}

// Prepared returns the statement of a name.
func (s *Session) Prepared(name string) (Prepared, bool) {
	p, ok := s.prepared[strings.ToLower(name)]
	return p, ok
}

// Forget drops the statement of a name; false when there is none.
func (s *Session) Forget(name string) bool {
	p, ok := s.Prepared(name)
	s.preparedText -= len(p.Text)
	delete(s.prepared, strings.ToLower(name))
	return ok
}

// Diagnostics is what a statement does to the messages of the one before it.
type Diagnostics int

// The kinds of statements.
const (
	Clears Diagnostics = iota // all others
	Keeps                     // shows the messages: SHOW WARNINGS, SHOW ERRORS, SHOW COUNT(*) …
	// reads @@warning_count or @@error_count: clears the messages, and keeps their numbers
	Counts
)

// diagnostics are the numbers of messages that @@warning_count and @@error_count tell.
type diagnostics struct {
	keeps            bool // the running statement shows the messages
	counts           bool // the running statement or the last one reads the numbers
	errors, warnings int64
}

// Diagnose begins a statement of the kind.
func (s *Session) Diagnose(kind Diagnostics) {
	d := &s.diagnostics
	if d.keeps = kind == Keeps; d.keeps {
		return
	}
	n := len(s.Warnings())
	if !(d.counts && kind == Counts && n == 0) {
		d.warnings, d.errors = int64(n), 0
		for _, w := range s.Warnings() {
			if w.Level == "Error" {
				d.errors++
			}
		}
	}
	d.counts = kind == Counts
	s.BaseSession.ClearWarnings()
}

// ClearWarnings implements sql.Session. go-mysql-server clears the messages before most statements,
// also before one that shows them in a form of ours.
func (s *Session) ClearWarnings() {
	if !s.diagnostics.keeps {
		s.BaseSession.ClearWarnings()
	}
}

// KeepRemarks implements remark.Keeper. Unlike MySQL's messages they stay while other statements
// than private ones run, for clients that send some of their own in between.
func (s *Session) KeepRemarks(list []remark.Remark) { s.remarks = list }

// Remarks implements remark.Keeper.
func (s *Session) Remarks() []remark.Remark { return s.remarks }

// Spent implements spent.Keeper.
func (s *Session) Spent() *spent.Last { return &s.spent }

// Account is who has logged in: an account, its host as it is defined, and its identity.
type Account struct {
	sql.MysqlConnectionUser
	Identity string
}

// Owner names the account behind ctx apart from others of its name: what is one account's own is
// kept under it. Budgets are the name's.
func Owner(ctx *sql.Context) string {
	if s, ok := From(ctx); ok {
		return s.Principal() + s.Identity
	}
	return ""
}

// Since is the id of the ledger's last record before the account behind ctx was made; 0 where an
// older version made it.
func Since(ctx *sql.Context) (id uint64) {
	if s, ok := From(ctx); ok {
		_, _ = fmt.Sscan(s.Identity, &id)
	}
	return id
}

// NewIdentity returns what tells an account that is about to be made from all others of its name:
// what Since returns, and a random text. The caller sees to it that no account has the name.
//
// It waits up to ten seconds until no command of the name runs. A command is counted before its
// account is looked up, so one of an earlier account has been counted, or is refused. Nothing
// begins with the rights of one account and ends with those of the next, and no record of an
// earlier account has a higher id than the identity's.
func NewIdentity(ctx *sql.Context, principal string) (string, error) {
	s, _ := From(ctx)
	for end := time.Now().Add(10 * time.Second); s.opts.commands(principal).Load() > 0; time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(end) {
			return "", mysql.NewSQLError(1396, "HY000", "Operation CREATE USER failed for %s: a statement or a scheduled refresh of the dropped account has not ended yet; try again", principal)
		}
	}
	return fmt.Sprintf(" %d %s", s.opts.LastID(), rand.Text()), nil
}

// commands is how many commands of a principal run.
func (o *Options) commands(principal string) *atomic.Int64 {
	n, _ := o.running.LoadOrStore(principal, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// The roles that every server has. They are MySQL roles, granted and revoked as such.
const (
	DBA      = "dba"      // everything
	Analyst  = "analyst"  // asks; carries what a DBA grants to it
	Auditor  = "auditor"  // reads the ledger, the budgets and the grants of all, and no data
	Importer = "importer" // writes rows, and reads none

	Collector = "collector" // administers collections
	Shuffler  = "shuffler"  // loads the batches of shuffle collections, and nothing else
)

// Roles returns the names of the roles that are granted to the account behind ctx, without hosts,
// sorted. All granted roles are active. There are none where no client is.
func Roles(ctx *sql.Context) []string {
	s, ok := From(ctx)
	if !ok || s.opts.Roles == nil {
		return nil
	}
	return s.opts.Roles(ctx)
}

// IsDBA reports whether the account behind ctx is a DBA: it has SUPER, or the role dba.
func IsDBA(ctx *sql.Context) bool {
	s, ok := From(ctx)
	return ok && s.isDBA(ctx)
}

func (s *Session) isDBA(ctx *sql.Context) bool {
	return s.opts.IsDBA(ctx) || s.opts.Roles != nil && slices.Contains(s.opts.Roles(ctx), DBA)
}

// IsAuditor reports whether the account behind ctx has the role auditor.
func IsAuditor(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Auditor) }

// IsImporter reports whether the account behind ctx has the role importer.
func IsImporter(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Importer) }

// IsCollector reports whether the account behind ctx may administer collections: it has the role
// collector, or is a DBA.
func IsCollector(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Collector) || IsDBA(ctx) }

// IsShuffler reports whether the account behind ctx may load batches: it has the role shuffler, or
// is a collector.
func IsShuffler(ctx *sql.Context) bool {
	return slices.Contains(Roles(ctx), Shuffler) || IsCollector(ctx)
}
