package remark

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// Keeper is a session that keeps the remarks on its last private statement, for dp.last_warnings.
type Keeper interface {
	KeepRemarks(list []Remark)
	Remarks() []Remark
}

// Begin forgets the remarks on the session's last private statement. Whatever runs one calls it
// first.
func Begin(ctx *sql.Context) {
	if k, ok := ctx.Session.(Keeper); ok {
		k.KeepRemarks(nil)
	}
}

// Add tells the client remarks on the statement that runs: as MySQL's warnings and in
// dp.last_warnings.
func Add(ctx *sql.Context, list ...Remark) {
	if k, ok := ctx.Session.(Keeper); ok {
		k.KeepRemarks(append(k.Remarks(), list...))
	}
	// Of MySQL's warnings the latest comes first.
	for i := len(list) - 1; i >= 0; i-- {
		r := list[i]
		ctx.Session.Warn(&sql.Warning{Level: string(r.Level()), Code: refuse.MySQLErrno, Message: r.Message()})
	}
}
