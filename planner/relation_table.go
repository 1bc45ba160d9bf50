package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// maxLinkDepth bounds the chain of links from a table to its unit; longer ones are cycles.
const maxLinkDepth = 16

// scan is the relation of one table.
func (s *writer) scan(n *plan.ResolvedTable, t stored.Table) (*relation, error) {
	ref := t.StoreRef()
	policy := s.Catalog.Table(ref.String())
	if err := s.define(t, policy); err != nil {
		return nil, err
	}
	alias := s.alias()
	r := &relation{from: sqltext.StoreTable(ref.Schema, ref.Name) + " AS " + alias, reads: []store.TableRef{ref}}
	full := t.StoreColumns()
	byName := make(map[string]store.Column, len(full))
	for _, c := range full {
		byName[strings.ToLower(c.Name)] = c
	}
	schema := n.Schema(s.ctx)
	ids := tree.ColumnIDs(n, len(schema))
	if ids == nil {
		return nil, rule.Deny(rule.Node, refuse.Shape, "", "The columns of %s cannot be followed.", ref)
	}
	for i, c := range schema {
		sc, ok := byName[strings.ToLower(c.Name)]
		if !ok {
			return nil, rule.Deny(rule.Node, refuse.Shape, "", "The column %s of %s cannot be followed.", c.Name, ref)
		}
		name := strings.ToLower(c.Name)
		out := column{id: ids[i], name: c.Name, typ: c.Type,
			expr: s.stored(alias, sc)}
		out.expr.Nullable = sc.Nullable || !lower.Exact(sc.Type)
		out.required, out.scales = !sc.Nullable, policy.Scales[name]
		out.opaque = s.AsWritten && out.expr.Type.Kind == lower.Null
		b := base{id: ids[i], name: c.Name, typ: c.Type, expr: out.expr}
		d, ok := policy.Domains[name]
		if !ok && policy.State == catalog.Public {
			d, ok = catalog.Domain{Source: &catalog.Source{Table: ref.String(), Column: name}}, true
		}
		if ok {
			b.domains = []catalog.Domain{d}
			r.bases = append(r.bases, b)
			out.origin = expression.NewGetFieldWithTable(int(ids[i]), int(n.Id()), c.Type, ref.Schema, ref.Name, c.Name, true)
		}
		r.columns = append(r.columns, out)
	}
	if policy.State != catalog.Protected {
		return r, nil
	}
	r.entity = policy.Entity
	r.private = []protected{{ref.String(), policy}}
	r.bare = r.from
	if err := s.unit(r, t, policy, alias); err != nil {
		return nil, err
	}
	return r, nil
}

// unit finds the person of each row: the row itself, a column, or through links the parent's.
func (s *writer) unit(r *relation, t stored.Table, policy catalog.Table, alias string) error {
	self := t.StoreRef().String()
	for i := range r.columns {
		r.columns[i].tags = append(r.columns[i].tags, tag{tagSelf, self + "." + strings.ToLower(r.columns[i].name), 0})
	}
	if l := policy.Unit.Link; l != nil {
		for i := range r.columns {
			if strings.EqualFold(r.columns[i].name, l.Column) {
				r.columns[i].tags = append(r.columns[i].tags, tag{tagLink, l.Parent + "." + strings.ToLower(l.ParentColumn), 0})
			}
		}
	}
	column, own := alias, r.from
	defer func() {
		if text := strings.TrimPrefix(r.from, own); text != "" {
			r.links = []linkJoin{{own: own, text: text}}
		}
	}()
	for depth := 0; ; depth++ {
		switch {
		case policy.State != catalog.Protected || policy.Entity != r.entity:
			return rule.Deny(rule.PolicyEntity, refuse.Policy, "A DBA declares the parent protected with the same entity.",
				"The table that %s is linked to is not a protected table of entity %s.", self, r.entity)
		case policy.Unit.Row:
			r.units = []unit{{expr: lower.Expr{SQL: column + ".rowid", Type: lower.Type{Kind: lower.Int}}}}
			r.unique = depth == 0
			r.rowUnit = t.StoreRef().String()
			return nil
		case policy.Unit.Column != "":
			e, ok := readNamed(t, column, policy.Unit.Column)
			if !ok {
				return rule.Deny(rule.PolicyUnit, refuse.Policy, "A DBA declares the unit column again with dp_protect.",
					"The unit column %s of %s is missing or cannot be compared.", policy.Unit.Column, t.StoreRef())
			}
			r.units = []unit{{expr: e}}
			r.unique = depth == 0 && isPrimary(s.ctx, t, policy.Unit.Column)
			for i := range r.columns {
				if s.isUnitColumn(r, i, self, policy, depth) {
					r.columns[i].tags = append(r.columns[i].tags, tag{tagUnit, r.entity, 0})
				}
			}
			return nil
		case policy.Unit.Link == nil || depth >= maxLinkDepth:
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The links of %s do not lead to a unit.", self)
		}
		l := policy.Unit.Link
		parent, ok := s.Find(l.Parent)
		if !ok {
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The table %s that %s is linked to does not exist.", l.Parent, t.StoreRef())
		}
		next := s.alias()
		child, ok1 := readNamed(t, column, l.Column)
		key, ok2 := readNamed(parent, next, l.ParentColumn)
		if !ok1 || !ok2 || child.Type != key.Type {
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA gives both columns of the link the same type.",
				"The link from %s to %s has columns that cannot be compared.", t.StoreRef(), l.Parent)
		}
		r.from += " JOIN " + sqltext.StoreTable(parent.StoreRef().Schema, parent.StoreRef().Name) + " AS " + next + " ON " + child.SQL + " = " + key.SQL
		t, column, policy = parent, next, s.Catalog.Table(l.Parent)
		if err := s.define(t, policy); err != nil {
			return err
		}
		r.joined = true
		r.reads = append(r.reads, parent.StoreRef())
		r.private = append(r.private, protected{l.Parent, policy})
	}
}

// isUnitColumn reports whether column i holds the unit itself: it is the unit column, or the last
// link of the chain refers to it.
func (s *writer) isUnitColumn(r *relation, i int, self string, policy catalog.Table, depth int) bool {
	name := strings.ToLower(policy.Unit.Column)
	for _, t := range r.columns[i].tags {
		if depth == 0 && t.kind == tagSelf && t.key == self+"."+name {
			return true
		}
		if depth == 1 && t.kind == tagLink && t.key == policy.Name+"."+name {
			return true
		}
	}
	return false
}

// readNamed reads a column of a table by name; false when there is none or it has no order.
func readNamed(t stored.Table, alias, name string) (lower.Expr, bool) {
	for _, c := range t.StoreColumns() {
		if strings.EqualFold(c.Name, name) {
			e := lower.ReadColumn(alias+"."+sqltext.StoreName(c.Name), c.Type)
			switch e.Type.Kind {
			case lower.Null, lower.JSON, lower.Array, lower.Time:
				return e, false
			}
			return e, true
		}
	}
	return lower.Expr{}, false
}

// isPrimary reports whether the column alone is the enforced primary key.
func isPrimary(ctx *sql.Context, t stored.Table, name string) bool {
	pk, ok := t.(sql.PrimaryKeyTable)
	if !ok {
		return false
	}
	s := pk.PrimaryKeySchema(ctx)
	return len(s.PkOrdinals) == 1 && strings.EqualFold(s.Schema[s.PkOrdinals[0]].Name, name)
}
