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
		if p.pure(ctx, c, name, rel.MaxLinkDepth) {
			return name
		}
	}
	return ""
}

// pure reports whether a table, or one that its links lead to, is on the pure account.
func (p *Planner) pure(ctx *sql.Context, c catalog.Reader, name string, depth int) bool {
	t := c.Table(name)
	if p.config.Pure(ctx, t.Account, false) || p.config.Pure(ctx, t.Entity, true) {
		return true
	}
	for _, o := range t.Owners() {
		if p.config.Pure(ctx, o.Entity, true) || o.Unit.Link != nil && depth > 0 && p.pure(ctx, c, o.Unit.Link.Parent, depth-1) {
			return true
		}
	}
	return false
}
