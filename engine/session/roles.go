package session

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
)

// The roles that every server has. They are MySQL roles, granted and revoked as such.
const (
	DBA      = "dba"      // everything
	Analyst  = "analyst"  // asks; carries what a DBA grants to it
	Auditor  = "auditor"  // reads the ledger, the budgets and the grants of all, and no data
	Importer = "importer" // writes rows, and reads none

	Collector = "collector" // administers collections
	Shuffler  = "shuffler"  // loads the batches of shuffle collections, and nothing else
)

// Roles returns the names of the roles that are granted to the account behind ctx, without hosts,
// sorted. All granted roles are active. There are none where no client is.
func Roles(ctx *sql.Context) []string {
	s, ok := From(ctx)
	if !ok || s.opts.Roles == nil {
		return nil
	}
	return s.opts.Roles(ctx)
}

// IsDBA reports whether the account behind ctx is a DBA: it has SUPER, or the role dba.
func IsDBA(ctx *sql.Context) bool {
	s, ok := From(ctx)
	return ok && s.isDBA(ctx)
}

func (s *Session) isDBA(ctx *sql.Context) bool {
	return s.opts.IsDBA(ctx) || s.opts.Roles != nil && slices.Contains(s.opts.Roles(ctx), DBA)
}

// IsAuditor reports whether the account behind ctx has the role auditor.
func IsAuditor(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Auditor) }

// IsImporter reports whether the account behind ctx has the role importer.
func IsImporter(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Importer) }

// IsCollector reports whether the account behind ctx may administer collections: it has the role
// collector, or is a DBA.
func IsCollector(ctx *sql.Context) bool { return slices.Contains(Roles(ctx), Collector) || IsDBA(ctx) }

// IsShuffler reports whether the account behind ctx may load batches: it has the role shuffler, or
// is a collector.
func IsShuffler(ctx *sql.Context) bool {
	return slices.Contains(Roles(ctx), Shuffler) || IsCollector(ctx)
}
