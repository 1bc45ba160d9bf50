package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// relation is a subtree over rows of the store as one generated SELECT in the making: a FROM item,
// conditions, and the output columns as expressions over the FROM item.
//
// A private relation has one or more units: SQL expressions that name the person of each row, or
// are NULL where a row belongs to nobody. Joining two private relations leaves two units until an
// equality shows that they are always the same; only a relation with one unit can be used.
type relation struct {
	from    string
	where   []string
	columns []column
	bases   []base
	units   []unit
	unique  bool // no two rows have the same unit
	rowUnit string
	entity  string
	private []protected
	reads   []store.TableRef
	bare    string           // the FROM item of one protected table with all its rows; "" where it never was that
	known   []sql.Expression // conditions that hold of all rows, over base columns
	joined  bool             // the FROM item is a join, so it needs parentheses on the right of another
	links   []linkJoin       // joins within the FROM item that are there for a unit alone
	spared  []linkJoin       // such joins that are left out of the FROM item
}

// unit is the person of each row. merged is the index of the unit it is proven equal to, or its own.
type unit struct {
	expr   lower.Expr
	merged int
}

// column is one output column.
type column struct {
	id     sql.ColumnId
	name   string
	typ    sql.Type
	expr   lower.Expr
	origin sql.Expression // the value as an expression over base columns; nil when it is not one
	tags   []tag
	// extended marks a column of the null-extended side of an outer join: where it is not NULL its tags
	// hold, but it is not the unit of every row.
	extended bool
	required bool      // a column that the store keeps from being NULL
	scales   []float64 // declared standard deviations of its coordinates; nil: none
	// opaque marks a column whose store type the translation reads as NULL, in a query that has to be
	// answered as it is written: an expression over it does not translate.
	opaque bool
}

// tag says that the column determines a unit of the relation.
type tag struct {
	kind tagKind
	key  string // schema.table.column of the key; the entity for tagUnit
	unit int
}

type tagKind uint8

const (
	tagUnit tagKind = iota // the column is the unit
	tagLink                // the column refers to the enforced key named, whose row has the unit
	tagSelf                // the column is the column named, of the row that has the unit
)

// base is a column with a finite public domain, or one that may have it, carried through every
// SELECT below its use.
type base struct {
	id      sql.ColumnId
	typ     sql.Type
	expr    lower.Expr
	domains []catalog.Domain // where its public values come from, one a branch of a UNION ALL
	name    string
}

// declaredRange is the range that is declared for the column; nil where there is none, or several
// branches have one each.
func (b *base) declaredRange() *catalog.Range {
	if len(b.domains) != 1 {
		return nil
	}
	return b.domains[0].Range
}

// protected is one protected table that a relation touches.
type protected struct {
	name   string // schema.table
	policy catalog.Table
}

// resolve finds the columns of the relation for the translation of expressions.
func (r *relation) resolve(gf *expression.GetField) (lower.Expr, bool) {
	if c := r.find(gf); c != nil && !c.opaque {
		return c.expr, true
	}
	return lower.Expr{}, false
}

func (r *relation) find(gf *expression.GetField) *column {
	if gf.Id() == 0 {
		return nil
	}
	for i := range r.columns {
		if r.columns[i].id == gf.Id() {
			return &r.columns[i]
		}
	}
	return nil
}

// origin rewrites e over base columns; nil when a column in it has no origin.
func (r *relation) origin(ctx *sql.Context, e sql.Expression) sql.Expression {
	ok := true
	out, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			c := r.find(e)
			if c == nil || c.origin == nil {
				ok = false
				return e, transform.SameTree, nil
			}
			return c.origin, transform.NewTree, nil
		case *expression.Alias:
			return e.Child, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil || !ok {
		return nil
	}
	return out
}

func (r *relation) baseByID(id sql.ColumnId) *base {
	for i := range r.bases {
		if r.bases[i].id == id {
			return &r.bases[i]
		}
	}
	return nil
}

// clause returns the FROM and WHERE clauses.
func (r *relation) clause() string {
	s := " FROM " + r.from
	for _, j := range r.spared {
		s = strings.Replace(strings.Replace(s, "("+j.own+j.text+")", j.own, 1), j.own+j.text, j.own, 1)
	}
	if len(r.where) > 0 {
		s += " WHERE " + strings.Join(r.where, " AND ")
	}
	return s
}

// nest turns the relation into a derived table, so that its columns, units and bases become plain
// column references.
func (s *writer) nest(r *relation) (*relation, error) {
	if err := r.single(); err != nil {
		return nil, err
	}
	return s.nestAs(r, "", nil), nil
}

