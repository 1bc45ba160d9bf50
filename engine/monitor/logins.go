package monitor

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/engine/auth"
)

// Logins tells of attempts to log in to the database.
type Logins struct {
	Monitor *Monitor   // nil without HTTP
	Audit   *audit.Log // nil without an audit log
	Log     zerolog.Logger
}

// Tried tells the metrics of an attempt to log in, and the log and the audit log of one that
// failed. Of those that were not looked at a record is made now and then only, so that they do not
// fill the disk.
func (l Logins) Tried(a auth.Attempt) {
	if l.Monitor != nil {
		l.Monitor.Metrics.Attempt(string(a.Result), a.Waited > 0)
	}
	if a.Result == auth.Accepted || a.Result == auth.Limited && a.Unlooked == 0 {
		return
	}
	line, note := l.Log.Warn().Str("user", a.User).Str("from", a.From.String()), ""
	switch {
	case a.Result == auth.Limited:
		line = line.Int("attempts", a.Unlooked)
		note = fmt.Sprintf("too many wrong passwords: %d attempts from this address were refused without a look", a.Unlooked)
	case a.Waited > 0:
		note = fmt.Sprintf("after a wait of %v", a.Waited.Round(time.Millisecond))
	}
	line.Str("note", note).Msg("login refused")
	l.Audit.Write(audit.Record{Kind: audit.LoginRefused, Principal: a.User, From: a.From.String(), Note: note})
}
