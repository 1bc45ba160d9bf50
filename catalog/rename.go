package catalog

import (
	"errors"
	"maps"
	"strings"

	"scrim/internal/refuse"
)

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
