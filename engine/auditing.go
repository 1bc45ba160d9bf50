package engine

import (
	"os"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/audit"
	"scrim/engine/version"
	"scrim/internal/refuse"
)

// auditOff is the value of Config.Audit without an audit log.
const auditOff = "off"

// openAudit opens the audit log, before anything that it would tell of.
func (s *Server) openAudit() (err error) {
	s.observers = append(s.observers, s.cfg.Observers...)
	if s.cfg.Audit == auditOff {
		return nil
	}
	s.audit, err = audit.Open(audit.Options{
		Dir: s.place.AuditPath(), MaxSize: s.cfg.AuditSize << 20, Days: s.cfg.AuditDays, OnFailure: audit.Policy(s.cfg.Audit), Log: s.log,
	})
	s.audit.Write(audit.Record{Kind: audit.Start, Note: "version " + version.Number + ", process " + strconv.Itoa(os.Getpid())})
	return err
}

// admit takes a place in the audit log for a statement or a login.
func (h *handler) admit() (audit.Place, error) {
	place, err := h.audit.Admit()
	if err != nil {
		err = refuse.New(refuse.Audit, "The audit log cannot be written, and the server is configured to run no statement without it.")
	}
	return place, err
}

// login records that a client has logged in.
func (h *handler) login(c *mysql.Conn) error {
	place, err := h.admit()
	if err != nil {
		return err
	}
	place.Write(connection(audit.Login, c))
	return nil
}

// logout records the end of a connection that had logged in.
func (h *handler) logout(c *mysql.Conn) {
	if c.UserData != nil {
		h.audit.Write(connection(audit.Logout, c))
	}
}

func connection(kind audit.Kind, c *mysql.Conn) audit.Record {
	return audit.Record{Kind: kind, Connection: c.ConnectionID, Principal: principalOf(c), From: c.RemoteAddr().String()}
}

// principalOf is the account that a client has logged in to, user@host.
func principalOf(c *mysql.Conn) string {
	if u, ok := c.UserData.(sql.MysqlConnectionUser); ok {
		return u.User + "@" + u.Host
	}
	return c.User
}
