// Package spent keeps for a session what its last private statement was charged, for dp.last_cost.
// Neither an entry of the ledger nor a stored answer names a connection, so that nobody else can
// tell which of an account's charges a statement has made.
package spent

import (
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Entry is a charge that a statement made, or a stored answer that it was given.
type Entry struct {
	// Charge is the ledger's entry of the charge that was made, or that has paid for the stored
	// answer; 0: not known any more.
	Charge uint64
	// Of a stored answer, the tables that it is of, and the statement without literals.
	Replay            bool
	Accounts          []string
	Statement, Digest string
}

// Last is the last private statement of a session: the how many-th it was, from 1 on, and what it
// was charged.
type Last struct {
	Number  int64
	Entries []Entry
	began   time.Time
}

// Keeper is a session that keeps it.
type Keeper interface{ Spent() *Last }

// Begin forgets what the statement before was charged. Whatever makes charges calls it first; again
// within one statement, as after a pilot, it forgets nothing.
func Begin(ctx *sql.Context) {
	k, ok := ctx.Session.(Keeper)
	if !ok {
		return
	}
	if l := k.Spent(); l.Number == 0 || !l.began.Equal(ctx.QueryTime()) {
		*l = Last{Number: l.Number + 1, began: ctx.QueryTime()}
	}
}

// Charged adds a charge, as soon as it is durable: it stands whatever becomes of the statement.
func Charged(ctx *sql.Context, entry uint64) { add(ctx, Entry{Charge: entry}) }

// Replayed adds a stored answer.
func Replayed(ctx *sql.Context, e Entry) {
	e.Replay = true
	add(ctx, e)
}

func add(ctx *sql.Context, e Entry) {
	k, ok := ctx.Session.(Keeper)
	if !ok {
		return
	}
	l := k.Spent()
	l.Entries = append(slices.Clip(l.Entries), e)
}
