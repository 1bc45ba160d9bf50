package keys

import (
	"encoding/json"
	"fmt"
	"strconv"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
)

// Mapping joins a relation with the public combinations of an image and returns the SQL of the
// value's index. Rows outside the image have no partner and drop out.
func (s *Finder) Mapping(r *rel.Relation, im *Image) (*rel.Relation, string) {
	if len(im.bases) == 0 {
		if len(im.Values) == 0 {
			r = r.With("FALSE")
		}
		return r, "0"
	}
	if lo, ok := im.consecutive(); ok {
		x := r.BaseByID(im.bases[0].ID).Expr.SQL
		hi := lo + int64(len(im.Values)) - 1
		return r.With(x + " BETWEEN " + strconv.FormatInt(lo, 10) + " AND " + strconv.FormatInt(hi, 10)), "(" + x + " - " + strconv.FormatInt(lo, 10) + ")"
	}
	alias := s.Writer.Alias()
	items := []string{"unnest(from_json(CAST(" + s.Writer.Bind(jsonList(im.index)) + " AS JSON), '[\"BIGINT\"]')) AS g"}
	outer, by := []string{"min(g) AS g"}, []string{}
	var on []string
	for i, b := range im.bases {
		name := "v" + strconv.Itoa(i)
		items = append(items, "unnest(from_json(CAST("+s.Writer.Bind(jsonList(im.tuples[i]))+" AS JSON), '[\"VARCHAR\"]')) AS "+name)
		b = r.BaseByID(b.ID)
		outer = append(outer, castText(name, b.Expr.Type)+" AS c"+strconv.Itoa(i))
		by = append(by, castText(name, b.Expr.Type))
		op := " = "
		for _, v := range im.tuples[i] {
			if v == nil {
				op = " IS NOT DISTINCT FROM "
			}
		}
		on = append(on, b.Expr.SQL+op+alias+".c"+strconv.Itoa(i))
	}
	// Grouping in the store makes the combinations distinct in the store's own sense of equality,
	// so that no row finds two partners: a person's row must not be in two groups.
	item := "(SELECT " + sqltext.List(outer) + " FROM (SELECT " + sqltext.List(items) + ") AS d GROUP BY " + sqltext.List(by) + ") AS " + alias
	return r.JoinedWith(item, on), alias + ".g"
}

// consecutive reports whether the image is one whole-number column as it is, over a run of numbers
// in order; then the index is a subtraction.
func (im *Image) consecutive() (int64, bool) {
	if len(im.bases) != 1 || len(im.index) == 0 || len(im.index) != len(im.Values) {
		return 0, false
	}
	if k := im.bases[0].Expr.Type.Kind; k != lower.Int {
		return 0, false
	}
	var lo int64
	for i, v := range im.tuples[0] {
		var x int64
		t, ok := v.(string)
		if !ok || im.index[i] != i {
			return 0, false
		}
		if _, err := fmt.Sscanf(t, "%d", &x); err != nil || strconv.FormatInt(x, 10) != t {
			return 0, false
		}
		if i == 0 {
			lo = x
		} else if x != lo+int64(i) {
			return 0, false
		}
	}
	return lo, true
}

// castText casts text to the type of a lowered column; the text is a public value that has the
// type.
func castText(x string, t lower.Type) string {
	switch t.Kind {
	case lower.Bool:
		return "CAST(" + x + " AS BOOLEAN)"
	case lower.Int:
		return "CAST(" + x + " AS BIGINT)"
	case lower.UInt:
		return "CAST(" + x + " AS UBIGINT)"
	case lower.Decimal:
		return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x, t.Precision, t.Scale)
	case lower.Double:
		return "CAST(" + x + " AS DOUBLE)"
	case lower.Date:
		return "CAST(" + x + " AS DATE)"
	case lower.Datetime:
		return "CAST(" + x + " AS TIMESTAMP)"
	}
	return x
}

// jsonList writes a list for one bound value.
func jsonList(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("planner: a public domain cannot be written: " + err.Error())
	}
	return string(b)
}
