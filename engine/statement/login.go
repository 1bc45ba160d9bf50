package statement

import (
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/audit"
	"scrim/engine/session"
	"scrim/internal/refuse"
)

// admit takes a place in the audit log for a statement or a login.
func (h *Handler) admit() (audit.Place, error) {
	place, err := h.Audit.Admit()
	if err != nil {
		err = refuse.New(refuse.Audit, "The audit log cannot be written, and the server is configured to run no statement without it.")
	}
	return place, err
}

// login records that a client has logged in.
func (h *Handler) login(c *mysql.Conn) error {
	place, err := h.admit()
	if err != nil {
		return err
	}
	place.Write(connection(audit.Login, c))
	return nil
}

// logout records the end of a connection that had logged in.
func (h *Handler) logout(c *mysql.Conn) {
	if c.UserData != nil {
		h.Audit.Write(connection(audit.Logout, c))
	}
}

func connection(kind audit.Kind, c *mysql.Conn) audit.Record {
	return audit.Record{Kind: kind, Connection: c.ConnectionID, Principal: session.PrincipalOf(c), From: c.RemoteAddr().String()}
}
