package session

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/turns"
)

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
