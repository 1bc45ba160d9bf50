package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting/days"
	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// Relation is a subtree over rows of the store as one generated SELECT in the making: a FROM item,
// conditions, and the output columns as expressions over the FROM item.
//
// A private relation has one or more units: SQL expressions that name the person of each row, or
// are NULL where a row belongs to nobody. Joining two private relations leaves two units until an
// equality shows that they are always the same. One unit is what all but a join, a condition and
// counts and sums ask for; two are the owners of each row (unit.go).
type Relation struct {
	from    string
	where   []string
	Columns []Column
	Bases   []Base
	units   []unit
	Unique  bool // no two rows have the same unit
	rowUnit string
	Entity  string
	Private []Protected
	Reads   []store.TableRef
	// the FROM item of one protected table with all its rows; "" where it never was that
	bare  string
	Known []sql.Expression // conditions that hold of all rows, over base columns
	// the FROM item is a join, so it needs parentheses on the right of another
	joined bool
	links  []linkJoin // joins within the FROM item that are there for a unit alone
	spared []linkJoin // such joins that are left out of the FROM item
	// how many of the units are of the rows around a subquery, see decide.go
	outside int
}

// unit is the person of each row. merged is the index of the unit it is proven equal to, or its
// own.
type unit struct {
	expr   lower.Expr
	merged int
	entity string
	by     sql.CollationID // of the texts that name the person, see readKey
	// present says that expr is NULL on no row
	present bool
	// of one person's rows of one period: the length of the periods, and the days of those that all
	// rows are within; nil: any
	every  string
	blocks *days.Span
	named  lower.Type // of the column that names the person; zero of other units, whose expr has it
}

// Column is one output column.
type Column struct {
	ID     sql.ColumnId
	Name   string
	Type   sql.Type
	Expr   lower.Expr
	origin sql.Expression // the value as an expression over base columns; nil when it is not one
	tags   []tag
	// the alias of the table that the column is of, and whether the column is its enforced primary
	// key; "" and false of what is computed
	table   string
	primary bool
	as      string // what the statement calls the table
	// Extended marks a column of the null-extended side of an outer join: where it is not NULL its
	// tags hold, but it is not the unit of every row.
	Extended bool
	Required bool      // a column that the store keeps from being NULL
	Scales   []float64 // declared standard deviations of its coordinates; nil: none
	// Opaque marks a column whose store type the translation reads as NULL: an expression over it
	// does not translate.
	Opaque bool
}

// tag says that the column determines a unit of the relation.
type tag struct {
	kind tagKind
	key  string // schema.table.column of the key; the entity for tagUnit, tagDay, tagPerson; "" for tagFixed
	unit int
	by   sql.CollationID // of the column, collation.Bytes where bytes decide
}

type tagKind uint8

const (
	tagUnit   tagKind = iota // the column is the unit
	tagLink                  // the column refers to the enforced key named, whose row has the unit
	tagSelf                  // the column is the column named, of the row that has the unit
	tagDay                   // the day of the column says the period of the unit
	tagPerson                // the column names the person of a unit by period
	tagFixed                 // the column has one value on all rows of the unit, see fixed.go
)

// Base is a column of a table, or of the branches of a UNION ALL: what the values of other columns
// are functions of. It is kept for what is publicly known of it, through every SELECT above it;
// none of them carries its values.
type Base struct {
	ID   sql.ColumnId
	Type sql.Type
	Expr lower.Expr // as its table is read
	// where its public values come from, one a branch of a UNION ALL; none: not known
	Domains []catalog.Domain
	Name    string
	// of a column of a public table: the FROM item of that table under the names of Expr, and the
	// table
	From string
	Ref  store.TableRef
	// Listed says where Domains come from that are no declaration, for EXPLAIN; "" of others.
	Listed string
	// Required says that the store keeps it from being NULL; Extended that a join adds rows on
	// which it is, all columns of its table together.
	Required, Extended bool
}

