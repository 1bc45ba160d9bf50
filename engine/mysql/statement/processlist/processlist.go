// Package processlist is the process list as one account may see it.
package processlist

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Own is the process list as one account may see it: its own connections, and no progress of scans,
// which would count rows; the runs of simulations and the steps of private queries are. Everything
// else goes to the server's list.
type Own struct {
	sql.ProcessList
	User sql.Client // the account, its host as defined
	All  bool       // a DBA sees everybody's
}

// Processes implements sql.ProcessList.
func (l Own) Processes() []sql.Process {
	var shown []sql.Process
	for _, p := range l.ProcessList.Processes() {
		if !l.All && (p.User != l.User.User || p.Host != l.User.Address) {
			continue
		}
		p.Progress = shownOf(p.Progress)
		shown = append(shown, p)
	}
	return shown
}

// EndQuery implements sql.ProcessList. It does nothing: nodes of a plan call it when they are done,
// which cancels the statement's context, and an error on the way out could no longer be told from
// KILL. The handler ends the query on the server's list itself.
func (Own) EndQuery(*sql.Context) {}

// Kill implements sql.ProcessList: connections that are not shown cannot be ended.
func (l Own) Kill(connection uint32) {
	for _, p := range l.Processes() {
		if p.Connection == connection {
			l.ProcessList.Kill(connection)
			return
		}
	}
}

// simulatedRuns begins the name under which the runs of a simulation are counted in the process
// list.
const simulatedRuns = "simulated runs of "

// privateStep begins the names of the steps of private queries there.
const privateStep = "private query, "

// shownOf leaves of a statement's progress what counts the runs of a simulation, and the last step
// of a private query.
func shownOf(all map[string]sql.TableProgress) map[string]sql.TableProgress {
	var out map[string]sql.TableProgress
	for name, p := range all {
		if strings.HasPrefix(name, simulatedRuns) || strings.HasPrefix(name, privateStep) && (len(out) == 0 || p.Done > last(out)) {
			out = map[string]sql.TableProgress{name: p}
		}
	}
	return out
}

// last is the step of the one entry.
func last(of map[string]sql.TableProgress) int64 {
	for _, p := range of {
		return p.Done
	}
	return 0
}

// ShowStep shows the step of a private query that begins; those before it stay in the list until
// the statement ends.
func ShowStep(ctx *sql.Context, name string, step, steps int) {
	list, pid, name := ctx.ProcessList, ctx.Pid(), privateStep+name+", step"
	list.RemoveTableProgress(pid, name)
	list.AddTableProgress(pid, name, int64(steps))
	list.UpdateTableProgress(pid, name, int64(step))
}

// ShowRuns shows the runs of a simulation in the process list as they end; end takes them off it.
func ShowRuns(ctx *sql.Context, collection string, runs int) (done, end func()) {
	list, pid, name := ctx.ProcessList, ctx.Pid(), simulatedRuns+collection
	list.AddTableProgress(pid, name, int64(runs))
	return func() { list.UpdateTableProgress(pid, name, 1) }, func() { list.RemoveTableProgress(pid, name) }
}
