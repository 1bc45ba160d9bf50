package planner

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Definition is what a plan took from the definition and the policy of a table that it reads: its
// columns, its primary key, its unit and its neighbour relation. An execution compares it with the one of its snapshot, so that
// a query that was planned before a change of either never scans after it.
type Definition struct {
	Ref  store.TableRef
	Text string // equal texts, equal definitions
}

// DefinitionOf returns the definition of a table under a policy.
func DefinitionOf(ctx *sql.Context, t Table, p catalog.Table) Definition {
	text := fmt.Sprintf("%q %+v %d %q %q %t %q %d %t", t.StoreRef().String(), t.StoreColumns(), p.State, p.Account, p.Entity, p.Unit.Row, p.Unit.Column, p.Relation, p.Sized)
	if p.Unit.Link != nil {
		text += fmt.Sprintf(" %+v", *p.Unit.Link)
	}
	if k, ok := t.(sql.PrimaryKeyTable); ok {
		text += fmt.Sprint(" ", k.PrimaryKeySchema(ctx).PkOrdinals)
	}
	return Definition{t.StoreRef(), text}
}

// define records the definition that the statement has planned a table with.
func (s *statement) define(t Table, p catalog.Table) error {
	d := DefinitionOf(s.ctx, t, p)
	if s.defined == nil {
		s.defined = map[store.TableRef]Definition{}
	}
	if old, ok := s.defined[d.Ref]; ok && old != d {
		return Changed(d.Ref)
	}
	s.defined[d.Ref] = d
	return nil
}

// Changed refuses a statement whose tables were defined anew while it was planned or started.
func Changed(t store.TableRef) error {
	return refuse.New(refuse.Context, "The definition or the policy of %s changed while the query was starting.", t).With("Send it again.")
}
