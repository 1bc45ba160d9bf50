package rel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// IsPrivate reports whether rows of r belong to persons.
func (r *Relation) IsPrivate() bool { return len(r.units) > 0 }

// RowUnit reports whether each row of a protected table is one person, whom nothing names but the
// row's place in the store.
func (r *Relation) RowUnit() bool { return r.rowUnit != "" }

// root returns the representative of a unit.
func (r *Relation) root(i int) int {
	for r.units[i].merged != i {
		i = r.units[i].merged
	}
	return i
}

// merge records that two units are the same on every row that remains.
func (r *Relation) merge(i, j int) {
	a, b := r.root(i), r.root(j)
	if a == b {
		return
	}
	if b < a {
		a, b = b, a
	}
	r.units[b].merged = a
}

// pending reports whether two units of a join have not been shown to be equal.
func (r *Relation) pending() bool {
	for i := range r.units {
		if r.root(i) != 0 {
			return true
		}
	}
	return false
}

// Single checks that one unit is left, where the relation is used by anything but a condition.
func (r *Relation) Single() error {
	if r.IsPrivate() && r.pending() {
		if i := slices.IndexFunc(r.Private, func(p Protected) bool { return p.Policy.Also != nil }); i >= 0 {
			return rule.Deny(rule.JoinUnit, refuse.Shape, "Count and add up its rows with inner joins and conditions.",
				"The rows of %s belong to two persons each, and what this part would make of them would not.", r.Private[i].Name)
		}
		return rule.Deny(rule.JoinUnit, refuse.Shape,
			"Add an equality of the unit columns to the join, for example ON a.unit = b.unit.",
			"The protected tables %s are not joined on their unit.", r.PrivateNames())
	}
	return nil
}

// IsUnit reports whether a column is the unit of the relation.
func (r *Relation) IsUnit(e sql.Expression) bool {
	return r.tagged(e, func(c *Column, t tag) bool { return t.kind == tagUnit })
}

// tagged reports whether an expression is a column with a tag of the relation's unit, or the key
// of one by the column's own collation.
func (r *Relation) tagged(e sql.Expression, is func(*Column, tag) bool) bool {
	gf, by := keyOf(tree.Unalias(e))
	if gf == nil {
		return false
	}
	c := r.Find(gf)
	return c != nil && !c.Extended && slices.ContainsFunc(c.tags, func(t tag) bool {
		return r.root(t.unit) == 0 && (by == unkeyed || by == t.by) && is(c, t)
	})
}

// unkeyed is the collation of a column that is compared as it is.
const unkeyed = sql.Collation_Unspecified

// keyOf is the column that an expression is, or is the key of by a collation. Equal columns have
// equal keys by every collation, and equal keys mean the same person by that of the column alone: a
// coarser one calls persons equal.
func keyOf(e sql.Expression) (*expression.GetField, sql.CollationID) {
	by := unkeyed
	if w, ok := e.(*standard.Weighed); ok && w.Use == collation.ForKey {
		e, by = w.Child, w.Collation
	}
	gf, _ := e.(*expression.GetField)
	return gf, by
}

// TellsUnit reports whether a column has its value on rows of one person alone: it is the unit, it
// refers to an enforced key whose row has the unit, or it is an enforced primary key itself.
func (r *Relation) TellsUnit(e sql.Expression) bool {
	return r.tagged(e, func(c *Column, t tag) bool {
		return t.kind == tagUnit || t.kind == tagLink || t.kind == tagSelf && c.primary
	})
}

// SomeUnit reports whether an expression is the unit of its row, or NULL.
func (r *Relation) SomeUnit(e sql.Expression) bool {
	if w, ok := e.(*standard.Weighed); ok && w.Use == collation.ForKey && w.Collation == r.units[0].by {
		e = w.Child
	}
	switch e := e.(type) {
	case *expression.GetField: // of the side of an outer join that may be missing
		c := r.Find(e)
		return c != nil && c.Extended && slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagUnit && r.root(t.unit) == 0 })
	case *expression.Case:
		if e.Expr != nil {
			return false
		}
		if slices.ContainsFunc(e.Branches, func(b expression.CaseBranch) bool { return !r.unitOrNull(b.Value) }) {
			return false
		}
		return e.Else == nil || r.unitOrNull(e.Else)
	case *function.If:
		c := e.Children()
		return r.unitOrNull(c[1]) && r.unitOrNull(c[2])
	}
	return false
}

func (r *Relation) unitOrNull(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	return r.IsUnit(e) || ok && l.Value() == nil
}

