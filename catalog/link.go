package catalog

import (
	"strings"

	"scrim/internal/refuse"
)

// Link declares a table protected by a foreign key: a row of child belongs to the person that the
// row of parent belongs to whose parentColumn equals childColumn. The parent is protected, by a
// unit column or by a link of its own, to any depth; the child gets its entity. parentColumn must
// be a key that the store enforces, so that a child row has one parent at most. A child that is
// protected for another entity gets a second person for each row.
func (c *Catalog) Link(schema Schema, child, childColumn, parent, parentColumn string) error {
	name, err := existing(schema, child)
	if err != nil {
		return err
	}
	up, err := existing(schema, parent)
	if err != nil {
		return err
	}
	col, err := columnOf(schema, name, childColumn)
	if err != nil {
		return err
	}
	key, err := columnOf(schema, up, parentColumn)
	if err != nil {
		return err
	}
	if name == up {
		return refuse.New(refuse.Policy, "The table %s cannot be linked to itself.", name).
			With("Link towards the table that has the unit column.")
	}
	if !schema.IsEnforcedKey(up, key) {
		return refuse.New(refuse.Policy, "The column %s.%s is not a key, so a row of %s could belong to several persons.", up, key, name).
			With("Make it one, then link again: ALTER TABLE %s ADD PRIMARY KEY (%s); or ADD UNIQUE (%s), where it has a primary key. That looks at rows: on a protected table, SET dp_raw = ON first.", up, key, key)
	}
	return c.change(func(s *Snapshot) (bool, error) {
		p := s.Table(up)
		if p.State != Protected {
			return false, refuse.New(refuse.Policy, "The table %s is not protected, so no person is found through it.", up).
				With("CALL dp_protect('%s', unit_column, entity) first, or link it to its own parent.", up)
		}
		if err := s.acyclic(name, p); err != nil {
			return false, err
		}
		return c.protect(s, name, Unit{Link: &Link{Column: col, Parent: up, ParentColumn: key}}, p.Entity)
	})
}

// acyclic refuses a link from child to parent when parent finds its persons through child.
func (s *Snapshot) acyclic(child string, parent Table) error {
	path := []string{child, parent.Name}
	// nothing is linked to a table of two
	for at := parent; at.Unit.Link != nil && at.Also == nil; {
		at = s.Table(at.Unit.Link.Parent)
		path = append(path, at.Name)
		if at.Name == child {
			return refuse.New(refuse.Policy, "The links %s would be a circle that never reaches a person.", strings.Join(path, " -> ")).
				With("Link towards the table that has the unit column.")
		}
	}
	return nil
}
