package keys

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// Tuples are the values that several expressions have together on the rows of a relation: those of
// every row are among them but where one is NULL, which equals nothing. They are public, as images
// are, and one list whatever columns they are of: of two columns of one table it has the rows, not
// the product.
type Tuples struct {
	From  string // where they come from, for EXPLAIN
	rows  []sql.Row
	types []sql.Type
	lower []lower.Type
	index map[string]int // of each
}

// Len is the number of tuples.
func (t *Tuples) Len() int { return len(t.rows) }

// Tuples finds the tuples of expressions over a relation. It is nil where they are not public, or
// too many.
func (s *Finder) Tuples(r *rel.Relation, exprs []sql.Expression) (*Tuples, error) {
	t := &Tuples{index: map[string]int{}}
	for _, e := range exprs {
		x, err := s.Writer.Lower(e, r.Resolve)
		if err != nil {
			return nil, err
		}
		t.types, t.lower = append(t.types, standard.TypeOf(s.ctx, e)), append(t.lower, x.Type)
	}
	rows, limit, err := s.tuplesOf(r, exprs, t)
	if errors.Is(err, errText) {
		return nil, nil
	}
	if err != nil || rows == nil {
		return nil, err
	}
	for _, row := range rows {
		if !slices.Contains(row, nil) {
			t.index[t.name(row)] = len(t.rows)
			t.rows = append(t.rows, row)
		}
	}
	if len(t.rows) > limit {
		return nil, nil
	}
	return t, nil
}

// tuplesOf finds the values of expressions, and how many may be public; nil where they are not.
func (s *Finder) tuplesOf(r *rel.Relation, exprs []sql.Expression, t *Tuples) ([]sql.Row, int, error) {
	if !r.IsPrivate() {
		if rows, err := s.storedTuples(r, exprs, t); rows != nil || err != nil {
			return rows, MaxPublic, err
		}
	}
	origins := make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		if origins[i] = r.Origin(s.ctx, e); origins[i] == nil {
			return nil, 0, nil
		}
	}
	sp, rows, err := s.together(r, origins)
	if err != nil || rows == nil {
		return nil, 0, err
	}
	var limit int
	t.From, _, limit = sp.source()
	return rows, limit, nil
}

// Together returns the values that expressions over base columns have together on the rows of a
// relation: those of every row are among them, as far as the declared domains hold. It is nil where
// they are not public, or too many to try.
func (s *Finder) Together(r *rel.Relation, exprs []sql.Expression) ([]sql.Row, error) {
	_, rows, err := s.together(r, exprs)
	if errors.Is(err, errText) {
		return nil, nil
	}
	return rows, err
}

func (s *Finder) together(r *rel.Relation, exprs []sql.Expression) (*space, []sql.Row, error) {
	if err := lists.Each(exprs, func(e sql.Expression) error { return s.Writer.RunsOnBases(r, e) }); err != nil {
		return nil, nil, err
	}
	sp, over, err := s.spaceOf(s.factsOf(r), exprs)
	if err != nil || sp == nil || product(sp.vars) > MaxTried {
		return nil, nil, err
	}
	rows, ok, err := s.table(sp.vars, over, sp.tests)
	if err != nil || !ok {
		return nil, nil, err
	}
	return sp, rows, nil
}

// storedTuples reads the values that expressions have on public rows; nil where nothing evaluates
// queries.
func (s *Finder) storedTuples(r *rel.Relation, exprs []sql.Expression, t *Tuples) ([]sql.Row, error) {
	if s.Store == nil {
		return nil, nil
	}
	d := distinctRows{limit: MaxPublic + 2}
	for i, e := range exprs {
		x, err := s.Writer.Lower(e, r.Resolve)
		if err != nil {
			return nil, err
		}
		d.add(x.SQL, t.types[i])
	}
	out, err := d.read(s, r.Reads, s.Writer.Clause(r), s.Writer.Args())
	if err != nil || out == nil {
		return nil, err
	}
	var names []string
	for _, ref := range r.Reads {
		names = append(names, ref.String())
	}
	slices.Sort(names)
	t.From = "the public table " + strings.Join(slices.Compact(names), ", ")
	return out, nil
}

// name tells tuples apart.
func (t *Tuples) name(row sql.Row) string {
	var b strings.Builder
	for i, v := range row {
		text := fmt.Sprint(Text(t.types[i], v))
		fmt.Fprintf(&b, "%d:%s", len(text), text)
	}
	return b.String()
}

