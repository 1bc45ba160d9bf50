package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/planner/rel"
	"scrim/planner/tree"
)

// A condition on columns with public domains decides which keys can have rows, and so does a column
// that two keys are made of:
//
//	SELECT status, COUNT(*) FROM orders WHERE status IN ('paid', 'open') GROUP BY status     two keys of the domain's four
//	SELECT YEAR(d), QUARTER(d), COUNT(*) FROM orders GROUP BY 1, 2                           no quarter in which no date of the domain lies
//
// Keys without rows whatever the data are leave the answer, as they do in MySQL. Nothing is learnt
// from it: domains and the text of the query decide alone. Where the planner takes a condition
// another way than the store does, a group is missing or empty; that is no loss of privacy either.

// feasible tells of each row of public values, as SQL values and as texts for the store, whether
// the known conditions on these columns may hold.
func (s *Finder) feasible(r *rel.Relation, bases []*rel.Base, rows []sql.Row, tuples [][]any) ([]bool, error) {
	out := make([]bool, len(rows))
	for i := range out {
		out[i] = true
	}
	place := map[sql.ColumnId]int{}
	for i, b := range bases {
		place[b.ID] = i
	}
	for _, c := range r.Known {
		if slices.ContainsFunc(tree.Fields(s.ctx, c), func(id sql.ColumnId) bool { _, ok := place[id]; return !ok }) {
			continue
		}
		stored, err := s.storeImage(c, nil, bases, tuples)
		if err != nil {
			return nil, err
		}
		x, err := s.placed(c, place)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if stored != nil {
				out[i] = out[i] && stored[i] == int64(1)
			} else {
				out[i] = out[i] && mayHold(s.ctx, x, rows[i])
			}
		}
	}
	return out, nil
}

// placed makes an expression over base columns read them at the given places of a row.
func (s *Finder) placed(e sql.Expression, place map[sql.ColumnId]int) (sql.Expression, error) {
	out, _, err := transform.Expr(s.ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if gf, ok := e.(*expression.GetField); ok {
			return gf.WithIndex(place[gf.Id()]), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, err
}

// mayHold reports whether a condition may hold on public values; one that fails to be evaluated
// may.
func mayHold(ctx *sql.Context, cond sql.Expression, row sql.Row) bool {
	v, err := sql.EvaluateCondition(ctx, cond, row)
	return err != nil || sql.IsTrue(v)
}

// product lists the combinations of values of base columns, as SQL values and, column by column, as
// texts for the store.
func product(bases []*rel.Base, values [][]any) (rows []sql.Row, tuples [][]any) {
	tuples = make([][]any, len(bases))
	total := 1
	for _, v := range values {
		total *= len(v)
	}
	for c := range total {
		row, rest := make(sql.Row, len(bases)), c
		for i := len(values) - 1; i >= 0; i-- {
			row[i] = values[i][rest%len(values[i])]
			rest /= len(values[i])
		}
		rows = append(rows, row)
		for i, x := range row {
			tuples[i] = append(tuples[i], Text(bases[i].Type, x))
		}
	}
	return rows, tuples
}

// Feasible tells of each combination of public keys, in the order in which GROUP BY names them,
// whether rows can have it; nil where all can.
func (s *Finder) Feasible(r *rel.Relation, g *Grouping) ([]bool, error) {
	var bounds []map[string]bool
	var of [][]int
	for _, part := range s.entangled(r, g) {
		m, err := s.combinations(r, g, part)
		if err != nil {
			return nil, err
		}
		if m != nil {
			bounds, of = append(bounds, m), append(of, part)
		}
	}
	if bounds == nil {
		return nil, nil
	}
	keep := make([]bool, g.Groups)
	index := make([]int, len(g.Keys))
	for at := range keep {
		for k := range index {
			index[k] = g.place(at, k)
		}
		keep[at] = true
		for i, m := range bounds {
			keep[at] = keep[at] && m[indexes(index, of[i])]
		}
	}
	return keep, nil
}

// entangled divides the keys into parts that share base columns or a condition, and returns those
// of more than one key.
func (s *Finder) entangled(r *rel.Relation, g *Grouping) [][]int {
	part := make([]int, len(g.Keys))
	for i := range part {
		part[i] = i
	}
	join := func(touches func(id sql.ColumnId) bool) {
		first := -1
		for k, key := range g.Keys {
			if !slices.ContainsFunc(key.Image.bases, func(b *rel.Base) bool { return touches(b.ID) }) {
				continue
			}
			if first < 0 {
				first = part[k]
			}
			for i, p := range part {
				if p == part[k] && i != k {
					part[i] = first
				}
			}
			part[k] = first
		}
	}
	for _, key := range g.Keys {
		for _, b := range key.Image.bases {
			join(func(id sql.ColumnId) bool { return id == b.ID })
		}
	}
	for _, c := range r.Known {
		ids := tree.Fields(s.ctx, c)
		join(func(id sql.ColumnId) bool { return slices.Contains(ids, id) })
	}
	var out [][]int
	for p := range g.Keys {
		var members []int
		for k := range g.Keys {
			if part[k] == p {
				members = append(members, k)
			}
		}
		if len(members) > 1 {
			out = append(out, members)
		}
	}
	return out
}

// combinations is the set of the values that the given keys can have together, each written by
// indexes; nil where there are too many to try.
func (s *Finder) combinations(r *rel.Relation, g *Grouping, keys []int) (map[string]bool, error) {
	place := map[sql.ColumnId]int{}
	var bases []*rel.Base
	var values [][]any
	total := 1
	for _, k := range keys {
		for _, b := range g.Keys[k].Image.bases {
			if _, ok := place[b.ID]; ok {
				continue
			}
			v, finite, err := s.Values(b)
			if err != nil || !finite {
				return nil, err
			}
			place[b.ID] = len(bases)
			bases, values = append(bases, b), append(values, v)
			if total *= len(v); total > MaxPublic {
				return nil, nil
			}
		}
	}
	rows, tuples := product(bases, values)
	can, err := s.feasible(r, bases, rows, tuples)
	if err != nil {
		return nil, err
	}
	lookUp := make([]map[string]int, len(g.Keys))
	for _, k := range keys {
		lookUp[k] = g.Keys[k].Image.byTuple()
	}
	set := map[string]bool{}
	index := make([]int, len(g.Keys))
	for c := range rows {
		for _, k := range keys {
			var tuple []string
			for _, b := range g.Keys[k].Image.bases {
				tuple = append(tuple, fmt.Sprint(tuples[place[b.ID]][c]))
			}
			at, ok := lookUp[k][strings.Join(tuple, "\x00")]
			index[k], can[c] = at, can[c] && ok
		}
		if can[c] {
			set[indexes(index, keys)] = true
		}
	}
	return set, nil
}

// byTuple finds the index of a value of the image by the values of its base columns.
func (im *Image) byTuple() map[string]int {
	m := map[string]int{}
	for c, at := range im.index {
		var tuple []string
		for i := range im.bases {
			tuple = append(tuple, fmt.Sprint(im.tuples[i][c]))
		}
		m[strings.Join(tuple, "\x00")] = at
	}
	return m
}

func indexes(index, of []int) string {
	var b strings.Builder
	for _, k := range of {
		fmt.Fprint(&b, index[k], " ")
	}
	return b.String()
}
