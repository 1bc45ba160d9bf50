package catalog

import (
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
		account, entity := src.Account, src.Entity
		if account == "" {
			account, entity = dst.Account, dst.Entity
		}
		dst = src
		dst.Name, dst.State, dst.Account, dst.Entity = to, state, account, entity
	}
	s.put(dst)
	if src.State == Public {
		src.State = Undeclared // whatever is created there next has not been looked at
	}
	if known {
		s.put(src)
	}
	s.follow(from, to)
	return true, nil
}

// follow makes links and domains that refer to one table refer to another.
func (s *Snapshot) follow(from, to string) {
	for _, t := range s.All() {
		if l := t.Unit.Link; l != nil && l.Parent == from {
			t.Unit.Link = &Link{Column: l.Column, Parent: to, ParentColumn: l.ParentColumn}
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

// Dropped tells the catalogue that a table is gone. Call it before the store commits. A protected
// name stays protected and keeps its account; a public one becomes undeclared.
func (c *Catalog) Dropped(table string) error { return c.unlook(strings.ToLower(table)) }

// Created tells the catalogue that a table is about to be created: a public name becomes undeclared,
// also where a drop went by unseen, because nobody has looked at the new table yet.
func (c *Catalog) Created(table string) error { return c.unlook(strings.ToLower(table)) }

func (c *Catalog) unlook(name string) error {
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		if t.State != Public {
			return false, nil
		}
		t.State = Undeclared
		s.put(t)
		return true, nil
	})
}

// DroppedSchema tells the catalogue that a schema is gone with all its tables, as Dropped does for
// each.
func (c *Catalog) DroppedSchema(schema string) error {
	prefix := strings.ToLower(schema) + "."
	return c.change(func(s *Snapshot) (bool, error) {
		changed := false
		for _, t := range s.All() {
			if t.State == Public && strings.HasPrefix(t.Name, prefix) {
				t.State = Undeclared
				s.put(t)
				changed = true
			}
		}
		return changed, nil
	})
}

// RenamedColumn tells the catalogue that a column has a new name: the unit, links, and domains that
// speak of it follow. Call it before the store commits. It is refused when the new name is one that
// the policy speaks of already, for then another column would silently become the unit.
func (c *Catalog) RenamedColumn(table, old, new string) error {
	name, from, to := strings.ToLower(table), strings.ToLower(old), strings.ToLower(new)
	if from == to {
		return nil
	}
	return c.change(func(s *Snapshot) (bool, error) {
		if uses := s.Uses(name, to); len(uses) > 0 {
			return false, refuse.New(refuse.Policy, "The name %s is %s.", to, strings.Join(uses, " and ")).
				With("Give the column another name.")
		}
		if len(s.Uses(name, from)) == 0 {
			return false, nil
		}
		if !plain(to) {
			return false, refuse.New(refuse.Policy, "%s cannot be the name of a column with a policy.", quoted(new)).
				With("Give the column another name.")
		}
		s.followColumn(name, from, to)
		return true, nil
	})
}

func (s *Snapshot) followColumn(table, from, to string) {
	for _, t := range s.All() {
		if t.Name == table {
			if t.Unit.Column == from {
				t.Unit.Column = to
			}
			if l := t.Unit.Link; l != nil && l.Column == from {
				t.Unit.Link = &Link{Column: to, Parent: l.Parent, ParentColumn: l.ParentColumn}
			}
			if d, ok := t.Domains[from]; ok {
				t.Domains = maps.Clone(t.Domains)
				delete(t.Domains, from)
				t.Domains[to] = d
			}
		}
		if l := t.Unit.Link; l != nil && l.Parent == table && l.ParentColumn == from {
			t.Unit.Link = &Link{Column: l.Column, Parent: l.Parent, ParentColumn: to}
		}
		for col, d := range t.Domains {
			if d.Source != nil && d.Source.Table == table && d.Source.Column == from {
				t.Domains = maps.Clone(t.Domains)
				t.Domains[col] = Domain{Source: &Source{Table: table, Column: to}}
			}
		}
		s.put(t)
	}
}
