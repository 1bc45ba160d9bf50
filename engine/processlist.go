package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// ownProcesses is the process list as one account may see it: its own connections, and no progress
// of scans, which would count rows. Everything else goes to the server's list.
type ownProcesses struct {
	sql.ProcessList
	user sql.Client // the account, its host as defined
	all  bool       // a DBA sees everybody's
}

// Processes implements sql.ProcessList.
func (l ownProcesses) Processes() []sql.Process {
	var shown []sql.Process
	for _, p := range l.ProcessList.Processes() {
		if !l.all && (p.User != l.user.User || p.Host != l.user.Address) {
			continue
		}
		p.Progress = nil
		shown = append(shown, p)
	}
	return shown
}

// EndQuery implements sql.ProcessList. It does nothing: nodes of a plan call it when they are done,
// which cancels the statement's context, and an error on the way out could no longer be told from
// KILL. The handler ends the query on the server's list itself.
func (ownProcesses) EndQuery(*sql.Context) {}

// Kill implements sql.ProcessList: connections that are not shown cannot be ended.
func (l ownProcesses) Kill(connection uint32) {
	for _, p := range l.Processes() {
		if p.Connection == connection {
			l.ProcessList.Kill(connection)
			return
		}
	}
}
