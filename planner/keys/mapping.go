package keys

import (
	"slices"
	"strconv"

	"scrim/planner/lower"
	"scrim/planner/rel"

	"github.com/dolthub/go-mysql-server/sql/expression"
)

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
	texts := make([]any, len(im.Values))
	for i, v := range im.Values {
		texts[i] = Text(k.Type, v)
	}
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
