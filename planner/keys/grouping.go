package keys

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/catalog"
	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/planner/canon"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// Key is one grouping expression.
type Key struct {
	Expr  sql.Expression
	Type  sql.Type
	Name  string
	Image *Image // nil: the key is selected privately
}

// Of is the key of a shown value.
func (k *Key) Of(v any) any {
	w, ok := k.Expr.(*standard.Weighed)
	if s, text := v.(string); ok && text {
		return w.Of(s)
	}
	return v
}

// Grouping is what a GROUP BY groups by.
type Grouping struct {
	Keys    []Key // in the order of their texts
	Written []int // of each key as written, its place among Keys
	Public  bool  // all keys have images
	Groups  int   // combinations of public keys; 0 where a key is selected
	Empty   bool  // a key has an image without values: no row can have it
	// each person is in one group: the keys have one value on all rows of a person
	OneGroup bool
}

// Group finds the keys of a GROUP BY over a relation. It refuses more combinations of public keys
// than MaxPublic.
func (s *Finder) Group(r *rel.Relation, exprs []sql.Expression) (Grouping, error) {
	r = r.Computed()
	keys, err := s.Of(r, exprs)
	if err != nil {
		return Grouping{}, err
	}
	g := Grouping{Keys: keys, Public: true, Groups: 1, OneGroup: len(keys) > 0}
	for _, k := range keys {
		g.OneGroup = g.OneGroup && r.Fixed(s.ctx, k.Expr)
	}
	s.order(r, &g)
	if err := s.narrow(r, &g); err != nil {
		return Grouping{}, err
	}
	for _, k := range g.Keys {
		if k.Image == nil {
			g.Public = false
		} else if g.Empty = len(k.Image.Values) == 0; g.Empty {
			return g, nil
		}
	}
	if g.Groups = g.combinations(); g.Groups > MaxPublic {
		return g, tooMany()
	}
	if !g.Public {
		g.Groups = 0
	}
	return g, nil
}

// combinations is the number of combinations of public keys, MaxPublic+1 where there are more. As
// long as there are, the largest image that the planner found by itself is given up: its key is
// selected.
func (g *Grouping) combinations() int {
	for {
		n, largest := 1, -1
		for i, k := range g.Keys {
			if k.Image == nil {
				continue
			}
			n = min(n*len(k.Image.Values), MaxPublic+1)
			if k.Image.found && (largest < 0 || len(k.Image.Values) > len(g.Keys[largest].Image.Values)) {
				largest = i
			}
		}
		if n <= MaxPublic || largest < 0 {
			return n
		}
		g.Keys[largest].Image, g.Public = nil, false
	}
}

// Texts are the keys as they are written over a relation: equal keys share one.
func (s *Finder) Texts(r *rel.Relation, g *Grouping) []string {
	return lists.Map(g.Keys, func(k Key) string { return canon.Text(s.ctx, k.Expr, r.Resolve) })
}

// order puts the keys in the order of their texts, and remembers how they are written.
func (s *Finder) order(r *rel.Relation, g *Grouping) {
	texts := s.Texts(r, g)
	places := lists.Make(len(g.Keys), func(i int) int { return i })
	sort.SliceStable(places, func(i, j int) bool { return texts[places[i]] < texts[places[j]] })
	keys := make([]Key, len(g.Keys))
	g.Written = make([]int, len(g.Keys))
	for at, i := range places {
		keys[at], g.Written[i] = g.Keys[i], at
	}
	g.Keys = keys
}

// Exprs are the grouping expressions, in the order of Keys.
func (g *Grouping) Exprs() []sql.Expression {
	return lists.Map(g.Keys, func(k Key) sql.Expression { return k.Expr })
}

// Value is the shown value of key k in the combination of public keys of the given number, in the
// order in which GROUP BY names them.
func (g *Grouping) Value(at, k int) any { return g.Keys[k].Image.Shown()[g.place(at, k)] }

// Places are the indexes of the keys, in the order of Keys, in the combination of public keys of
// the given number, in the order in which GROUP BY names them.
func (g *Grouping) Places(at int) []int {
	return lists.Make(len(g.Keys), func(k int) int { return g.place(at, k) })
}

// place is the index of key k in the combination of public keys of the given number, in the order
// in which GROUP BY names them.
func (g *Grouping) place(at, k int) int {
	for i := len(g.Written) - 1; i >= 0; i-- {
		size := len(g.Keys[g.Written[i]].Image.Values)
		if g.Written[i] == k {
			return at % size
		}
		at /= size
	}
	panic("planner: a key that the GROUP BY does not name")
}