// DeclaredRange is the range that is declared for the column; nil where there is none, or several
// branches have one each.
func (b *Base) DeclaredRange() *catalog.Range {
	if len(b.Domains) != 1 {
		return nil
	}
	return b.Domains[0].Range
}

// Protected is one protected table that a relation touches.
type Protected struct {
	Name   string // schema.table
	Policy catalog.Table
}

// Resolve finds the columns of the relation for the translation of expressions.
func (r *Relation) Resolve(gf *expression.GetField) (lower.Expr, bool) {
	if c := r.Find(gf); c != nil && !c.Opaque {
		return c.Expr, true
	}
	return lower.Expr{}, false
}

// Find returns the column that a field of a bound tree refers to, nil where it is none of r's.
func (r *Relation) Find(gf *expression.GetField) *Column {
	if gf.Id() == 0 {
		return nil
	}
	for i := range r.Columns {
		if r.Columns[i].ID == gf.Id() {
			return &r.Columns[i]
		}
	}
	return nil
}

// Has reports whether a column is one of the relation's.
func (r *Relation) Has(id sql.ColumnId) bool {
	return id != 0 && slices.ContainsFunc(r.Columns, func(c Column) bool { return c.ID == id })
}

// Origin rewrites e over base columns; nil when a column in it has no origin.
func (r *Relation) Origin(ctx *sql.Context, e sql.Expression) sql.Expression {
	ok := !tree.HasSubquery(ctx, e)
	out, err := tree.Replaced(ctx, e, func(e sql.Expression) sql.Expression {
		switch e := e.(type) {
		case *expression.GetField:
			if c := r.Find(e); c != nil && c.origin != nil {
				return c.origin
			}
			ok = false
		case *expression.Alias:
			return e.Child
		}
		return nil
	})
	if err != nil || !ok {
		return nil
	}
	return out
}

// BaseByID returns the base with a column id, nil where there is none.
func (r *Relation) BaseByID(id sql.ColumnId) *Base {
	for i := range r.Bases {
		if r.Bases[i].ID == id {
			return &r.Bases[i]
		}
	}
	return nil
}

// Alias notes what the statement calls the one table that the relation is of.
func (r *Relation) Alias(name string) {
	for i := range r.Columns {
		r.Columns[i].as = name
	}
}

// Computed returns the relation with a base for each column that is not made of bases, as an
// aggregate of a derived table: of its values nothing is known but their type.
func (r *Relation) Computed() *Relation {
	if !slices.ContainsFunc(r.Columns, func(c Column) bool { return c.origin == nil }) {
		return r
	}
	out := *r
	out.Columns, out.Bases = slices.Clone(r.Columns), slices.Clone(r.Bases)
	for i := range out.Columns {
		c := &out.Columns[i]
		if c.origin != nil || c.Opaque || out.BaseByID(c.ID) != nil {
			continue
		}
		c.origin = expression.NewGetFieldWithTable(int(c.ID), 0, c.Type, "", "", c.Name, true)
		out.Bases = append(out.Bases, Base{ID: c.ID, Type: c.Type, Expr: c.Expr, Name: c.Name, Required: !c.Expr.Nullable, Extended: c.Extended})
	}
	return &out
}

// WithIDs gives the columns other ids, as a derived table does: one id a column.
func (r *Relation) WithIDs(ids []sql.ColumnId) *Relation {
	out := *r
	out.Columns = append([]Column(nil), r.Columns...)
	for i := range out.Columns {
		out.Columns[i].ID = ids[i]
	}
	return &out
}

// With adds conditions, which are over the FROM item.
func (r *Relation) With(conds ...string) *Relation {
	out := *r
	out.where = append(append([]string(nil), r.where...), conds...)
	return &out
}

// JoinedWith joins a further FROM item, with which each row has at most one partner.
func (r *Relation) JoinedWith(item string, on []string) *Relation {
	out := *r
	out.joined = true
	out.from = r.from + " JOIN " + item + " ON " + and(on)
	return &out
}

