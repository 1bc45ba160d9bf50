package lower

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/lists"
	"scrim/planner/tree"
)

// MayExceed reports whether a function in e may be NULL because its text would be longer than the
// store is asked to make, by the types of its columns and by its constants. Outside the store such
// a text is itself, or NULL with a warning beyond max_allowed_packet.
func MayExceed(ctx *sql.Context, e sql.Expression) bool {
	return tree.Contains(ctx, e, func(e sql.Expression) bool {
		f, ok := e.(sql.FunctionExpression)
		return ok && longer[functionName(f)] != nil && longer[functionName(f)](ctx, f.Children()) > maxText
	})
}

// unbounded is the length of a text of which nothing is known; sums of a few do not overflow.
const unbounded = math.MaxInt64 / 1024

const (
	valueText = 128 // no number and no time has a longer text
	runeText  = 4   // bytes of a character
)

func functionName(f sql.FunctionExpression) string { return strings.ToLower(f.FunctionName()) }

// longer are the functions that make text longer, with what the store compares with maxText: the
// length of the result in bytes, or a bound of it.
var longer map[string]func(*sql.Context, []sql.Expression) int64

// shorter are functions whose text is no longer than twice that of an argument: letters of another
// case may have more bytes.
var shorter = lists.Words("lower lcase upper ucase trim ltrim rtrim reverse substring_index left right substring substr mid")

// fixed are functions of short texts.
var fixed = lists.Words("md5 sha sha1 sha2 dayname monthname format bin oct conv")

func init() {
	longer = map[string]func(*sql.Context, []sql.Expression) int64{
		"concat": func(ctx *sql.Context, args []sql.Expression) (n int64) {
			for _, a := range args {
				n = min(n+longest(ctx, a), unbounded)
			}
			return n
		},
		"concat_ws": func(ctx *sql.Context, args []sql.Expression) int64 {
			separator := longest(ctx, args[0])
			n := separator
			for _, a := range args[1:] {
				n = min(n+separator+longest(ctx, a), unbounded)
			}
			return n
		},
		"replace": func(ctx *sql.Context, args []sql.Expression) int64 {
			return product(longest(ctx, args[0]), max(1, longest(ctx, args[2])))
		},
		"repeat": func(ctx *sql.Context, args []sql.Expression) int64 {
			return product(longest(ctx, args[0]), count64(ctx, args[1]))
		},
		"space": func(ctx *sql.Context, args []sql.Expression) int64 { return count64(ctx, args[0]) },
		"hex":   func(ctx *sql.Context, args []sql.Expression) int64 { return product(longest(ctx, args[0]), 2) },
		"lpad":  padded,
		"rpad":  padded,
	}
}

// padded is in characters.
func padded(ctx *sql.Context, args []sql.Expression) int64 { return count64(ctx, args[1]) }

// product multiplies lengths, neither of which is negative.
func product(a, b int64) int64 {
	if a != 0 && b > unbounded/a {
		return unbounded
	}
	return a * b
}

// count64 is the value of an integer constant that counts, unbounded of what is none.
func count64(ctx *sql.Context, e sql.Expression) int64 {
	lit, ok := e.(*expression.Literal)
	if !ok || lit.Value() == nil {
		return unbounded
	}
	n, _, err := types.Int64.Convert(ctx, lit.Value())
	if err != nil {
		return unbounded
	}
	return min(max(n.(int64), 0), unbounded)
}

// longest bounds the text of an expression's value, in bytes.
func longest(ctx *sql.Context, e sql.Expression) int64 {
	switch e := e.(type) {
	case *expression.Literal:
		if s, ok := e.Value().(string); ok {
			return int64(len(s))
		}
	case *expression.Alias:
		return longest(ctx, e.Child)
	case *expression.Wrapper:
		return longest(ctx, e.Unwrap())
	case *expression.Convert:
		return max(longest(ctx, e.Child), valueText)
	case *expression.Case:
		return longestOf(ctx, e.Children())
	case sql.FunctionExpression:
		if n, ok := longestCall(ctx, functionName(e), e.Children()); ok {
			return n
		}
	}
	return longestOfType(ctx, e.Type(ctx))
}

// longestCall is longest of a function, if it is known.
func longestCall(ctx *sql.Context, name string, args []sql.Expression) (int64, bool) {
	switch {
	case longer[name] != nil:
		n := longer[name](ctx, args)
		if name == "lpad" || name == "rpad" {
			n = product(n, runeText)
		}
		return n, true
	case name == "left", name == "right":
		return min(longest(ctx, args[0]), product(count64(ctx, args[1]), runeText)), true
	case shorter[name] && len(args) == 3 && name != "substring_index":
		return min(longest(ctx, args[0]), product(count64(ctx, args[2]), runeText)), true
	case shorter[name]:
		return product(longestOf(ctx, args), 2), true
	case fixed[name]:
		return valueText, true
	case name == "if":
		return longestOf(ctx, args[1:]), true
	case name == "coalesce", name == "ifnull", name == "nullif", name == "greatest", name == "least":
		return longestOf(ctx, args), true
	}
	return 0, false
}

func longestOf(ctx *sql.Context, list []sql.Expression) (n int64) {
	for _, e := range list {
		n = max(n, longest(ctx, e))
	}
	return n
}

// longestOfType bounds the values of a type. Computed texts have a type of any length.
func longestOfType(ctx *sql.Context, t sql.Type) int64 {
	switch t := t.(type) {
	case sql.StringType:
		return min(t.MaxByteLength(), unbounded)
	case sql.EnumType, sql.SetType:
		return min(int64(t.MaxTextResponseByteLength(ctx)), maxText)
	}
	if types.IsText(t) || types.IsJSON(t) {
		return unbounded
	}
	return valueText
}
