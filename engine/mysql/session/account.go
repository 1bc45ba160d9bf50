package session

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

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
