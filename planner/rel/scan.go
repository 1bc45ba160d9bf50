package rel

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/collation"
	"scrim/internal/lists"
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
	by := make([]sql.CollationID, len(schema))
	ids := tree.ColumnIDs(n, len(schema))
	if ids == nil {
		return nil, rule.Deny(rule.Node, refuse.Shape, "", "The columns of %s cannot be followed.", ref)
	}
	for i, c := range schema {
		sc, ok := byName[strings.ToLower(c.Name)]
		if !ok {
			return nil, rule.Deny(rule.Node, refuse.Shape, "", "The column %s of %s cannot be followed.", c.Name, ref)
		}
		by[i] = t.StoreCollation(sc)
		name := strings.ToLower(c.Name)
		out := Column{ID: ids[i], Name: c.Name, Type: c.Type, Expr: lower.Typed(s.stored(alias, sc), c.Type), table: alias, primary: isPrimary(s.ctx, t, c.Name), as: n.Name()}
		out.Expr.Nullable = sc.Nullable || !lower.Exact(sc.Type)
		out.Required, out.Scales = !sc.Nullable, policy.Scales[name]
		out.Opaque = out.Expr.Type.Kind == lower.Null
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
	for i := range r.Columns {
		for unit := range policy.Owners() {
			r.Columns[i].tags = append(r.Columns[i].tags, tag{tagSelf, ref.String() + "." + strings.ToLower(r.Columns[i].Name), unit, by[i]})
		}
	}
	own := r.from
	if err := lists.Each(policy.Owners(), func(o catalog.Owner) error { return s.unit(r, t, o, alias, own, by) }); err != nil {
		return nil, err
	}
	if r.Unique {
		r.Columns = fixAll(r.Columns)
	}
	return r, nil
}

// unit finds a person of each row of a table, read as own: the row itself, a column, or through
// links the parent's. by are the collations of the columns of r.
func (s *Writer) unit(r *Relation, t stored.Table, o catalog.Owner, alias, own string, by []sql.CollationID) error {
	self, at := t.StoreRef().String(), len(r.units)
	if l := o.Unit.Link; l != nil {
		for i := range r.Columns {
			if strings.EqualFold(r.Columns[i].Name, l.Column) {
				r.Columns[i].tags = append(r.Columns[i].tags, tag{tagLink, l.Parent + "." + strings.ToLower(l.ParentColumn), at, by[i]})
			}
		}
	}
	column, before := alias, r.from
	defer func() {
		if text := strings.TrimPrefix(r.from, before); text != "" {
			r.links = append(r.links, linkJoin{own: own, text: text, unit: at})
		}
	}()
	for depth, of := 0, o.Unit; ; depth++ {
		switch {
		case of.Row:
			r.units = append(r.units, unit{expr: lower.Expr{SQL: column + ".rowid", Type: lower.Type{Kind: lower.Int}}, merged: at, entity: o.Entity, by: collation.Bytes, present: true})
			r.Unique = depth == 0
			r.rowUnit = t.StoreRef().String()
			return nil
		case of.Period != catalog.Period{}:
			u, err := s.pairOf(t, column, of)
			if err != nil {
				return err
			}
			u.merged, u.entity = at, o.Entity
			r.units = append(r.units, u)
			if depth == 0 {
				r.tagPeriods(self, of, o.Entity, at)
			}
			return nil
		case of.Column != "":
			e, texts, ok := readKey(t, column, of.Column)
			if !ok || textsBy(texts) != of.Collation {
				return rule.Deny(rule.PolicyUnit, refuse.Policy, "A DBA declares the unit column again with dp_protect.",
					"The unit column %s of %s is missing or cannot be compared.", of.Column, t.StoreRef())
			}
			r.units = append(r.units, unit{expr: e, merged: at, entity: o.Entity, by: texts, present: isRequired(t, of.Column)})
			r.Unique = depth == 0 && at == 0 && isPrimary(s.ctx, t, of.Column)
			for i := range r.Columns {
				if isUnitColumn(r.Columns[i], at, self, t.StoreRef().String(), of.Column, depth) {
					r.Columns[i].tags = append(r.Columns[i].tags, tag{tagUnit, o.Entity, at, texts})
				}
			}
			return nil
		case of.Link == nil || depth >= MaxLinkDepth:
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The links of %s do not lead to a unit.", self)
		}
		l := of.Link
		parent, ok := s.Find(l.Parent)
		if !ok {
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA declares the links again with dp_link.",
				"The table %s that %s is linked to does not exist.", l.Parent, t.StoreRef())
		}
		next := s.Alias()
		child, childBy, ok1 := readKey(t, column, l.Column)
		key, keyBy, ok2 := readKey(parent, next, l.ParentColumn)
		if !ok1 || !ok2 || child.Type != key.Type || childBy != keyBy {
			return rule.Deny(rule.PolicyLink, refuse.Policy, "A DBA gives both columns of the link the same type and collation.",
				"The link from %s to %s has columns that cannot be compared.", t.StoreRef(), l.Parent)
		}
		r.from += " JOIN " + sqltext.StoreTable(parent.StoreRef().Schema, parent.StoreRef().Name) + " AS " + next + " ON " + child.SQL + " = " + key.SQL
		policy := s.Catalog.Table(l.Parent)
		if err := s.define(parent, policy); err != nil {
			return err
		}
		if policy.State != catalog.Protected || policy.Entity != o.Entity || policy.Also != nil {
			return rule.Deny(rule.PolicyEntity, refuse.Policy, "A DBA declares the parent protected with the same entity.",
				"The table that %s is linked to is not a protected table of entity %s.", self, o.Entity)
		}
		t, column, of = parent, next, policy.Unit
		r.joined = true
		r.Reads = append(r.Reads, parent.StoreRef())
		r.Private = append(r.Private, Protected{l.Parent, policy})
	}
}

