package plan

import (
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Definition is what a plan took from the definition and the policy of a table that it reads: its
// columns, its primary key, its unit and its neighbour relation. An execution compares it with the
// one of its snapshot, so that a query that was planned before a change of either never scans after
// it.
type Definition struct {
	Ref  store.TableRef
	Text string // equal texts, equal definitions
	// Source is the kind of source that the table is read from, and what it promises; "" for the
	// store's own.
	Source string
}

// Changed refuses a statement whose tables were defined anew while it was planned or started.
func Changed(t store.TableRef) error {
	return refuse.New(refuse.Context, "The definition or the policy of %s changed while the query was starting.", t).With("Send it again.")
}
