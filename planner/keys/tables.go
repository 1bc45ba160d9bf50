package keys

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// The columns of public tables are variables together: a row of the answer has values that one row
// of the tables has, and the conditions on any of their columns limit those of the others:
//
//	… JOIN movies m ON … WHERE m.id IN (356, 318) GROUP BY m.title          two titles
//	… nation n JOIN region r ON … WHERE r.name = 'ASIA' GROUP BY n.name     the nations of Asia
//
// A public table that joins bring no condition from is not read. The question is one of public
// tables alone.

// tables makes variables of the columns of public tables, one for those that conditions connect.
func (sp *space) tables(columns []*rel.Base) error {
	for len(columns) > 0 {
		group := sp.connected(columns[0])
		var mine, rest []*rel.Base
		for _, b := range columns {
			if slices.Contains(group.from, b.From) {
				mine = append(mine, b)
			} else {
				rest = append(rest, b)
			}
		}
		columns = rest
		wanted := lists.Set(lists.Map(mine, func(b *rel.Base) string { return b.From }))
		group.prune(wanted)
		if err := sp.addRows(mine, group); err != nil {
			return err
		}
	}
	return nil
}

// joined is public tables, by their FROM items, with the conditions on their rows.
type joined struct {
	from  []string
	refs  []store.TableRef
	conds []joinedCond
	bases []rel.Base // of the relation that joins them
}

type joinedCond struct {
	expr  sql.Expression
	from  []string
	equal bool // it makes columns of two tables equal
}

// connected is the public tables that equalities join with that of a column. A table of which an
// outer join makes rows of NULLs stands alone.
func (sp *space) connected(b *rel.Base) *joined {
	g := &joined{from: []string{b.From}, refs: []store.TableRef{b.Ref}, bases: sp.r.Bases}
	var all []joinedCond
	for _, c := range sp.conds {
		x := joinedCond{expr: c}
		usable := !sp.readsRow(c)
		for _, id := range tree.Fields(sp.f.ctx, c) {
			f := sp.r.BaseByID(id)
			if f == nil || f.From == "" || f.Extended && f.From != b.From || b.Extended && f.From != b.From {
				usable = false
				break
			}
			if !slices.Contains(x.from, f.From) {
				x.from = append(x.from, f.From)
			}
		}
		if !usable || len(x.from) == 0 {
			continue
		}
		if e, ok := c.(*expression.Equals); ok && len(x.from) == 2 {
			x.equal = sp.base(e.Left()) != nil && sp.base(e.Right()) != nil
		}
		all = append(all, x)
	}
	for grown := true; grown; {
		grown = false
		for _, c := range all {
			if !c.equal || slices.Contains(g.from, c.from[0]) == slices.Contains(g.from, c.from[1]) {
				continue
			}
			for i := range sp.r.Bases {
				if t := &sp.r.Bases[i]; slices.Contains(c.from, t.From) && !slices.Contains(g.from, t.From) {
					g.from, g.refs, grown = append(g.from, t.From), append(g.refs, t.Ref), true
				}
			}
		}
	}
	for _, c := range all {
		if !slices.ContainsFunc(c.from, func(f string) bool { return !slices.Contains(g.from, f) }) {
			g.conds = append(g.conds, c)
		}
	}
	return g
}

// prune takes out tables that are not wanted, have no condition but one equality of columns, and so
// tell nothing but that a partner exists.
func (g *joined) prune(wanted map[string]bool) {
	for {
		out := slices.IndexFunc(g.from, func(f string) bool {
			if wanted[f] {
				return false
			}
			partners := map[string]bool{}
			for _, c := range g.conds {
				if !slices.Contains(c.from, f) {
					continue
				}
				if !c.equal {
					return false
				}
				for _, p := range c.from {
					partners[p] = true
				}
			}
			return len(partners) <= 2 // itself and one other
		})
		if out < 0 {
			return
		}
		name := g.from[out]
		g.from, g.refs = slices.Delete(g.from, out, out+1), slices.Delete(g.refs, out, out+1)
		g.conds = slices.DeleteFunc(g.conds, func(c joinedCond) bool { return slices.Contains(c.from, name) })
	}
}

