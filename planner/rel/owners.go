package rel

import (
	"fmt"
	"slices"
	"strings"

	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/rule"
)

// A row of an inner join of protected tables off their units belongs to the persons of both rows:
// it is there because of each of them, and goes with each of them.
//
//	ratings a JOIN ratings b ON a.movie = b.movie        two persons of one entity
//	customer c JOIN supplier s ON c.nation = s.nation    persons of two entities
//
// The rows of two persons u and v are a function of the rows of u and v alone: a row of an inner
// join is made of one row of each side, a condition reads one row of the join, and what a side is
// made of belongs to one person wherever other rows decide about it (a derived table by person, an
// outer join on the unit). So a person who comes or goes changes the rows that they own, and no
// others, which is all that package flow takes for granted. Where an owner is NULL the row is
// nobody's and is left out.

// Owner is a person whom each row of a relation belongs to.
type Owner struct {
	Expr   lower.Expr
	Entity string
	named  lower.Type // as that of a unit
	// Present says that no row is without one: a condition to that end would have the store reckon
	// with fewer rows of the table than there are, and join it in the wrong order.
	Present bool
}

// Owners are the persons whom each row belongs to, in the order of the tables; none of public rows.
func (r *Relation) Owners() []Owner {
	var out []Owner
	for i, u := range r.units {
		if r.root(i) == i {
			out = append(out, Owner{u.expr, u.entity, u.named, u.present})
		}
	}
	return out
}

// Shared reports whether each row belongs to several persons.
func (r *Relation) Shared() bool { return r.IsPrivate() && r.pending() }

// CheckOwners refuses what cannot be counted of rows that belong to several persons.
func (s *Writer) CheckOwners(r *Relation) error {
	owners := r.Owners()
	switch {
	case len(owners) > 2:
		return rule.Deny(rule.Owners, refuse.Shape, "Add equalities of the unit columns to the join, for example ON a.unit = b.unit, until two persons or fewer are left.",
			"Each row of a join of %s would belong to %d persons, and what one of them can change is not bounded for more than two.", r.PrivateNames(), len(owners))
	case owners[0].Entity != owners[1].Entity:
		if !s.Catalog.Disjoint(owners[0].Entity, owners[1].Entity) {
			return rule.Deny(rule.JoinEntity, refuse.Shape,
				fmt.Sprintf("If nobody is both, a DBA says so: CALL dp_set_disjoint('%s', '%s'). Else join protected tables of one entity.", owners[0].Entity, owners[1].Entity),
				"The protected tables %s belong to the entities %s and %s, and somebody who is a person of both would lose more than is charged.", r.PrivateNames(), owners[0].Entity, owners[1].Entity)
		}
	case !sameNames(owners[0].Expr.Type, owners[1].Expr.Type), !sameNames(owners[0].named, owners[1].named):
		return rule.Deny(rule.Owners, refuse.Shape, "A DBA gives the unit columns of the entity one type.",
			"The protected tables %s name the persons of the entity %s in columns of different types, so that one person cannot be told from two.", r.PrivateNames(), r.Entity)
	}
	return nil
}

// sameNames reports whether one person has one name in columns of both types. One who had two would
// be taken for two, and might change twice as much.
func sameNames(a, b lower.Type) bool {
	if a.Kind == lower.Int && b.Kind == lower.Int {
		return true
	}
	return a == b
}

// PrivateNames lists the protected tables that a relation touches, each once, for a message.
func (r *Relation) PrivateNames() string {
	var names []string
	for _, p := range r.Private {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}
