package catalog

import (
	"errors"
	"strings"
)

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

// Raise writes the file again in this program's version, with the same policies: programs of before
// refuse it from then on. Which tables were dropped an older file does not say, so any may be
// absent.
func (c *Catalog) Raise() error {
	return c.change(func(s *Snapshot) (bool, error) {
		for name := range s.tables {
			s.leave(name)
		}
		return true, nil
	})
}
