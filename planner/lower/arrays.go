package lower

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"scrim/internal/refuse"
)

// arrayType is the store's type of fixed-size arrays and of lists: the element's type, and the size
// of an array.
var arrayType = regexp.MustCompile(`^(.*[^\]])\[(\d*)\]$`)

// numberType is the store's types of numbers.
var numberType = regexp.MustCompile(`^(BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\))$`)

// arrayOf returns the type of a column of arrays or lists, its store type in upper case.
func arrayOf(t string) Type {
	a := Type{Kind: Array}
	if m := arrayType.FindStringSubmatch(t); m != nil && numberType.MatchString(m[1]) {
		a.Numbers = true
		a.Length, _ = strconv.Atoi(m[2])
	}
	return a
}

// vectors is the functions that make arrays and take them apart.
var vectors = []entry{
	{names: "dp_vector", signature: "DP_VECTOR(a, b, …)", remark: "for the aggregates of vectors", lower: func(l *lowerer, c *call) (Expr, error) {
		n := len(c.args)
		parts, present := make([]string, n), []string(nil)
		for i, x := range c.args {
			x = l.tight(l.toDouble(x))
			if parts[i] = x.SQL; x.Nullable {
				present = append(present, x.SQL+" IS NOT NULL")
			}
		}
		// CASE knows lists, not arrays.
		list := "[" + strings.Join(parts, ", ") + "]"
		if len(present) > 0 {
			list = "CASE WHEN " + strings.Join(present, " AND ") + " THEN " + list + " END"
		}
		return Expr{SQL: fmt.Sprintf("CAST(%s AS DOUBLE[%d])", list, n), Type: Type{Kind: Array, Length: n, Numbers: true}, Nullable: len(present) > 0}, nil
	}},
	{names: "dp_value", signature: "DP_VALUE(v, i)", remark: "a constant i; v an array or list of numbers", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		x := c.args[0]
		i, ok := c.constantInt(1)
		switch {
		case x.Type.Kind == Null:
			return null(), nil
		case !ok:
			return Expr{}, c.needConstant("position")
		case x.Type.Kind != Array || !x.Type.Numbers:
			return Expr{}, refuse.New(refuse.Expression, "DP_VALUE takes an array or list of numbers on protected rows.").
				With("Work on the answer: DP_VALUE(DP_MEAN(v, 'dimension=…'), i).")
		case i < 1 || i > maxElement || x.Type.Length > 0 && i > int64(x.Type.Length):
			return maybe(Double, "CAST(NULL AS DOUBLE)"), nil
		}
		return loose(fmt.Sprintf("CAST((%s)[%d] AS DOUBLE)", x.SQL, i)), nil
	}},
}

// maxElement bounds positions in lists.
const maxElement = 1 << 30

// MaxLength is the length of the store's longest arrays.
const MaxLength = 100_000

// Vector returns x as DOUBLE[n], NULL where it holds no n elements: an array of numbers of that
// size, a list of numbers, or JSON or text that is an array. What an element is that is no number,
// or NULL, comes out as a NULL element; NaN and infinities come out as they are. false where the
// type of x cannot be it.
func Vector(x Expr, n int) (Expr, bool) {
	if n < 1 || n > MaxLength {
		return Expr{}, false
	}
	l := &lowerer{}
	sized := func(list string, name func(string, func(string) string) string) string {
		return name(list, func(r string) string { return fmt.Sprintf("CASE WHEN len(%[1]s) = %[2]d THEN %[1]s END", r, n) })
	}
	text := x.SQL
	switch {
	case x.Type.Kind == Array && !x.Type.Numbers:
		return Expr{}, false
	case x.Type.Kind == Array && x.Type.Length > 0:
		if x.Type.Length != n {
			return Expr{}, false
		}
	case x.Type.Kind == Array:
		text = sized(text, l.let)
	case x.Type.Kind == JSON || x.Type.Kind == String:
		// json_transform raises on what is no JSON, and only on that: values of other kinds come
		// out NULL.
		text = l.let(text, func(r string) string {
			return "json_transform(CASE WHEN json_valid(" + r + ") THEN " + r + ` END, '["DOUBLE"]')`
		})
		text = sized(text, l.name)
	default:
		return Expr{}, false
	}
	// A list that is NULL casts to an array that is NULL; one of another length would raise.
	return Expr{SQL: fmt.Sprintf("CAST(%s AS DOUBLE[%d])", text, n), Type: Type{Kind: Array, Length: n, Numbers: true}, Nullable: x.Nullable || x.Type.Length == 0}, true
}