// List is public values that rows are compared with, each with a number.
type List struct {
	Item   string // FROM item
	On     []string
	Number string // of the value that a row has: from 0, below Len
	Len    int
	ID     sql.ColumnId // of the column that Numbered adds
	Name   string
	From   string // where the values come from, for EXPLAIN
	// Fixed says that what is compared has one value on all rows of a person.
	Fixed bool
}

// Numbered joins rows with a list of which each row has at most one value, and adds the value's
// number as a column. Rows with none of the values drop out. The numbers are public.
func (r *Relation) Numbered(l List) *Relation {
	out := r.JoinedWith(l.Item, l.On)
	number := lower.Expr{SQL: l.Number, Type: lower.Type{Kind: lower.Int}}
	c := Column{ID: l.ID, Name: l.Name, Type: types.Int64, Expr: number, Required: true,
		origin: expression.NewGetFieldWithTable(int(l.ID), 0, types.Int64, "", "", l.Name, false)}
	if l.Fixed {
		c.tags = []tag{{kind: tagFixed}}
	}
	out.Columns = append(slices.Clone(r.Columns), c)
	out.Bases = append(slices.Clone(r.Bases), Base{ID: l.ID, Type: types.Int64, Expr: number, Name: l.Name, Required: true,
		Domains: []catalog.Domain{{Range: &catalog.Range{Min: 0, Max: float64(l.Len - 1)}}}, Listed: l.From})
	return out
}

// RangeOf returns the public range of the values of an expression, as if it were declared, nil
// where none is known: a column with a declared range, a constant, which has that from 0 to it (0
// that to 1), and a choice among such: CASE WHEN c THEN amount ELSE 0 END. What is outside of the
// range is clamped to it, so a loss never rests on it.
func (s *Writer) RangeOf(r *Relation, e sql.Expression) *grid.Bounds {
	b := s.hull(r, e)
	switch {
	case b == nil || b.Lo > b.Hi:
		return nil
	case b.Lo == 0 && b.Hi == 0:
		return &grid.Bounds{Hi: 1}
	case b.Lo == b.Hi:
		return &grid.Bounds{Lo: min(b.Lo, 0), Hi: max(b.Hi, 0)}
	}
	return b
}

// hull is rangeOf, also of one value alone.
func (s *Writer) hull(r *Relation, e sql.Expression) *grid.Bounds {
	switch e := tree.Unalias(e).(type) {
	case *expression.GetField:
		c := r.Find(e)
		if c == nil {
			return nil
		}
		b := r.PlainBase(*c)
		if b == nil || b.DeclaredRange() == nil {
			return nil
		}
		d := b.DeclaredRange()
		return &grid.Bounds{Lo: d.Min, Hi: d.Max}
	case *expression.Literal:
		if !types.IsNumber(e.Type(s.ctx)) {
			return nil
		}
		x, ok := tree.Float(e.Value())
		if !ok {
			return nil
		}
		return &grid.Bounds{Lo: x, Hi: x}
	case *expression.Case:
		values := []sql.Expression{e.Else}
		values = append(values, lists.Map(e.Branches, func(b expression.CaseBranch) sql.Expression { return b.Value })...)
		return s.hullOf(r, values)
	case *function.If:
		return s.hullOf(r, e.Children()[1:])
	case *function.Coalesce, *function.IfNull:
		return s.hullOf(r, e.Children())
	}
	return nil
}

// hullOf is the smallest range that has those of all values; absent ones and NULL have none.
func (s *Writer) hullOf(r *Relation, values []sql.Expression) *grid.Bounds {
	var out *grid.Bounds
	for _, v := range values {
		if l, ok := v.(*expression.Literal); v == nil || ok && l.Value() == nil {
			continue
		}
		b := s.hull(r, v)
		switch {
		case b == nil:
			return nil
		case out == nil:
			out = b
		default:
			out = &grid.Bounds{Lo: min(out.Lo, b.Lo), Hi: max(out.Hi, b.Hi)}
		}
	}
	return out
}
