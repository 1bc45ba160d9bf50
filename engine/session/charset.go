package session

import "github.com/dolthub/go-mysql-server/sql"

// GetCharacterSetResults implements sql.Session. Where a client asks for utf8, which is MySQL's
// name for characters of at most three bytes, it gets those of four as well: go-mysql-server fails
// the statement at the first of them, and clients that say utf8 read them.
func (s *Session) GetCharacterSetResults() sql.CharacterSetID {
	if c := s.BaseSession.GetCharacterSetResults(); c != sql.CharacterSet_utf8mb3 {
		return c
	}
	return sql.CharacterSet_utf8mb4
}
