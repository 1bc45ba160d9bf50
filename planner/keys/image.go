package keys

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/rel"
	"scrim/planner/tree"
)

// MaxPublic bounds the product of the public domains of the group keys, and each domain.
const MaxPublic = 100000

// Image is the finite public image of a grouping expression: the values it takes on all
// combinations of its base columns' domains, and for each combination the index of its value.
type Image struct {
	Values []any
	bases  []*rel.Base
	// per base, the value of each combination as the store compares it (text or nil)
	tuples [][]any
	rows   []sql.Row // of each combination, until the values are known
	index  []int     // of each combination's value in values
}

// imageOf evaluates a grouping expression on every combination of the domains of its base columns.
// It is nil where a base column has no finite domain, or only one that the planner found by itself
// and that is too large.
func (s *Finder) imageOf(r *rel.Relation, e sql.Expression, t sql.Type) (*Image, error) {
	// Only what may run on protected rows may be a key: that also keeps clocks and random numbers
	// out.
	if err := s.Writer.RunsOnBases(r, e); err != nil {
		return nil, err
	}
	im := &Image{}
	var values [][]any
	position := map[sql.ColumnId]int{}
	total := 1
	for _, id := range tree.Fields(s.ctx, e) {
		if _, ok := position[id]; ok {
			continue
		}
		b := r.BaseByID(id)
		if b == nil {
			return nil, nil
		}
		v, finite, err := s.Values(b)
		if err != nil || !finite {
			return nil, err
		}
		position[id] = len(im.bases)
		im.bases = append(im.bases, b)
		values = append(values, v)
		if total *= len(v); total > MaxPublic {
			return nil, tooMany()
		}
	}
	indexed, err := s.placed(e, position)
	if err != nil {
		return nil, err
	}
	if err := s.combine(r, im, values); err != nil {
		return nil, err
	}
	stored, err := s.storeImage(e, t, im.bases, im.tuples)
	if err != nil {
		return nil, err
	}
	return s.imageValues(im, indexed, t, stored)
}

// combine lists the combinations of the base columns' values that the query's conditions leave.
func (s *Finder) combine(r *rel.Relation, im *Image, values [][]any) error {
	rows, tuples := product(im.bases, values)
	can, err := s.feasible(r, im.bases, rows, tuples)
	if err != nil {
		return err
	}
	im.tuples = make([][]any, len(im.bases))
	for c, row := range rows {
		if !can[c] {
			continue
		}
		im.rows = append(im.rows, row)
		for i := range tuples {
			im.tuples[i] = append(im.tuples[i], tuples[i][c])
		}
	}
	return nil
}

// imageValues computes the expression on every combination, unless the store has. One on which it
// fails has no group; where it fails on all, the evaluator does not know the expression, and the
// keys are selected.
func (s *Finder) imageValues(im *Image, indexed sql.Expression, t sql.Type, stored []any) (*Image, error) {
	seen := map[string]int{}
	tuples := make([][]any, len(im.bases))
	for c, row := range im.rows {
		var v any
		if ok := stored != nil; ok {
			v = stored[c]
		} else if v, ok = evaluate(s.ctx, indexed, row, t); !ok {
			continue
		}
		name := fmt.Sprintf("%T %v", v, v)
		at, known := seen[name]
		if !known {
			at = len(im.Values)
			seen[name] = at
			im.Values = append(im.Values, v)
		}
		for i := range tuples {
			tuples[i] = append(tuples[i], im.tuples[i][c])
		}
		im.index = append(im.index, at)
	}
	if len(im.rows) > 0 && len(im.index) == 0 {
		return nil, nil
	}
	im.tuples, im.rows = tuples, nil
	return im, nil
}

// evaluate computes a grouping expression on public values.
func evaluate(ctx *sql.Context, e sql.Expression, row sql.Row, t sql.Type) (any, bool) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return nil, false
	}
	if v == nil {
		return nil, true
	}
	v, _, err = t.Convert(ctx, v)
	return v, err == nil
}