// addRows makes a variable of the distinct rows of columns of joined tables. Columns with too many
// rows have no public values.
func (sp *space) addRows(columns []*rel.Base, g *joined) error {
	v := &variable{}
	names := lists.Map(g.refs, func(t store.TableRef) string { return t.String() })
	slices.Sort(names)
	v.from = "the public table " + strings.Join(slices.Compact(names), ", ")
	rows, ok, err := sp.f.publicRows(columns, g)
	if err != nil {
		return err
	}
	if !ok {
		return sp.addEach(columns)
	}
	if len(rows) > MaxPublic {
		return nil
	}
	v.rows = rows
	for _, b := range columns {
		c := sp.virtual(b.Type, b.Expr.Type)
		v.columns, sp.reads[b.ID] = append(v.columns, c), c
	}
	sp.vars = append(sp.vars, v)
	return nil
}

// addEach makes a variable of each column by itself, where nothing evaluates queries.
func (sp *space) addEach(columns []*rel.Base) error {
	for _, b := range columns {
		values, ok, err := sp.f.Values(b)
		if err != nil {
			return err
		}
		if ok {
			sp.addColumn(b, values, "the public table "+b.Ref.String())
		}
	}
	return nil
}

// publicRows reads the distinct rows of columns of joined public tables, in ascending order with
// NULLs last, at most MaxPublic+1 of them; ok is false where nothing evaluates queries.
func (s *Finder) publicRows(columns []*rel.Base, g *joined) ([]sql.Row, bool, error) {
	if s.Store == nil {
		return nil, false, nil
	}
	b := new(lower.Binder)
	read := map[sql.ColumnId]lower.Expr{}
	for i := range g.bases {
		read[g.bases[i].ID] = g.bases[i].Expr
	}
	var where []string
	for _, c := range g.conds {
		x, err := lower.LowerPredicate(s.ctx, c.expr, b, func(gf *expression.GetField) (lower.Expr, bool) { e, ok := read[gf.Id()]; return e, ok })
		if err != nil {
			return nil, false, rule.By(rule.Expression, err)
		}
		where = append(where, x.SQL)
	}
	from := append([]string(nil), g.from...)
	if columns[0].Extended {
		// Its rows, and one of NULLs.
		from[0] = "(VALUES (TRUE), (FALSE)) AS n(v) LEFT JOIN " + from[0] + " ON n.v"
	}
	clause := " FROM " + sqltext.List(from)
	if len(where) > 0 {
		clause += " WHERE " + join(where, " AND ")
	}
	d := distinctRows{limit: MaxPublic + 1, first: true}
	for _, c := range columns {
		d.add(c.Expr.SQL, c.Type)
	}
	rows, err := d.read(s, g.refs, clause, b.Args())
	return rows, rows != nil, err
}

// distinctRows are the distinct rows that expressions have on public tables, in ascending order
// with NULLs last.
type distinctRows struct {
	items, order, nulls []string
	schema              sql.Schema
	limit               int
	first               bool // the limit is of the first ones, and not of any
}

// add adds an expression of the store's, and the type of its values.
func (d *distinctRows) add(text string, t sql.Type) {
	name := "c" + strconv.Itoa(len(d.items))
	d.items, d.nulls, d.order = append(d.items, text+" AS "+name), append(d.nulls, "NULL"), append(d.order, name+" ASC NULLS LAST")
	d.schema = append(d.schema, &sql.Column{Name: name, Type: t, Nullable: true})
}

// read reads the rows; nil where nothing evaluates queries. A last row, which is taken off, tells
// an answer without rows from none.
func (d *distinctRows) read(s *Finder, refs []store.TableRef, clause string, args []any) ([]sql.Row, error) {
	query := "SELECT DISTINCT " + sqltext.List(d.items) + clause
	if d.first {
		query += " ORDER BY " + sqltext.List(d.order)
	}
	query += " LIMIT " + strconv.Itoa(d.limit)
	query = "SELECT * FROM (SELECT *, CAST(1 AS BIGINT) AS h FROM (" + query + ") AS d UNION ALL SELECT " + sqltext.List(d.nulls) + ", CAST(0 AS BIGINT)) AS e ORDER BY h DESC, " + sqltext.List(d.order)
	rows, err := s.storeRows(refs, rel.Renumbered(plan.Scan{SQL: query, Args: args}), append(d.schema, &sql.Column{Name: "h", Type: types.Int64}))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return lists.Map(rows[:len(rows)-1], func(r sql.Row) sql.Row { return r[:len(d.items)] }), nil
}
