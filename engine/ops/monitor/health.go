package monitor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/accounting"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/session"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/dashboard"
	"scrim/engine/store/duckdb"
)

// Health tells whether private statements can be answered.
type Health struct {
	ledger   *accounting.Ledger
	store    *duckdb.Store
	audit    *audit.Log // nil where statements may run without it
	spill    string     // the directory in which writing is tried
	stopping atomic.Bool
	// Every is how long the results of one check of disk and store are good for, whoever asks
	// how often.
	Every time.Duration

	mu  sync.Mutex
	at  time.Time
	err error
}

// Why private statements cannot be answered. The texts are shown to whoever can reach /readyz.
var (
	errStopping  = errors.New("the server is stopping")
	errNoLedger  = errors.New("the ledger does not write; the server's log says why")
	ErrDamaged   = errors.New("the ledger is damaged; the server's log says what to do")
	errNoAudit   = errors.New("the audit log cannot be written; the server's log says why")
	errNoDisk    = errors.New("the data directory cannot be written: is the disk full, or read-only?")
	errStoreDown = errors.New("the store does not answer")
	errHalted    = errors.New("writing to the disk failed: nothing is read or changed until the store is opened anew, which happens by itself once the disk has room; the server's log says more")
)

// checkTimeout is how long the store has to answer.
const checkTimeout = 3 * time.Second

// Check returns nil while private statements can be answered, else why not.
func (h *Health) Check() error {
	if h.stopping.Load() {
		return errStopping
	}
	if err := ledgerError(h.ledger); err != nil {
		return err
	}
	if h.audit.Failing() {
		return errNoAudit
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := time.Since(h.at); h.at.IsZero() || age > h.Every {
		h.err = errors.Join(h.writes(), h.answers())
		h.at = time.Now()
	}
	return h.err
}

// writes reports whether the disk of the ledger takes another page. The store empties the directory
// that it is tried in.
func (h *Health) writes() error {
	if err := os.MkdirAll(h.spill, 0o700); err != nil {
		return errNoDisk
	}
	f, err := os.CreateTemp(h.spill, "ready-*")
	if err != nil {
		return errNoDisk
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 16<<10))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errNoDisk
	}
	return nil
}

// answers reports whether the store answers, also while a statement has it to itself.
func (h *Health) answers() error {
	if h.store.Halted() != nil {
		return errHalted
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	if h.store.Alive(ctx) != nil {
		return errStoreDown
	}
	return nil
}

// Viewers are the server's own accounts as the dashboard asks for them: DBAs and auditors may look.
type Viewers struct {
	DB      *mysql_db.MySQLDb
	Session *session.Options
	Logins  *auth.Server
}

var _ dashboard.Accounts = Viewers{}

// Login implements dashboard.Accounts. The account is the one that the MySQL protocol would take
// for that address.
func (v Viewers) Login(user, password, address string, secure bool) (dashboard.Viewer, bool) {
	rd := v.DB.Reader()
	u := v.DB.GetUser(rd, user, address, false)
	rd.Close()
	nobody := v.Logins.Nobody(user) // so that all names take as long
	if u == nil || u.User == "" || !mayLogin(u, secure) {
		auth.Matches(nobody, password)
		return dashboard.Viewer{}, false
	}
	if !auth.Matches(u, password) {
		return dashboard.Viewer{}, false
	}
	return v.viewer(u)
}

// Valid implements dashboard.Accounts: the account exists, may log in, has the same password and
// still may look.
func (v Viewers) Valid(w dashboard.Viewer) bool {
	u := auth.Named(v.DB, w.Principal)
	if u == nil || !mayLogin(u, true) {
		return false
	}
	now, ok := v.viewer(u)
	return ok && now.Stamp == w.Stamp && now.Role == w.Role
}

// Principals implements dashboard.Accounts.
func (v Viewers) Principals() []string {
	var list []string
	rd := v.DB.Reader()
	defer rd.Close()
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole {
			list = append(list, u.User+"@"+u.Host)
		}
	})
	slices.Sort(list)
	return list
}

// mayLogin reports whether an account can be logged in to with a password over such a connection.
func mayLogin(u *mysql_db.User, secure bool) bool {
	if u.IsRole || u.Locked || u.AuthString == "" {
		return false
	}
	// the others want a certificate of the client
	return u.SslType == "" || u.SslType == "ANY" && secure
}

// viewer says as what an account may look, if it may.
func (v Viewers) viewer(u *mysql_db.User) (dashboard.Viewer, bool) {
	stamp := sha256.Sum256([]byte(u.Plugin + "\x00" + u.AuthString + u.Identity))
	w := dashboard.Viewer{Principal: u.User + "@" + u.Host, Stamp: hex.EncodeToString(stamp[:])}
	ctx := session.ContextOf(v.Session, "dashboard", u.User, u.Host)
	switch {
	case session.IsDBA(ctx):
		w.Role = "DBA"
	case session.IsAuditor(ctx):
		w.Role = "auditor"
	default:
		return dashboard.Viewer{}, false
	}
	now := auth.Named(v.DB, w.Principal) // the role may be that of an account made meanwhile
	return w, now != nil && now.Identity == u.Identity
}

// Loopback reports whether a host of a listening address can be reached from this machine only. A
// name other than localhost could lead anywhere.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
