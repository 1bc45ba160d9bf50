package planner

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/planner/rel"
)

// pureTable returns the first of the tables named, and of those that they are linked to, that is on
// the pure account, "" where there is none: a table is charged with its parents.
func (p *Planner) pureTable(ctx *sql.Context, c catalog.Reader, names []string) string {
	if p.config.Pure == nil {
		return ""
	}
	for _, name := range names {
		for range rel.MaxLinkDepth {
			t := c.Table(name)
			if p.config.Pure(ctx, t.Account, false) || p.config.Pure(ctx, t.Entity, true) {
				return name
			}
			if t.Unit.Link == nil {
				break
			}
			name = t.Unit.Link.Parent
		}
	}
	return ""
}
