package rel

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

// MaxLinkDepth bounds the chain of links from a table to its unit; longer ones are cycles.
const MaxLinkDepth = 16

// Scan is the relation of one table.
func (s *Writer) Scan(n *plan.ResolvedTable, t stored.Table) (*Relation, error) {
	ref := t.StoreRef()
	policy := s.Catalog.Table(ref.String())
	if err := s.define(t, policy); err != nil {
		return nil, err
	}
	alias := s.Alias()
	r := &Relation{from: sqltext.StoreTable(ref.Schema, ref.Name) + " AS " + alias, Reads: []store.TableRef{ref}}
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
		out := Column{ID: ids[i], Name: c.Name, Type: c.Type, Expr: s.stored(alias, sc), table: alias, primary: isPrimary(s.ctx, t, c.Name)}
		out.Expr.Nullable = sc.Nullable || !lower.Exact(sc.Type)
		out.Required, out.Scales = !sc.Nullable, policy.Scales[name]
		out.Opaque = s.AsWritten && out.Expr.Type.Kind == lower.Null
		b := Base{ID: ids[i], Name: c.Name, Type: c.Type, Expr: out.Expr, Required: !sc.Nullable}
		if d, ok := policy.Domains[name]; ok {
			b.Domains = []catalog.Domain{d}
		} else if policy.State == catalog.Public {
			b.Domains = []catalog.Domain{{Source: &catalog.Source{Table: ref.String(), Column: name}}}
			b.From, b.Ref = r.from, ref
		}
		r.Bases = append(r.Bases, b)
		out.origin = expression.NewGetFieldWithTable(int(ids[i]), int(n.Id()), c.Type, ref.Schema, ref.Name, c.Name, true)
		r.Columns = append(r.Columns, out)
	}
	if policy.State != catalog.Protected {
		return r, nil
	}
	r.Entity = policy.Entity
	r.Private = []Protected{{ref.String(), policy}}
	r.bare = r.from
	if err := s.unit(r, t, policy, alias); err != nil {
		return nil, err
	}
	if r.Unique {
		r.Columns = fixAll(r.Columns)
	}
	return r, nil
}

// unit finds the person of each row: the row itself, a column, or through links the parent's.
func (s *Writer) unit(r *Relation, t stored.Table, policy catalog.Table, alias string) error {
	self := t.StoreRef().String()
	for i := range r.Columns {
		r.Columns[i].tags = append(r.Columns[i].tags, tag{tagSelf, self + "." + strings.ToLower(r.Columns[i].Name), 0})
	}
	if l := policy.Unit.Link; l != nil {
		for i := range r.Columns {
			if strings.EqualFold(r.Columns[i].Name, l.Column) {
				r.Columns[i].tags = append(r.Columns[i].tags, tag{tagLink, l.Parent + "." + strings.ToLower(l.ParentColumn), 0})
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
		case policy.State != catalog.Protected || policy.Entity != r.Entity:
			return rule.Deny(rule.PolicyEntity, refuse.Policy, "A DBA declares the parent protected with the same entity.",
				"The table that %s is linked to is not a protected table of entity %s.", self, r.Entity)
		case policy.Unit.Row:
			r.units = []unit{{expr: lower.Expr{SQL: column + ".rowid", Type: lower.Type{Kind: lower.Int}}, entity: r.Entity}}
			r.Unique = depth == 0
			r.rowUnit = t.StoreRef().String()
			return nil
		case policy.Unit.Column != "":
			e, ok := readNamed(t, column, policy.Unit.Column)
			if !ok {
				return rule.Deny(rule.PolicyUnit, refuse.Policy, "A DBA declares the unit column again with dp_protect.",
					"The unit column %s of %s is missing or cannot be compared.", policy.Unit.Column, t.StoreRef())
			}
			r.units = []unit{{expr: e, entity: r.Entity}}
			r.Unique = depth == 0 && isPrimary(s.ctx, t, policy.Unit.Column)
			for i := range r.Columns {
				if s.isUnitColumn(r, i, self, policy, depth) {
					r.Columns[i].tags = append(r.Columns[i].tags, tag{tagUnit, r.Entity, 0})
				}
			}
			return nil
		case policy.Unit.Link == nil || depth >= MaxLinkDepth:
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The links of %s do not lead to a unit.", self)
		}
		l := policy.Unit.Link
		parent, ok := s.Find(l.Parent)
		if !ok {
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The table %s that %s is linked to does not exist.", l.Parent, t.StoreRef())
		}
		next := s.Alias()
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
		r.Reads = append(r.Reads, parent.StoreRef())
		r.Private = append(r.Private, Protected{l.Parent, policy})
	}
}

// isUnitColumn reports whether column i holds the unit itself: it is the unit column, or the last
// link of the chain refers to it.
func (s *Writer) isUnitColumn(r *Relation, i int, self string, policy catalog.Table, depth int) bool {
	name := strings.ToLower(policy.Unit.Column)
	for _, t := range r.Columns[i].tags {
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