// Mapping joins a relation with the public values of a key and returns the SQL of the value's
// index. Rows with another value have no partner and drop out.
func (s *Finder) Mapping(r *rel.Relation, k Key) (*rel.Relation, string, error) {
	im := k.Image
	if len(im.Values) == 0 {
		return r.With("FALSE"), "0", nil
	}
	if im.constant {
		return r, "0", nil
	}
	x, err := s.Writer.Lower(k.Expr, r.Resolve)
	if err != nil {
		return nil, "", err
	}
	if lo, hi, ok := k.consecutive(x); ok {
		from := strconv.FormatInt(lo, 10)
		return r.With(x.SQL + " BETWEEN " + from + " AND " + strconv.FormatInt(hi, 10)), "(" + x.SQL + " - " + from + ")", nil
	}
	alias := s.Writer.Alias()
	texts := lists.Map(im.Values, func(v any) any { return Text(k.Type, v) })
	op := " = "
	if slices.Contains(texts, nil) {
		op = " IS NOT DISTINCT FROM "
	}
	// Grouping in the store makes the values distinct in the store's own sense of equality, so that
	// no row finds two partners: a person's row must not be in two groups.
	value := castText("v", x.Type)
	item := "(SELECT min(g) AS g, " + value + " AS c FROM (SELECT unnest(range(" + strconv.Itoa(len(texts)) + ")) AS g, " +
		unnested(s.Writer.Bind(jsonList(texts))) + " AS v) AS d GROUP BY " + value + ") AS " + alias
	return r.JoinedWith(item, []string{x.SQL + op + alias + ".c"}), alias + ".g", nil
}

// consecutive reports whether the key is a whole-number column as it is, and its values a run of
// numbers in order; then the index is a subtraction.
func (k Key) consecutive(x lower.Expr) (lo, hi int64, ok bool) {
	if _, plain := k.Expr.(*expression.GetField); !plain || x.Type.Kind != lower.Int {
		return 0, 0, false
	}
	for i, v := range k.Image.Values {
		text, _ := Text(k.Type, v).(string)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		if i == 0 {
			lo = n
		}
		if n != lo+int64(i) {
			return 0, 0, false
		}
		hi = n
	}
	return lo, hi, true
}

// MaxPublic bounds the product of the public domains of the group keys, and each domain.
const MaxPublic = 100000

// Image is the finite public image of a grouping expression: values among which that of every row
// is.
type Image struct {
	Values   []any
	labels   []any          // of keys of texts: a text that each is of, as Shown says; nil of others
	From     string         // where they come from, for EXPLAIN
	found    bool           // by the planner alone: no domain of it is declared
	constant bool           // without columns
	Rest     bool           // rows may have other values, and are in no group then
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
	of, text := []sql.Expression{e}, standard.Unkeyed(e)
	if text != e {
		of = append(of, text)
	}
	sp, exprs, err := s.spaceOf(k, of)
	if err == nil && sp == nil && text != e { // the conditions may list the keys
		of = of[:1]
		sp, exprs, err = s.spaceOf(k, of)
	}
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
	im.Rest = sp.rest
	if len(rows) > limit {
		return nil, nil
	}
	for _, row := range rows {
		at, known := im.index[RowName(row[:1])]
		if !known {
			im.index[RowName(row[:1])] = len(im.Values)
			im.Values, im.labels = append(im.Values, row[0]), append(im.labels, row[len(row)-1])
		} else if im.labels[at] != row[1] {
			im.labels[at] = row[0]
		}
	}
	if len(of) == 1 {
		im.labels = nil
	}
	if len(of) == 1 && text != e {
		im.labels = sp.typed(e, im)
	}
	return im, nil
}

// typed are the keys of texts as conditions spell them first.
func (sp *space) typed(key sql.Expression, im *Image) []any {
	out := slices.Clone(im.Values)
	name, ok := sp.identity(key)
	for _, c := range sp.conds {
		list, _ := equalTo(c, func(e sql.Expression) bool { x, is := sp.identity(e); return ok && is && x == name })
		for _, e := range list {
			v, _ := sp.constant(e)
			text, is := sp.constant(standard.Unkeyed(e))
			if at, known := im.index[RowName(sql.Row{v})]; is && known && out[at] == im.Values[at] {
				out[at] = text
			}
		}
	}
	return out
}

// Shown are the values as answers have them: of a key that stands for texts the public one among
// them, as a domain spells it, or the key where there are several.
func (im *Image) Shown() []any {
	if im.labels == nil {
		return im.Values
	}
	return im.labels
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

// Show is a value as answers have it, one that the image does not have as it is.
func (im *Image) Show(v any) any {
	if im != nil {
		if at, ok := im.index[RowName(sql.Row{v})]; ok {
			return im.Shown()[at]
		}
	}
	return v
}

// only is the image with the values of some places, in their order.
func (im *Image) only(kept func(i int) bool) *Image {
	out := *im
	out.Values, out.labels, out.index = nil, nil, map[string]int{}
	for i, v := range im.Values {
		if kept(i) {
			out.index[RowName(sql.Row{v})] = len(out.Values)
			out.Values = append(out.Values, v)
			if im.labels != nil {
				out.labels = append(out.labels, im.labels[i])
			}
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
func (s *Finder) Whole(r *rel.Relation, im *Image) bool { return !im.Rest && s.WholeOf(r, im.expr) }

// WholeOf reports the same of an expression over base columns: whether its public values have those
// of every row.
func (s *Finder) WholeOf(r *rel.Relation, e sql.Expression) bool {
	r = r.Computed()
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
