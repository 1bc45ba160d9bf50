package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// MaxPublicGroups bounds the product of the public domains of the group keys, and each domain.
const MaxPublicGroups = 100000

// image is the finite public image of a grouping expression: the values it takes on all
// combinations of its base columns' domains, and for each combination the index of its value.
type image struct {
	values []any
	bases  []*rel.Base
	tuples [][]any   // per base, the value of each combination as the store compares it (text or nil)
	rows   []sql.Row // of each combination, until the values are known
	index  []int     // of each combination's value in values
}

// groupKey is one grouping expression.
type groupKey struct {
	expr  sql.Expression
	typ   sql.Type
	name  string
	image *image // nil: the key is selected privately
}

// groupKeys finds the image of every grouping expression.
func (s *statement) groupKeys(r *rel.Relation, exprs []sql.Expression) ([]groupKey, error) {
	keys := make([]groupKey, len(exprs))
	for i, e := range exprs {
		e = tree.Unalias(e)
		k := groupKey{expr: e, typ: e.Type(s.ctx), name: e.String()}
		if err := s.NoSubquery(e); err != nil {
			return nil, err
		}
		if o := r.Origin(s.ctx, e); o != nil {
			im, err := s.imageOf(r, o, k.typ)
			if err != nil {
				return nil, err
			}
			k.image = im
		}
		keys[i] = k
	}
	return keys, nil
}

