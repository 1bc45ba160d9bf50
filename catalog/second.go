package catalog

import (
	"slices"
	"strings"

	"scrim/internal/refuse"
)

// protectAlso gives the rows of a protected table a second owner, of another entity. It takes
// nothing from the first: statements on the table are charged to both, and each person of either
// bounds what the table's answers may lose. A row without the second person is left out of answers.
func (s *Snapshot) protectAlso(t Table, o Owner) (bool, error) {
	switch {
	case t.Also != nil && t.Also.Entity == o.Entity && t.Also.Unit.equal(o.Unit):
		return false, nil
	case t.Also != nil:
		return false, refuse.New(refuse.Policy, "The table %s already belongs to two persons, of the entities %s and %s.", t.Name, t.Entity, t.Also.Entity).
			With("To change that, CALL dp_unprotect('%s') first; its budget and what is spent stay.", t.Name)
	case s.periods[t.Entity] != "" || s.periods[o.Entity] != "" || o.Unit.Period != Period{}:
		return false, refuse.New(refuse.Policy, "The table %s would belong to two persons of which one counts by period.", t.Name).
			With("Protect it for one person by period, or for two without.")
	case o.Unit.Row || t.Unit.Row:
		return false, refuse.New(refuse.Policy, "The table %s would belong to two persons of which one is the row itself.", t.Name).
			With("Name both persons by columns or links.")
	case !s.Disjoint(t.Entity, o.Entity):
		return false, notDisjoint(t.Entity, o.Entity)
	}
	if ch := s.Children(t.Name); len(ch) > 0 {
		return false, refuse.New(refuse.Policy, "The table %s finds its one person through %s, whose rows would belong to two.", ch[0].Name, t.Name).
			With("Link %s to tables of one entity each, one link for each person.", ch[0].Name)
	}
	t.Also, t.Sized = &o, false
	s.put(t)
	return true, nil
}

// Disjoint implements Reader.
func (s *Snapshot) Disjoint(entity, other string) bool { return s.disjoint[pairOf(entity, other)] }

// SetDisjoint declares that nobody is a person of both entities. What a release over rows of both
// loses is then lost by one person of either; somebody who is both would lose up to four times it.
func (c *Catalog) SetDisjoint(entity, other string) error {
	return c.change(func(s *Snapshot) (bool, error) {
		known := s.Entities()
		for _, e := range []*string{&entity, &other} {
			var err error
			if *e, err = entityName(*e); err != nil {
				return false, err
			}
			if !slices.Contains(known, *e) {
				return false, refuse.New(refuse.Policy, "No table is protected for the entity %s.", *e).
					With("CALL dp_protect(table, unit_column, '%s') first.", *e)
			}
		}
		if entity == other {
			return false, refuse.New(refuse.Policy, "An entity shares its persons with itself.").With("Name two entities.")
		}
		p := pairOf(entity, other)
		if s.disjoint[p] {
			return false, nil
		}
		if s.disjoint == nil {
			s.disjoint = map[[2]string]bool{}
		}
		s.disjoint[p] = true
		return true, nil
	})
}

// pairOf is a pair of entities in order.
func pairOf(a, b string) [2]string {
	if strings.Compare(a, b) > 0 {
		a, b = b, a
	}
	return [2]string{a, b}
}

// notDisjoint refuses rows of persons who may be the same human beings.
func notDisjoint(a, b string) error {
	return refuse.New(refuse.Policy, "Nobody has declared that the persons of the entities %s and %s are different people, so that one might lose more than is charged.", a, b).
		With("If nobody is both, CALL dp_set_disjoint('%s', '%s').", a, b)
}
