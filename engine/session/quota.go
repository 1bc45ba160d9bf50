package session

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/quota"
)

var _ quota.Holder = (*Session)(nil)

// variableSize is what a user variable takes besides its name and its value.
const variableSize = 128

// Quota implements quota.Holder.
func (s *Session) Quota() *quota.Account { return s.quota }

// GetUserVariable implements sql.Session. A statement that reads variables over and over ends with
// its context.
func (s *Session) GetUserVariable(ctx *sql.Context, name string) (sql.Type, any, error) {
	if ctx != nil && ctx.Context != nil {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return s.BaseSession.GetUserVariable(ctx, name)
}

// SetUserVariable implements sql.Session: the session's account keeps the value.
func (s *Session) SetUserVariable(ctx *sql.Context, name string, value any, t sql.Type) error {
	_, old, err := s.BaseSession.GetUserVariable(ctx, name)
	if err != nil {
		return err
	}
	if err := s.quota.Keep(kept(name, value) - kept(name, old)); err != nil {
		return err
	}
	return s.BaseSession.SetUserVariable(ctx, name, value, t)
}

// kept is what a variable takes; a name that has no value yet is taken for one without.
func kept(name string, value any) int64 {
	if value == nil {
		return 0
	}
	return variableSize + int64(len(name)) + quota.Size(value)
}

// account is the account of a new session.
func (o *Options) account() *quota.Account {
	if o == nil || o.Memory == nil {
		return nil
	}
	return quota.New(*o.Memory)
}