// NamesRows reports whether a column is the enforced primary key of the one table that the relation
// reads: then no two rows have one value, and none has NULL.
func (s *Writer) NamesRows(r *Relation, e sql.Expression) bool {
	gf, by := keyOf(e)
	if gf == nil || len(r.Reads) != 1 || r.joined {
		return false
	}
	c := r.Find(gf)
	if c == nil || c.Extended {
		return false
	}
	self := r.Reads[0].String()
	t, ok := s.Find(self)
	if !ok {
		return false
	}
	for _, g := range c.tags {
		if name, own := strings.CutPrefix(g.key, self+"."); g.kind == tagSelf && own && (by == unkeyed || by == g.by) && isPrimary(s.ctx, t, name) {
			return true
		}
	}
	return false
}

// link merges units when the condition is an equality of columns that determine the same unit. all
// says that it holds of all rows.
func (r *Relation) link(cond sql.Expression, all bool) {
	eq, ok := cond.(*expression.Equals)
	if !ok {
		return
	}
	lf, by := keyOf(eq.Left())
	rf, same := keyOf(eq.Right())
	if lf == nil || rf == nil || by != same {
		return
	}
	a, b := r.Find(lf), r.Find(rf)
	if a == nil || b == nil || a.Expr.Type.Kind != b.Expr.Type.Kind {
		return
	}
	for _, x := range a.tags {
		for _, y := range b.tags {
			if x.key == y.key && x.by == y.by && (by == unkeyed || by == x.by) && sameUnit(x.kind, y.kind) {
				r.merge(x.unit, y.unit)
				if all {
					r.spare(a, b, x, y)
					r.spare(b, a, y, x)
				}
			}
		}
	}
}

// sameUnit says whether equality of two columns with the same key proves equality of their units:
// two units are equal by themselves; two references to one unique key find the same row; so do a
// reference and that key itself. Two columns of the same name prove nothing.
func sameUnit(a, b tagKind) bool {
	switch {
	case a == tagUnit || b == tagUnit:
		return a == b
	default:
		return a == tagLink || b == tagLink
	}
}

// BareTable reports whether a relation is all the rows of one protected table.
func (r *Relation) BareTable() bool {
	return r.bare != "" && r.from == r.bare && len(r.where) == 0 && len(r.Private) == 1
}

// Whole reports whether a relation is one protected table of public size with all its rows.
func (r *Relation) Whole() bool {
	return r.BareTable() && !r.Shared() && r.Private[0].Policy.Sized
}

// ShowsPersons reports whether a relation has a row for each person, and a column that names them.
func (r *Relation) ShowsPersons() bool {
	return r.Unique && slices.ContainsFunc(r.Columns, func(c Column) bool {
		return slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagUnit })
	})
}

// UnitExpr is the person of each row of a relation with one unit.
func (r *Relation) UnitExpr() lower.Expr { return r.units[0].expr }

// CountPersons is the SELECT of one number: of the persons of a relation that is a whole table. It
// counts what the scans tell persons apart by, as written for them, and nothing of what a query
// says of their rows. Persons are brought together by a GROUP BY as the scans' are, which needs no
// more memory than theirs.
func (r *Relation) CountPersons() string {
	if r.Unique { // a row id, or a primary key: one a row, and never NULL
		return "SELECT count(*) FROM " + r.from
	}
	u := r.units[0].expr.SQL
	return "SELECT count(*) FROM (SELECT " + u + " AS u FROM " + r.from + " WHERE " + u + " IS NOT NULL GROUP BY " + u + ") AS p"
}

// pairOf is the unit of a row of a table by period, but for its place and its entity.
func (s *Writer) pairOf(t stored.Table, alias string, u catalog.Unit) (unit, error) {
	person, by, ok1 := readKey(t, alias, u.Column)
	day, ok2 := readNamed(t, alias, u.Period.Of)
	if ok1 && ok2 && textsBy(by) == u.Collation {
		if pair, ok := pairFor(u.Period.Every, person, day); ok {
			return unit{expr: pair, every: u.Period.Every, named: person.Type, by: by}, nil
		}
	}
	return unit{}, rule.Deny(rule.PolicyUnit, refuse.Policy,
		"A DBA protects the table anew with dp_protect, by a unit column of integers or texts and a column of dates.",
		"The unit column %s or the column of periods %s of %s is missing or cannot be used.", u.Column, u.Period.Of, t.StoreRef())
}

// tagPeriods tags the columns that the unit of a table by period is made of.
func (r *Relation) tagPeriods(self string, u catalog.Unit, entity string, at int) {
	for i := range r.Columns {
		c := &r.Columns[i]
		for _, x := range []struct {
			column string
			kind   tagKind
		}{{u.Period.Of, tagDay}, {u.Column, tagPerson}} {
			if isUnitColumn(*c, at, self, self, x.column, 0) {
				c.tags = append(c.tags, tag{kind: x.kind, key: entity, unit: at})
			}
		}
	}
}

