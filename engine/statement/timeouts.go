package statement

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/session"
	"scrim/engine/wire"
)

// Timeouts implements wire.Handler, by the session's own variables.
func (h *Handler) Timeouts(c *mysql.Conn) wire.Timeouts {
	s, ok := c.ClientData.(*session.Session)
	if !ok {
		return wire.Timeouts{}
	}
	return wire.Timeouts{Idle: seconds(s, "wait_timeout"), Body: seconds(s, "net_read_timeout"), Write: seconds(s, "net_write_timeout")}
}

// converting is the context of conversions, which read nothing of it; making one copies all
// variables.
var converting = sql.NewEmptyContext()

// seconds is the value of a session variable that counts seconds, 0 where there is none.
func seconds(s *session.Session, name string) time.Duration {
	v, err := s.GetSessionVariable(nil, name)
	if err != nil {
		return 0
	}
	n, _, err := types.Int64.Convert(converting, v)
	if err != nil {
		return 0
	}
	return time.Duration(n.(int64)) * time.Second
}

// setIdleTimeout gives a new session of a client that says that a person types the time of
// interactive_timeout.
func setIdleTimeout(c *mysql.Conn) error {
	s, ok := c.ClientData.(*session.Session)
	if !ok || !wire.Of(c).Interactive() {
		return nil
	}
	v, err := s.GetSessionVariable(nil, "interactive_timeout")
	if err != nil {
		return err
	}
	return s.BaseSession.SetSessionVariable(sql.NewEmptyContext(), "wait_timeout", v)
}
