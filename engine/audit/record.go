package audit

import (
	"time"

	"scrim/engine/watch"
)

// Kind is what a record is of.
type Kind string

// The kinds.
const (
	Statement    Kind = "statement"
	Login        Kind = "login"
	LoginRefused Kind = "login refused"
	Logout       Kind = "logout"
	Start        Kind = "start"  // of the server; Note says which
	Ledger       Kind = "ledger" // is open, and is as far as it is known to have been
	Stop         Kind = "stop"   // of the server, in good order
	Reload       Kind = "reload" // of the configuration; Note lists what changed
	Backup       Kind = "backup" // Note says where to
	Lost         Kind = "lost"   // Missing records are not in the log
	// one that is older than it was known to be; Note says why
	Accepted Kind = "ledger accepted"
	Damaged  Kind = "ledger damaged"  // found while the server runs; Note says where
	Archived Kind = "ledger archived" // its older records are in an archive; Note says which
	// the data directory is, or may be, in use in a second place; Note says how that is known
	Elsewhere Kind = "elsewhere"
	// what a schedule had the server do by itself; Note says why it was not done, if it was not
	Scheduled Kind = "scheduled"
)

// Record is one line.
type Record struct {
	Time       time.Time `json:"time"`
	Kind       Kind      `json:"kind"`
	ID         string    `json:"id,omitempty"`
	Connection uint32    `json:"connection,omitempty"`
	Principal  string    `json:"principal,omitempty"`
	From       string    `json:"from,omitempty"`
	Database   string    `json:"database,omitempty"`
	Statement  string    `json:"statement,omitempty"`
	Digest     string    `json:"digest,omitempty"`
	Outcome    string    `json:"outcome,omitempty"`
	Errno      int       `json:"errno,omitempty"`
	SQLState   string    `json:"sqlstate,omitempty"`
	Cause      string    `json:"cause,omitempty"`
	Private    bool      `json:"private,omitempty"`
	Replayed   int       `json:"replayed,omitempty"`
	Charged    int       `json:"charged,omitempty"`
	Tables     []string  `json:"tables,omitempty"`
	Millis     float64   `json:"ms,omitempty"`
	Note       string    `json:"note,omitempty"`
	Missing    uint64    `json:"missing,omitempty"`
	// Ledger is where the ledger ended when the record was written, where that has changed since
	// the record before.
	Ledger string `json:"ledger,omitempty"`
}

// Of is the record of a statement.
func Of(e watch.Event) Record {
	return Record{
		Time: e.At.UTC(), Kind: Statement, ID: e.ID, Connection: e.Client, Principal: e.Principal, Database: e.Database,
		Statement: e.Statement, Digest: e.Digest, Outcome: string(e.Outcome), Errno: e.Errno, SQLState: e.SQLState, Cause: e.Cause,
		Private: e.Private, Replayed: e.Replayed, Charged: e.Charged, Tables: e.Tables,
		Millis: float64(e.Duration.Microseconds()) / 1000,
	}
}
