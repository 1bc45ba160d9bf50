package catalog

import (
	"cmp"
	"slices"
	"strings"

	"scrim/internal/refuse"
)

// Protect declares a table protected: unit is the column that identifies the person, or RowUnit
// where each row is one person; entity is the space of persons that it shares with other tables,
// and whose neighbour relation it gets (add-remove for the first table of an entity). Protecting a
// table again in the same way changes nothing. Protecting it by another column and for another
// entity declares a second person whom each row belongs to. Protecting it in any other way is
// refused: Unprotect comes first, so that no single statement weakens a policy.
func (c *Catalog) Protect(schema Schema, table, unit, entity string) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	return c.protectUnit(schema, name, unit, entity, Period{})
}

func (c *Catalog) protectUnit(schema Schema, name, unit, entity string, p Period) error {
	entity, err := entityName(entity)
	if err != nil {
		return err
	}
	u := Unit{Row: true}
	if !strings.EqualFold(unit, RowUnit) {
		col, err := columnOf(schema, name, unit)
		if err != nil {
			return err
		}
		u = Unit{Column: col, Collation: schema.Collation(name, col), Period: p}
	} else if schema.HasColumn(name, RowUnit) {
		return refuse.New(refuse.Policy, "The table %s has a column named row, so the unit 'row' could mean either.", name).
			With("Rename the column, then protect the table.")
	}
	for {
		// The store is asked while nothing is locked, and again where policies changed meanwhile.
		asked := c.Snapshot()
		if err := asked.sameTexts(schema, name, u, entity); err != nil {
			return err
		}
		changed := false
		err := c.change(func(s *Snapshot) (bool, error) {
			if changed = s.revision != asked.revision; changed {
				return false, nil
			}
			return c.protect(s, name, u, entity)
		})
		if !changed {
			return err
		}
	}
}

// protect sets the unit and the entity of a table and binds its name to an account.
func (c *Catalog) protect(s *Snapshot, name string, u Unit, entity string) (bool, error) {
	t := s.Table(name)
	if t.State == Protected && t.Entity != entity && !t.Unit.equal(u) {
		return s.protectAlso(t, Owner{entity, u})
	}
	if t.State == Protected {
		if t.Unit.equal(u) && t.Entity == entity {
			return false, nil
		}
		if !t.Unit.equal(u) {
			return false, refuse.New(refuse.Policy, "The table %s is already protected with %s.", name, t.Unit).
				With("To change that, CALL dp_unprotect('%s') first; its budget and what is spent stay.", name)
		}
	}
	if t.Entity != "" && t.Entity != entity && (c.charged(t.Account) || len(s.Children(name)) > 0) {
		return false, refuse.New(refuse.Policy, "The table %s belongs to entity %s, to which its spending is charged.", name, t.Entity).
			With("Keep the entity: CALL dp_protect('%s', unit_column, '%s').", name, t.Entity)
	}
	if r := s.readers(name); len(r) > 0 {
		return false, refuse.New(refuse.Policy, "The public domain of %s.%s is read from %s.", r[0].table, r[0].column, name).
			With("Give that column another domain first, then protect the table.")
	}
	if err := c.inPeriods(s, t, u, entity); err != nil {
		return false, err
	}
	if s.periods[entity] != "" {
		t.Relation = AddRemove // nothing was charged under another one
	}
	t.State, t.Unit, t.Entity = Protected, u, entity
	delete(s.absent, name)
	if t.Account == "" {
		// A name is bound once, so no other name can have been bound to an account of this name
		// first.
		t.Account = name
	}
	s.put(s.inherit(t))
	return true, nil
}

// Unprotect makes a protected table undeclared: refused to analysts until it is declared again. Its
// account, entity, neighbour relation, domains and defaults stay. It works on tables that no longer
// exist, too.
func (c *Catalog) Unprotect(table string) error {
	name, err := tableName(table)
	if err != nil {
		return err
	}
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		if t.State != Protected {
			return false, refuse.New(refuse.Policy, "The table %s is not protected.", name).With("See SELECT * FROM dp.policies.")
		}
		if ch := s.Children(name); len(ch) > 0 {
			return false, refuse.New(refuse.Policy, "The table %s finds its persons through %s.", ch[0].Name, name).
				With("CALL dp_unprotect('%s') first.", ch[0].Name)
		}
		s.put(t.undeclared())
		return true, nil
	})
}

// undeclared is the table without its protection.
func (t Table) undeclared() Table {
	t.State, t.Unit, t.Also, t.Sized = Undeclared, Unit{}, nil, false
	return t
}

// Public declares that a table holds nobody's data: analysts may read its rows.
func (c *Catalog) Public(schema Schema, table string) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		switch t.State {
		case Public:
			if !s.absent[name] {
				return false, nil
			}
		case Protected:
			return false, refuse.New(refuse.Policy, "The table %s is protected.", name).
				With("If nobody's data are in it any more, CALL dp_unprotect('%s') first.", name)
		}
		t.State = Public
		s.put(t)
		delete(s.absent, name)
		return true, nil
	})
}

// sameTexts refuses a unit column whose collation is not that of the entity's other tables: two
// spellings would be one person in one table and two persons in another, and a neighbour by one
// table would not be one by the other. Whole numbers go with any collation: of the texts that one
// calls equal, one at most is how a number is written. Members of an ENUM are texts.
func (s *Snapshot) sameTexts(schema Schema, name string, u Unit, entity string) error {
	texts := func(table, column string) bool {
		t := strings.ToUpper(schema.ColumnType(table, column))
		return !strings.HasSuffix(t, "INT") && !strings.HasSuffix(t, "INTEGER")
	}
	for _, t := range s.All() {
		for _, o := range t.Owners() {
			if t.Name != name && o.Entity == entity && o.Unit.Column != "" && u.Column != "" && o.Unit.Collation != u.Collation &&
				texts(t.Name, o.Unit.Column) && texts(name, u.Column) {
				return refuse.New(refuse.Policy, "The column %s of %s names the persons of the entity %s %s, and the column %s of %s would name them %s.",
					o.Unit.Column, t.Name, entity, by(o.Unit.Collation), u.Column, name, by(u.Collation)).
					With("Give both columns one collation: ALTER TABLE %s MODIFY %s … COLLATE %s. Or name another entity.", name, u.Column, cmp.Or(o.Unit.Collation, "utf8mb4_0900_bin"))
			}
		}
	}
	return nil
}

func by(collation string) string {
	if collation == "" {
		return "by bytes"
	}
	return "by the collation " + collation
}

func (u Unit) equal(v Unit) bool {
	if (u.Link == nil) != (v.Link == nil) || u.Link != nil && *u.Link != *v.Link {
		return false
	}
	return u.Row == v.Row && u.Column == v.Column && u.Collation == v.Collation && u.Period == v.Period
}

// String says the unit in words: "unit 'row'", "unit column c", "unit column c by month of d", "a
// link from c to p.k".
func (u Unit) String() string {
	switch {
	case u.Row:
		return "unit 'row'"
	case u.Period != Period{}:
		return "unit column " + u.Column + u.byText() + " by " + u.Period.String()
	case u.Column != "":
		return "unit column " + u.Column + u.byText()
	case u.Link != nil:
		return "a link from " + u.Link.Column + " to " + u.Link.Parent + "." + u.Link.ParentColumn
	}
	return "no unit"
}

func (u Unit) byText() string {
	if u.Collation == "" {
		return ""
	}
	return " COLLATE " + u.Collation
}

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