// Find returns the number of a tuple of values; false where it is none.
func (t *Tuples) Find(ctx *sql.Context, values sql.Row) (int, bool, error) {
	row := make(sql.Row, len(values))
	for i, v := range values {
		var err error
		if row[i], _, err = t.types[i].Convert(ctx, v); err != nil {
			return 0, false, err
		}
	}
	at, ok := t.index[t.name(row)]
	return at, ok, nil
}

// item is the tuples as a FROM item: their number g, their values c0, c1, and so on, and with a
// list of texts, one for each, the text v. Grouping makes them distinct in the store's own sense of
// equality, so that no row finds two.
func (s *Finder) item(t *Tuples, list string) string {
	inner, outer, columns := []string{"unnest(range(" + strconv.Itoa(len(t.rows)) + ")) AS g"}, []string{"min(g) AS g"}, []string{}
	for i, of := range t.lower {
		texts := lists.Map(t.rows, func(row sql.Row) any { return Text(t.types[i], row[i]) })
		name := "v" + strconv.Itoa(i)
		inner = append(inner, unnested(s.Writer.Bind(jsonList(texts)))+" AS "+name)
		columns = append(columns, castText(name, of))
		outer = append(outer, castText(name, of)+" AS c"+strconv.Itoa(i))
	}
	if list != "" {
		inner, outer = append(inner, unnested(list)+" AS v"), append(outer, "first(v ORDER BY g) AS v")
	}
	return "(SELECT " + sqltext.List(outer) + " FROM (SELECT " + sqltext.List(inner) + ") AS d GROUP BY " + sqltext.List(columns) + ")"
}

// equal compares expressions over a relation with the tuples of an item. The types have to be those
// of the tuples: then nothing is cast, which might fail on a row, and values are equal to one of
// them at most.
func (s *Finder) equal(r *rel.Relation, exprs []sql.Expression, t *Tuples, alias string) ([]string, error) {
	on := make([]string, len(exprs))
	for i, e := range exprs {
		x, err := s.Writer.Lower(e, r.Resolve)
		if err != nil {
			return nil, err
		}
		ok := x.Type == t.lower[i]
		switch x.Type.Kind {
		case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double, lower.String, lower.Date, lower.Datetime:
		default:
			ok = false
		}
		if !ok {
			return nil, rule.Deny(rule.Correlated, refuse.Shape, "CAST both to one type.", "%s is compared with a column around the subquery of another type, or of one without an order.", e)
		}
		on[i] = x.SQL + " = " + alias + ".c" + strconv.Itoa(i)
	}
	return on, nil
}

// Numbered joins a relation with tuples that expressions over it are compared with, and adds the
// number of each row's as the column id. The relation is then grouped by it.
func (s *Finder) Numbered(r *rel.Relation, exprs []sql.Expression, t *Tuples, id sql.ColumnId) (*rel.Relation, error) {
	alias := s.Writer.Alias()
	on, err := s.equal(r, exprs, t, alias)
	if err != nil {
		return nil, err
	}
	fixed := !slices.ContainsFunc(exprs, func(e sql.Expression) bool { return !r.Fixed(s.ctx, e) })
	return r.Numbered(rel.List{Item: s.item(t, "") + " AS " + alias, On: on, Number: alias + ".g", Len: len(t.rows), ID: id,
		Name: Names(exprs), From: t.From, Fixed: fixed}), nil
}

// Names are those of the columns that the tuples are of.
func Names(exprs []sql.Expression) string {
	return strings.Join(lists.Map(exprs, func(e sql.Expression) string { return e.String() }), ", ")
}

// Lookup is what rows around a subquery are compared with: of gives the text of a row's tuple in a
// list, none says that one of its values is NULL.
func (s *Finder) Lookup(r *rel.Relation, exprs []sql.Expression, t *Tuples) (of func(list string) string, none string, err error) {
	alias := s.Writer.Alias()
	on, err := s.equal(r, exprs, t, alias)
	if err != nil {
		return nil, "", err
	}
	nulls := make([]string, len(exprs))
	for i, e := range exprs {
		x, err := s.Writer.Lower(e, r.Resolve)
		if err != nil {
			return nil, "", err
		}
		nulls[i] = x.SQL + " IS NULL"
	}
	return func(list string) string {
		return "(SELECT " + alias + ".v FROM " + s.item(t, list) + " AS " + alias + " WHERE " + strings.Join(on, " AND ") + ")"
	}, "(" + strings.Join(nulls, " OR ") + ")", nil
}
