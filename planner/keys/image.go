package keys

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// MaxPublic bounds the product of the public domains of the group keys, and each domain.
const MaxPublic = 100000

// Image is the finite public image of a grouping expression: values among which that of every row
// is.
type Image struct {
	Values   []any
	From     string         // where they come from, for EXPLAIN
	found    bool           // by the planner alone: no domain of it is declared
	constant bool           // without columns
	index    map[string]int // of each value in Values
	expr     sql.Expression // over base columns
}

// imageOf evaluates a grouping expression over base columns on the public values of what it is made
// of. It is nil where they are not public, or where the planner found them by itself and they are
// too many.
func (s *Finder) imageOf(k *facts, e sql.Expression) (*Image, error) {
	// Only what may run on protected rows may be a key: that also keeps clocks and random numbers
	// out.
	if err := s.Writer.RunsOnBases(k.r, e); err != nil {
		return nil, err
	}
	im, err := s.imageIn(k, e)
	if errors.Is(err, errText) {
		return nil, nil
	}
	return im, err
}

func (s *Finder) imageIn(k *facts, e sql.Expression) (*Image, error) {
	sp, exprs, err := s.spaceOf(k, []sql.Expression{e})
	if err != nil || sp == nil {
		return nil, err
	}
	if product(sp.vars) > MaxTried {
		if slices.ContainsFunc(sp.vars, func(v *variable) bool { return v.found || v.run != nil }) {
			return nil, nil
		}
		return nil, tooMany()
	}
	rows, ok, err := s.table(sp.vars, exprs, sp.tests)
	if err != nil || !ok {
		return nil, err
	}
	im := &Image{index: map[string]int{}, expr: e, constant: len(tree.Fields(s.ctx, e)) == 0}
	var limit int
	im.From, im.found, limit = sp.source()
	if len(rows) > limit {
		return nil, nil
	}
	for i, row := range rows {
		im.Values = append(im.Values, row[0])
		im.index[RowName(row)] = i
	}
	return im, nil
}

// source tells where the values of a space come from, for EXPLAIN, whether the planner found some
// of them by itself, and how many values of an expression over it may be public.
func (sp *space) source() (from string, found bool, limit int) {
	from, limit = "the text of the query", MaxPublic
	for i, v := range sp.vars {
		if i == 0 {
			from = v.from
		} else if !strings.Contains(from, v.from) {
			from += ", " + v.from
		}
		found = found || v.found
	}
	if found {
		limit = MaxFound
	}
	return from, found, limit
}

// only is the image with the values of some places, in their order.
func (im *Image) only(kept func(i int) bool) *Image {
	out := *im
	out.Values, out.index = nil, map[string]int{}
	for i, v := range im.Values {
		if kept(i) {
			out.index[RowName(sql.Row{v})] = len(out.Values)
			out.Values = append(out.Values, v)
		}
	}
	return &out
}

// bases are the columns that the values of an expression follow from.
func (s *Finder) bases(r *rel.Relation, e sql.Expression) []*rel.Base {
	var out []*rel.Base
	for _, id := range tree.Fields(s.ctx, e) {
		if b := r.BaseByID(id); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// Whole reports whether every row has one of the values, as far as the declared domains hold. A
// column with a domain may be NULL beside it, unless the store keeps it from that, a condition of
// the query does, or the domain has NULL itself.
func (s *Finder) Whole(r *rel.Relation, im *Image) bool { return s.WholeOf(r, im.expr) }

// WholeOf reports the same of an expression over base columns: whether its public values have those
// of every row.
func (s *Finder) WholeOf(r *rel.Relation, e sql.Expression) bool {
	k := s.factsOf(r)
	for _, b := range s.bases(r, e) {
		listed := slices.ContainsFunc(b.Domains, func(d catalog.Domain) bool { return d.Null || slices.Contains(d.Values, nil) })
		excluded := slices.ContainsFunc(k.conds, func(c sql.Expression) bool {
			ids := tree.Fields(s.ctx, c)
			return len(ids) > 0 && !slices.ContainsFunc(ids, func(id sql.ColumnId) bool { return id != b.ID }) && !k.holdsOfNull(c)
		})
		if b.From == "" && (!b.Required || b.Extended) && !listed && !excluded {
			return false
		}
	}
	return true
}
