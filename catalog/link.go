package catalog

import (
	"errors"
	"maps"
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

// Rename tells the catalogue that the rows of old are now found under new, both schema.table. Call
// it before the store commits the rename; it is safe if the rename is rolled back or never happens
// (see the package documentation for the argument).
func (c *Catalog) Rename(old, new string) error {
	from, to := strings.ToLower(old), strings.ToLower(new)
	if from == to {
		return nil
	}
	return c.change(func(s *Snapshot) (bool, error) { return rename(s, from, to) })
}

func rename(s *Snapshot, from, to string) (bool, error) {
	src, known := s.tables[from]
	dst, taken := s.tables[to]
	switch {
	case !known && (!taken || dst.State != Public):
		return false, nil
	case src.Account != "" && dst.Account != "" && src.Account != dst.Account:
		return false, refuse.New(refuse.Policy, "The name %s is bound to the budget %s, and %s to the budget %s.", to, dst.Account, from, src.Account).
			With("Rename the table to a name that was never protected.")
	}
	if known {
		if _, err := tableName(to); err != nil {
			return false, err
		}
	}
	if src.State == Protected || dst.State != Protected {
		state := src.State
		if state == Public && dst.Account != "" {
			state = Undeclared // the name was protected once: a DBA looks first
		}
		bound := src
		if src.Account == "" {
			bound = dst
		}
		account, entity, relation := bound.Account, bound.Entity, bound.Relation
		dst = src
		dst.Name, dst.State, dst.Account, dst.Entity, dst.Relation = to, state, account, entity, relation
	}
	s.put(dst)
	if src.State == Public {
		src.State = Undeclared // whatever is created there next has not been looked at
	}
	if known {
		s.put(src)
	}
	s.follow(from, to)
	s.leave(from) // nobody knows yet whether the rename comes about
	s.leave(to)
	return true, nil
}

// follow makes links and domains that refer to one table refer to another.
func (s *Snapshot) follow(from, to string) {
	for _, t := range s.All() {
		t.Unit = t.Unit.following(from, to)
		if t.Also != nil {
			t.Also = &Owner{t.Also.Entity, t.Also.Unit.following(from, to)}
		}
		for col, d := range t.Domains {
			if d.Source != nil && d.Source.Table == from {
				t.Domains = maps.Clone(t.Domains)
				t.Domains[col] = Domain{Source: &Source{Table: to, Column: d.Source.Column}}
			}
		}
		s.put(t)
	}
}

// following is a unit whose link refers to one table in the place of another.
func (u Unit) following(from, to string) Unit {
	if l := u.Link; l != nil && l.Parent == from {
		u.Link = &Link{Column: l.Column, Parent: to, ParentColumn: l.ParentColumn}
	}
	return u
}

// Dropped tells the catalogue that a table is gone. Call it before the store commits, or Leaving. A
// protected name stays protected and keeps its account; a public one becomes undeclared.
func (c *Catalog) Dropped(table string) error {
	name := strings.ToLower(table)
	return c.change(func(s *Snapshot) (bool, error) {
		looked := s.unlook(name)
		return s.leave(name) || looked, nil
	})
}

// Created tells the catalogue that a table is about to be created: a public name becomes
// undeclared, also where a drop went by unseen, because nobody has looked at the new table yet.
func (c *Catalog) Created(table string) error {
	return c.change(func(s *Snapshot) (bool, error) { return s.unlook(strings.ToLower(table)), nil })
}

func (s *Snapshot) unlook(name string) bool {
	t := s.Table(name)
	if t.State != Public {
		return false
	}
	t.State = Undeclared
	s.put(t)
	return true
}

// leave notes that the store may not have a table, where it has a policy.
func (s *Snapshot) leave(name string) bool {
	if s.absent[name] || s.Table(name).State == Undeclared {
		return false
	}
	if s.absent == nil {
		s.absent = map[string]bool{}
	}
	s.absent[name] = true
	return true
}

// Leaving runs what drops a table. The catalogue knows beforehand that the table may be gone; its
// policy stays until Dropped.
func (c *Catalog) Leaving(table string, drop func() error) error {
	name, left := strings.ToLower(table), false
	if err := c.change(func(s *Snapshot) (bool, error) {
		left = s.leave(name)
		return left, nil
	}); err != nil {
		return err
	}
	err := drop()
	if err != nil && left {
		err = errors.Join(err, c.Seen(table))
	}
	return err
}

// Seen tells the catalogue that a table is there, after all.
func (c *Catalog) Seen(table string) error {
	name := strings.ToLower(table)
	return c.change(func(s *Snapshot) (bool, error) {
		was := s.absent[name]
		delete(s.absent, name)
		return was, nil
	})
}

// Declared lists the tables with a policy, sorted by name: those that the store must have, and
// those that it may not have.
func (s *Snapshot) Declared() (there, absent []string) {
	for _, t := range s.All() {
		switch {
		case t.State == Undeclared:
		case s.absent[t.Name]:
			absent = append(absent, t.Name)
		default:
			there = append(there, t.Name)
		}
	}
	return there, absent
}