// imageOf evaluates a grouping expression on every combination of the domains of its base columns.
// It is nil where a base column has no finite domain, or only one that the planner found by itself
// and that is too large.
func (s *statement) imageOf(r *rel.Relation, e sql.Expression, t sql.Type) (*image, error) {
	// Only what may run on protected rows may be a key: that also keeps clocks and random numbers out.
	if err := s.RunsOnBases(r, e); err != nil {
		return nil, err
	}
	im := &image{}
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
		v, finite, err := s.domainValues(b)
		if err != nil || !finite {
			return nil, err
		}
		position[id] = len(im.bases)
		im.bases = append(im.bases, b)
		values = append(values, v)
		if total *= len(v); total > MaxPublicGroups {
			return nil, tooManyGroups()
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
func (s *statement) combine(r *rel.Relation, im *image, values [][]any) error {
	rows, tuples := product(im.bases, values)
	can, err := s.possible(r, im.bases, rows, tuples)
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

// imageValues computes the expression on every combination, unless the store has. One on which it fails has no group; where it fails on all, the
// evaluator does not know the expression, and the keys are selected.
func (s *statement) imageValues(im *image, indexed sql.Expression, t sql.Type, stored []any) (*image, error) {
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
			at = len(im.values)
			seen[name] = at
			im.values = append(im.values, v)
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

// domainValues lists the public values of a base column as SQL values of its type, each once.
func (s *statement) domainValues(b *rel.Base) ([]any, bool, error) {
	var out []any
	seen := map[string]bool{}
	for _, d := range b.Domains {
		v, finite, err := s.oneDomain(d, b)
		if err != nil || !finite {
			return nil, false, err
		}
		for _, x := range v {
			if x != nil {
				c, in, err := b.Type.Convert(s.ctx, x)
				if err != nil || in != sql.InRange {
					return nil, false, rule.Deny(rule.Domain, refuse.GroupKeys, "A DBA declares the domain again with dp_set_domain.",
						"The domain of %s has a value that is not of type %s.", b.Name, b.Type)
				}
				x = c
			}
			if name := fmt.Sprintf("%T %v", x, x); !seen[name] {
				seen[name] = true
				out = append(out, x)
			}
		}
	}
	return out, true, nil
}

func (s *statement) oneDomain(d catalog.Domain, b *rel.Base) ([]any, bool, error) {
	switch {
	case d.Values != nil:
		if len(d.Values) > MaxPublicGroups {
			return nil, false, tooManyGroups()
		}
		return d.Values, true, nil
	case d.Range != nil:
		// A range is a key set for whole numbers only.
		switch b.Expr.Type.Kind {
		case lower.Int, lower.UInt, lower.Bool:
		default:
			return nil, false, nil
		}
		lo, hi := math.Ceil(d.Range.Min), math.Floor(d.Range.Max)
		if hi-lo >= MaxPublicGroups {
			return nil, false, nil
		}
		var v []any
		for x := lo; x <= hi; x++ {
			v = append(v, int64(x))
		}
		return v, true, nil
	case d.Source != nil:
		if s.p.config.Domains == nil || s.catalog.Table(d.Source.Table).State != catalog.Public {
			return nil, false, rule.Deny(rule.Domain, refuse.GroupKeys, "A DBA declares the table public, or lists the values.",
				"The domain of %s comes from %s, which is not a public table.", b.Name, d.Source.Table)
		}
		v, err := s.p.config.Domains.Values(s.ctx, *d.Source, MaxPublicGroups)
		if err != nil {
			return nil, false, err
		}
		return v, len(v) <= MaxPublicGroups, nil
	}
	return nil, false, nil
}

func tooManyGroups() error {
	return rule.Deny(rule.GroupSize, refuse.GroupKeys, "Group by fewer or coarser keys, or filter the answer of a smaller query.",
		"The public domains of the group keys have more than %d combinations.", MaxPublicGroups)
}

// storeText writes an SQL value as text that the store casts to the column's type; nil is NULL.
func storeText(t sql.Type, v any) any {
	if e, ok := t.(sql.EnumType); ok && v != nil {
		if n, ok := tree.Float(v); ok {
			if name, ok := e.At(int(n)); ok {
				return name
			}
		}
	}
	switch x := v.(type) {
	case nil:
		return nil
	case time.Time:
		if x.Hour() == 0 && x.Minute() == 0 && x.Second() == 0 && x.Nanosecond() == 0 {
			return x.Format("2006-01-02")
		}
		return x.Format("2006-01-02 15:04:05.999999")
	case []byte:
		return string(x)
	case bool:
		if x {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(v)
}

// mapping joins a relation with the public combinations of an image and returns the SQL of the
// value's index. Rows outside the image have no partner and drop out.
func (s *statement) mapping(r *rel.Relation, im *image) (*rel.Relation, string) {
	if len(im.bases) == 0 {
		if len(im.values) == 0 {
			r = r.With("FALSE")
		}
		return r, "0"
	}
	if lo, ok := im.consecutive(); ok {
		x := r.BaseByID(im.bases[0].ID).Expr.SQL
		hi := lo + int64(len(im.values)) - 1
		return r.With(x + " BETWEEN " + strconv.FormatInt(lo, 10) + " AND " + strconv.FormatInt(hi, 10)), "(" + x + " - " + strconv.FormatInt(lo, 10) + ")"
	}
	alias := s.Alias()
	items := []string{"unnest(from_json(CAST(" + s.Bind(jsonList(im.index)) + " AS JSON), '[\"BIGINT\"]')) AS g"}
	outer, by := []string{"min(g) AS g"}, []string{}
	var on []string
	for i, b := range im.bases {
		name := "v" + strconv.Itoa(i)
		items = append(items, "unnest(from_json(CAST("+s.Bind(jsonList(im.tuples[i]))+" AS JSON), '[\"VARCHAR\"]')) AS "+name)
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
	// Grouping in the store makes the combinations distinct in the store's own sense of equality, so
	// that no row finds two partners: a person's row must not be in two groups.
	item := "(SELECT " + sqltext.List(outer) + " FROM (SELECT " + sqltext.List(items) + ") AS d GROUP BY " + sqltext.List(by) + ") AS " + alias
	return r.JoinedWith(item, on), alias + ".g"
}

// consecutive reports whether the image is one whole-number column as it is, over a run of numbers
// in order; then the index is a subtraction.
func (im *image) consecutive() (int64, bool) {
	if len(im.bases) != 1 || len(im.index) == 0 || len(im.index) != len(im.values) {
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

// castText casts text to the type of a lowered column; the text is a public value that has the type.
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
