package planner

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// DefinitionOf returns the definition of a table under a policy.
func DefinitionOf(ctx *sql.Context, t Table, p catalog.Table) plan.Definition {
	text := fmt.Sprintf("%q %+v %d %q %q %t %q %d %t", t.StoreRef().String(), t.StoreColumns(), p.State, p.Account, p.Entity, p.Unit.Row, p.Unit.Column, p.Relation, p.Sized)
	if p.Unit.Link != nil {
		text += fmt.Sprintf(" %+v", *p.Unit.Link)
	}
	if k, ok := t.(sql.PrimaryKeyTable); ok {
		text += fmt.Sprint(" ", k.PrimaryKeySchema(ctx).PkOrdinals)
	}
	return plan.Definition{Ref: t.StoreRef(), Text: text}
}

// define records the definition that the statement has planned a table with.
func (s *statement) define(t Table, p catalog.Table) error {
	d := DefinitionOf(s.ctx, t, p)
	if s.defined == nil {
		s.defined = map[store.TableRef]plan.Definition{}
	}
	if old, ok := s.defined[d.Ref]; ok && old != d {
		return plan.Changed(d.Ref)
	}
	s.defined[d.Ref] = d
	return nil
}
