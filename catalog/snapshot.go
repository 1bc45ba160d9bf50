package catalog

import (
	"maps"
	"slices"
	"strings"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Snapshot is one immutable state of the catalogue. It implements Reader.
type Snapshot struct {
	revision uint64 // counts the changes since the catalogue was created
	tables   map[string]Table
	periods  map[string]string  // the periods of the entities that have some
	disjoint map[[2]string]bool // pairs of entities, each in order: nobody is a person of both
	// tables that the store may not have: they were dropped or renamed, and no start has seen them
	// since
	absent map[string]bool
}

var _ Reader = (*Snapshot)(nil)

// Table implements Reader. The name is folded to lower case.
func (s *Snapshot) Table(name string) Table {
	name = strings.ToLower(name)
	if t, ok := s.tables[name]; ok {
		return t
	}
	return Table{Name: name}
}

// All lists every table that the catalogue knows of, sorted by name: also dropped ones, old names
// of renamed ones, and undeclared ones that keep an account.
func (s *Snapshot) All() []Table {
	return lists.Map(slices.Sorted(maps.Keys(s.tables)), func(n string) Table { return s.tables[n] })
}

// Entities lists the entities of all tables that are or were protected, sorted.
func (s *Snapshot) Entities() []string {
	set := map[string]bool{}
	for _, t := range s.tables {
		if t.Entity != "" {
			set[t.Entity] = true
		}
		if t.Also != nil {
			set[t.Also.Entity] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Children lists the protected tables that are linked to the table, sorted by name.
func (s *Snapshot) Children(table string) []Table {
	table = strings.ToLower(table)
	return lists.Filter(s.All(), func(t Table) bool {
		return slices.ContainsFunc(t.links(), func(l *Link) bool { return l.Parent == table })
	})
}

// links are the links of a table towards its persons.
func (t Table) links() []*Link {
	var out []*Link
	for _, o := range t.Owners() {
		if o.Unit.Link != nil {
			out = append(out, o.Unit.Link)
		}
	}
	return out
}

// Uses says what policies a column takes part in, in words for a message: "the unit column of t",
// "the link from t to p", "the key that c is linked to", "a domain". Nil when there is none. A
// column that a policy rests on must not be renamed, dropped or lose its key under it: the
// catalogue is not told of such changes, so its caller refuses them.
func (s *Snapshot) Uses(table, column string) []string {
	table, column = strings.ToLower(table), strings.ToLower(column)
	t := s.Table(table)
	var out []string
	for _, o := range t.Owners() {
		if o.Unit.Column == column && column != "" {
			out = append(out, "the unit column of "+table)
		}
		if o.Unit.Period.Of == column && column != "" {
			out = append(out, "the column of the periods of "+table)
		}
		if l := o.Unit.Link; l != nil && l.Column == column {
			out = append(out, "the link from "+table+" to "+l.Parent)
		}
	}
	for _, c := range s.Children(table) {
		for _, l := range c.links() {
			if l.Parent == table && l.ParentColumn == column {
				out = append(out, "the key that "+c.Name+" is linked to")
			}
		}
	}
	for _, r := range s.readers(table) {
		if r.source == column {
			out = append(out, "the domain of "+r.table+"."+r.column)
		}
	}
	if _, ok := t.Domains[column]; ok {
		out = append(out, "a column with a domain")
	}
	if _, ok := t.Scales[column]; ok {
		out = append(out, "a column with declared scales")
	}
	return out
}

// reader is a column whose domain is read from a column of another table.
type reader struct{ table, column, source string }

// readers lists the columns whose domains are read from the table.
func (s *Snapshot) readers(table string) []reader {
	var out []reader
	for _, t := range s.All() {
		for _, c := range slices.Sorted(maps.Keys(t.Domains)) {
			if src := t.Domains[c].Source; src != nil && src.Table == table {
				out = append(out, reader{t.Name, c, src.Column})
			}
		}
	}
	return out
}

// clone copies the state for an edit. Tables are values; an edit that changes a map or pointer of
// one replaces it.
func (s *Snapshot) clone() *Snapshot {
	return &Snapshot{s.revision, maps.Clone(s.tables), maps.Clone(s.periods), maps.Clone(s.disjoint), maps.Clone(s.absent)}
}

func (s *Snapshot) put(t Table) { s.tables[t.Name] = t }

// verify checks the invariants that hold between tables:
//
//  1. a protected table has exactly one unit, an account and an entity; no other table has a unit;
//  2. every link leads to a protected table of the same entity and of no other, and links make no
//     cycle;
//  3. tables that share an entity or an account, protected or not, have the same neighbour
//     relation, and only a protected table with replace-one has a public number of persons;
//  4. only a protected table has a second unit, a column or a link, of an entity whose persons are
//     declared to be others than those of the first;
//  5. a protected table with a unit column has the periods of its entity, if the entity has any,
//     and then the relation add-remove and no second unit.
func (s *Snapshot) verify() error {
	for _, t := range s.All() {
		units := 0
		for _, set := range []bool{t.Unit.Row, t.Unit.Column != "", t.Unit.Link != nil} {
			if set {
				units++
			}
		}
		switch {
		case t.State == Protected && (units != 1 || t.Account == "" || t.Entity == ""):
			return refuse.New(refuse.Policy, "The policy of %s would be incomplete.", t.Name).With("Protect the table with one unit and one entity.")
		case t.State != Protected && units != 0:
			return refuse.New(refuse.Policy, "The table %s would have a unit but no protection.", t.Name).With("Protect the table first.")
		}
		if err := s.verifyPeriods(t); err != nil {
			return err
		}
		if err := s.verifySecond(t); err != nil {
			return err
		}
		if err := s.verifyLinks(t); err != nil {
			return err
		}
	}
	return s.verifyRelations()
}

// verifySecond checks invariant 4.
func (s *Snapshot) verifySecond(t Table) error {
	switch o := t.Also; {
	case o == nil:
		return nil
	case t.State != Protected || o.Entity == t.Entity || o.Unit.Row || (o.Unit.Column == "") == (o.Unit.Link == nil):
		return refuse.New(refuse.Policy, "The second unit of %s would be incomplete.", t.Name).With("Protect the table with one unit and one entity.")
	case !s.Disjoint(t.Entity, o.Entity):
		return notDisjoint(t.Entity, o.Entity)
	}
	return nil
}

// verifyLinks checks invariant 2.
func (s *Snapshot) verifyLinks(t Table) error {
	return lists.Each(t.Owners(), func(o Owner) error { return s.verifyPath(t.Name, o) })
}

// verifyPath checks the links from a table to one of its persons.
func (s *Snapshot) verifyPath(table string, o Owner) error {
	seen := map[string]bool{table: true}
	for at, l := table, o.Unit.Link; l != nil; {
		p := s.Table(l.Parent)
		switch {
		case p.State != Protected:
			return refuse.New(refuse.Policy, "The table %s would be linked to %s, which is not protected.", at, p.Name).
				With("Protect or link the parent first: CALL dp_protect('%s', unit_column, entity).", p.Name)
		case p.Also != nil:
			return refuse.New(refuse.Policy, "The table %s would be linked to %s, whose rows belong to two persons.", at, p.Name).
				With("Link to tables of one entity each, one link for each person.")
		case p.Entity != o.Entity:
			return refuse.New(refuse.Policy, "The table %s of entity %s would be linked to %s of entity %s.", at, o.Entity, p.Name, p.Entity).
				With("Link to a table of the same entity.")
		case seen[p.Name]:
			return refuse.New(refuse.Policy, "The links from %s would come back to %s and never reach a person.", table, p.Name).
				With("Link towards the table that has the unit column.")
		}
		seen[p.Name] = true
		at, l = p.Name, p.Unit.Link
	}
	return nil
}
