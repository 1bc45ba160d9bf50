package session

import (
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

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
