package statement

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/browse"
	"scrim/engine/session"
)

// messageCounts are the variables that tell how many messages the statement before has left.
var messageCounts = regexp.MustCompile(`(?i)@@(?:(?:session|local)\s*\.\s*)?` + "`?(?:warning|error)_count")

// diagnose makes the statement keep or clear the messages of the one before it, as in MySQL: what
// shows them keeps them.
func diagnose(ctx *sql.Context, s sqlparser.Statement, text string) {
	own, ok := session.From(ctx)
	if !ok {
		return
	}
	show, ok := s.(*sqlparser.Show)
	switch _, named := s.(*sqlparser.Execute); {
	case named: // what it names is diagnosed
	case ok && strings.EqualFold(show.Type, "warnings"), browse.ShowsMessages(s):
		own.Diagnose(session.Keeps)
	case strings.Contains(text, "@@") && messageCounts.MatchString(text):
		own.Diagnose(session.Counts)
	default:
		own.Diagnose(session.Clears)
	}
}