// nestAs builds the derived table; the suffix comes after the WHERE clause. With fixed column
// expressions (over the FROM item) the columns are those.
func (s *writer) nestAs(r *relation, suffix string, exprs []string) *relation {
	alias := s.alias()
	out := *r
	out.where, out.links, out.spared = nil, nil, nil
	out.joined = false
	out.columns = append([]column(nil), r.columns...)
	out.bases = append([]base(nil), r.bases...)
	out.units = append([]unit(nil), r.units...)
	var items []string
	ref := func(name string, e lower.Expr) lower.Expr {
		items = append(items, e.SQL+" AS "+name)
		return lower.Expr{SQL: alias + "." + name, Type: e.Type, Nullable: e.Nullable}
	}
	if r.isPrivate() {
		u := r.units[0]
		u.expr = ref("u", u.expr)
		out.units = []unit{u}
		for i := range out.columns {
			out.columns[i].tags = rootTags(r, out.columns[i].tags)
		}
	}
	for i := range out.columns {
		e := out.columns[i].expr
		if exprs != nil {
			e.SQL = exprs[i]
		}
		out.columns[i].expr = ref(fmt.Sprintf("c%d", i), e)
	}
	for i := range out.bases {
		out.bases[i].expr = ref(fmt.Sprintf("b%d", i), out.bases[i].expr)
	}
	if len(items) == 0 {
		items = []string{"1 AS one"}
	}
	out.from = "(SELECT " + strings.Join(items, ", ") + s.clause(r) + suffix + ") AS " + alias
	return &out
}

// rootTags rewrites tags to unit 0 where their unit is proven to be it; the others are dropped.
func rootTags(r *relation, tags []tag) []tag {
	var out []tag
	for _, t := range tags {
		if r.root(t.unit) == 0 {
			t.unit = 0
			out = append(out, t)
		}
	}
	return out
}

// filter adds a condition: a per-row function, so it changes nothing about the units, except that
// an equality of units in it joins them.
func (s *writer) filter(r *relation, cond sql.Expression) (*relation, error) {
	out := *r
	out.units = append([]unit(nil), r.units...)
	out.where = append([]string(nil), r.where...)
	for _, c := range tree.Conjuncts(cond) {
		if text, list, ok, err := s.listed(&out, c); err != nil {
			return nil, err
		} else if ok {
			out.where = append(out.where, text)
			out.reads = append(out.reads[:len(out.reads):len(out.reads)], list.reads...)
			continue
		}
		p, err := s.predicate(c, out.resolve)
		if err != nil {
			return nil, err
		}
		out.where = append(out.where, p.SQL)
		out.link(c, true)
		out.noteCondition(s.ctx, c)
	}
	return &out, nil
}

// noteCondition keeps a condition of the rows that is a function of base columns.
func (r *relation) noteCondition(ctx *sql.Context, cond sql.Expression) {
	if o := r.origin(ctx, cond); o != nil && len(tree.Fields(ctx, o)) > 0 {
		r.known = append(slices.Clone(r.known), o)
	}
}

// project computes output columns from expressions.
func (s *writer) project(r *relation, exprs []sql.Expression) (*relation, error) {
	if err := r.single(); err != nil {
		return nil, err
	}
	out := *r
	out.columns = make([]column, len(exprs))
	plain := true
	for i, e := range exprs {
		c := column{typ: e.Type(s.ctx), name: e.String()}
		if n, ok := e.(sql.Nameable); ok {
			c.name = n.Name()
		}
		if id, ok := e.(sql.IdExpression); ok {
			c.id = id.Id()
		}
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		if gf, ok := e.(*expression.GetField); ok {
			if src := r.find(gf); src != nil {
				c.expr, c.origin, c.tags, c.extended, c.scales, c.opaque = src.expr, src.origin, src.tags, src.extended, src.scales, src.opaque
				out.columns[i] = c
				continue
			}
		}
		x, err := s.lower(e, r.resolve)
		if err != nil {
			return nil, err
		}
		plain = plain && len(x.SQL) < 16
		c.expr, c.origin = x, r.origin(s.ctx, e)
		out.columns[i] = c
	}
	if plain {
		return &out, nil
	}
	return s.nest(&out)
}

// with adds conditions, which are over the FROM item.
func (r *relation) with(conds ...string) *relation {
	out := *r
	out.where = append(append([]string(nil), r.where...), conds...)
	return &out
}

// joinedWith joins a further FROM item, with which each row has at most one partner.
func (r *relation) joinedWith(item string, on []string) *relation {
	out := *r
	out.joined = true
	out.from = r.from + " JOIN " + item + " ON " + and(on)
	return &out
}