// NamesPerson reports whether a column names the person of a unit that is one person's rows of one
// period: a group of its values would be one person.
func (r *Relation) NamesPerson(e sql.Expression) bool {
	gf, _ := keyOf(tree.Unalias(e))
	if gf == nil {
		return false
	}
	c := r.Find(gf)
	return c != nil && slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagPerson })
}

// oneUnit is the remedy for rows that are not shown to be of one unit: as it is said of persons, or
// what helps where the unit is of one period and no column is it.
func (r *Relation) oneUnit(remedy string) string {
	for _, u := range r.units {
		if u.every != "" {
			return "The unit is one person's rows of one " + u.every + ", which the column of the person does not show: compare or group by keys that lead to one row of it, or use a table that is protected without a period."
		}
	}
	return remedy
}

// Blocks are the days of the periods that the units of all rows are within; nil where they may be
// of every period, or the unit is none of a period.
func (r *Relation) Blocks() *days.Span {
	if r.Shared() {
		return nil
	}
	return r.blocksOf(0)
}

// blocksOf is what all units of one representative are within.
func (r *Relation) blocksOf(root int) (on *days.Span) {
	for i, u := range r.units {
		if r.root(i) == root && u.blocks != nil {
			on = narrower(on, *u.blocks)
		}
	}
	return on
}

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
	by     sql.CollationID
	// Present says that no row is without one: a condition to that end would have the store reckon
	// with fewer rows of the table than there are, and join it in the wrong order.
	Present bool
}

// Owners are the persons whom each row belongs to, in the order of the tables; none of public rows.
func (r *Relation) Owners() []Owner {
	var out []Owner
	for i, u := range r.units {
		if r.root(i) == i {
			out = append(out, Owner{u.expr, u.entity, u.named, u.by, u.present})
		}
	}
	return out
}

// oneOwner is what would make each row of a join one person's, if it is true: the equality
// of the unit columns, and the dp_link by which one of the tables would belong to the person of the
// other, where the join is by the other's primary key. Either is "" where there is none.
func (r *Relation) oneOwner(ctx *sql.Context) (equality, link string) {
	owners := r.Owners()
	if len(owners) != 2 || owners[0].Entity != owners[1].Entity {
		return "", ""
	}
	var units []string
	var ids []sql.ColumnId
	for _, c := range r.Columns {
		if c.table != "" && slices.ContainsFunc(owners, func(o Owner) bool { return o.Expr.SQL == c.Expr.SQL }) {
			units, ids = append(units, c.as+"."+c.Name), append(ids, c.ID)
		}
	}
	// Who compares the persons means two.
	if slices.ContainsFunc(r.Known, func(e sql.Expression) bool {
		f := tree.Fields(ctx, e)
		return len(ids) == 2 && slices.Contains(f, ids[0]) && slices.Contains(f, ids[1])
	}) {
		return "", ""
	}
	if len(units) == 2 {
		equality = units[0] + " = " + units[1]
	}
	for _, k := range r.Known {
		e, ok := k.(*expression.Equals)
		if !ok {
			continue
		}
		child, is1 := e.Left().(*expression.GetField)
		parent, is2 := e.Right().(*expression.GetField)
		if !is1 || !is2 {
			continue
		}
		for range 2 {
			if c := r.Find(parent); c != nil && c.primary && child.Table() != parent.Table() && r.ownUnit(child) {
				link = fmt.Sprintf("CALL dp_link('%s.%s', '%s', '%s.%s', '%s')", child.Database(), child.Table(), child.Name(), parent.Database(), parent.Table(), parent.Name())
			}
			child, parent = parent, child
		}
	}
	return equality, link
}

// ownUnit reports whether a column is of a protected table that names its persons itself.
func (r *Relation) ownUnit(f *expression.GetField) bool {
	return slices.ContainsFunc(r.Private, func(p Protected) bool {
		return p.Name == f.Database()+"."+f.Table() && p.Policy.Unit.Column != ""
	})
}

// OneOwnerText says in a sentence what would make each row of a join one person's; "" where nothing
// is known of it.
func (r *Relation) OneOwnerText(ctx *sql.Context) string {
	equality, link := r.oneOwner(ctx)
	if equality != "" {
		equality = "AND " + equality + " in the join says so"
	}
	if link != "" {
		link = "a DBA declares " + link
	}
	ways := slices.DeleteFunc([]string{equality, link}, func(s string) bool { return s == "" })
	if len(ways) == 0 {
		return ""
	}
	return "Where both are always one person, " + strings.Join(ways, ", or ") + "."
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
	case !sameNames(owners[0].Expr.Type, owners[1].Expr.Type), !sameNames(owners[0].named, owners[1].named), owners[0].by != owners[1].by:
		return rule.Deny(rule.Owners, refuse.Shape, "A DBA gives the unit columns of the entity one type and collation.",
			"The protected tables %s name the persons of the entity %s in columns of different types or collations, so that one person cannot be told from two.", r.PrivateNames(), r.Entity)
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