// isUnitColumn reports whether a column holds unit at itself: it is the unit column, or the last
// link of the chain refers to it. unit is the unit column of the table at the end of the chain.
func isUnitColumn(c Column, at int, self, last, unit string, depth int) bool {
	name := strings.ToLower(unit)
	for _, t := range c.tags {
		if t.unit != at {
			continue
		}
		if depth == 0 && t.kind == tagSelf && t.key == self+"."+name {
			return true
		}
		if depth == 1 && t.kind == tagLink && t.key == last+"."+name {
			return true
		}
	}
	return false
}

// readKey reads a column that names a person, or leads to one: of a text the key by its column's
// collation, so that texts which that calls equal are one person. A neighbour then differs in all
// rows of all these spellings, and what stands for the person in scans, joins and links, as what is
// counted, is the key and no spelling.
func readKey(t stored.Table, alias, name string) (lower.Expr, sql.CollationID, bool) {
	by := collation.Bytes
	for _, c := range t.StoreColumns() {
		if strings.EqualFold(c.Name, name) {
			by = t.StoreCollation(c)
		}
	}
	e, ok := readNamed(t, alias, name)
	return lower.By(e, by, collation.ForKey), by, ok
}

// textsBy is a collation as a policy has it.
func textsBy(c sql.CollationID) string {
	if collation.ByBytes(c) {
		return ""
	}
	return c.Name()
}

// readNamed reads a column of a table by name; false when there is none or it has no order.
func readNamed(t stored.Table, alias, name string) (lower.Expr, bool) {
	for _, c := range t.StoreColumns() {
		if strings.EqualFold(c.Name, name) {
			e := lower.ReadColumn(alias+"."+sqltext.StoreName(c.Name), c.Type)
			switch e.Type.Kind {
			case lower.Null, lower.JSON, lower.Array, lower.Time, lower.Bytes:
				return e, false
			}
			return e, true
		}
	}
	return lower.Expr{}, false
}

// isRequired reports whether the store keeps a column from being NULL, as it is read.
func isRequired(t stored.Table, name string) bool {
	return slices.ContainsFunc(t.StoreColumns(), func(c store.Column) bool {
		return strings.EqualFold(c.Name, name) && !c.Nullable && lower.Exact(c.Type)
	})
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

// HasProtected reports whether a subtree scans a protected table, in subqueries too.
func (s *Writer) HasProtected(n sql.Node) bool {
	found := false
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			if t, ok := stored.Under(rt.Table); ok && s.Catalog.Table(t.StoreRef().String()).State == catalog.Protected {
				found = true
			}
		}
	}, nil)
	return found
}

// Public turns a subtree over public store tables into a relation, to be joined with private rows.
func (s *Writer) Public(n sql.Node) (*Relation, error) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		if t, ok := stored.Under(n.Table); ok {
			return s.Scan(n, t)
		}
	case *plan.TableAlias:
		return s.Public(n.Child)
	case *plan.SubqueryAlias:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		ids := tree.ColumnIDs(n, len(rel.Columns))
		if ids == nil || n.IsLateral || !n.Correlated.Empty() {
			break
		}
		return rel.WithIDs(ids), nil
	case *plan.Filter:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.Filter(rel, n.Expression)
	case *plan.Project:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.Project(rel, n.Projections)
	case *plan.JoinNode:
		l, err := s.Public(n.Left())
		if err != nil {
			return nil, err
		}
		r, err := s.Public(n.Right())
		if err != nil {
			return nil, err
		}
		return s.Join(l, r, n)
	}
	return nil, rule.Deny(rule.JoinForeign, refuse.Shape, "Store the public side in a table first.",
		"The public side of the join (%T) is more than stored tables with filters and projections.", n)
}
