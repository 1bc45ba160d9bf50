package lower

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"scrim/internal/collation"
	"scrim/internal/refuse"
)

// maxText bounds, in bytes, what a function that makes text longer may give; beyond it the result
// is NULL. Without it a row could exhaust the store's memory.
const maxText = 65535

// stringFunctions is the functions of text. Other kinds are converted as CAST(x AS CHAR) does.
var stringFunctions = []entry{
	{names: "lower lcase", signature: "LOWER(s)", lower: word("lower(%s)")},
	{names: "upper ucase", signature: "UPPER(s)", lower: upper},
	{names: "length octet_length", signature: "LENGTH(s)", lower: count("CAST(strlen(%s) AS BIGINT)")},
	{names: "bit_length", signature: "BIT_LENGTH(s)", lower: count("CAST(strlen(%s)*8 AS BIGINT)")},
	{names: "character_length char_length", signature: "CHAR_LENGTH(s)", lower: count("CAST(length(%s) AS BIGINT)")},
	{names: "concat", signature: "CONCAT(s, …)", remark: "NULL beyond 65535 bytes", lower: func(l *lowerer, c *call) (Expr, error) {
		return maybe(String, l.texted(c, func(parts, total []string) string {
			return short(strings.Join(total, " + "), "("+strings.Join(parts, " || ")+")")
		})), nil
	}},
	{names: "concat_ws", signature: "CONCAT_WS(separator, s, …)", remark: "NULL beyond 65535 bytes", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		for i := range c.args {
			if err := c.onlyScalar(i); err != nil {
				return Expr{}, err
			}
		}
		return maybe(String, l.texted(c, func(parts, total []string) string {
			for i := 1; i < len(total); i++ {
				total[i] = "COALESCE(" + total[i] + " + " + total[0] + ", 0)"
			}
			return short(strings.Join(total, " + "), "concat_ws("+strings.Join(parts, ", ")+")")
		})), nil
	}},
	{names: "substring substr mid", signature: "SUBSTRING(s, position [, length])", lower: substring},
	{names: "left", signature: "LEFT(s, n)", lower: func(l *lowerer, c *call) (Expr, error) {
		s, n := l.toString(c.args[0]), l.bounded(c.args[1], 0)
		return maybe(String, "substring("+s.SQL+", 1, "+n+")"), nil
	}},
	{names: "right", signature: "RIGHT(s, n)", lower: func(l *lowerer, c *call) (Expr, error) {
		s, n := l.toString(c.args[0]), l.bounded(c.args[1], 0)
		return maybe(String, "right("+s.SQL+", "+n+")"), nil
	}},
	{names: "trim", signature: "TRIM([BOTH | LEADING | TRAILING] [pattern FROM] s)", remark: "a constant pattern", lower: trim},
	{names: "ltrim", signature: "LTRIM(s)", lower: word("ltrim(%s, ' ')")},
	{names: "rtrim", signature: "RTRIM(s)", lower: word("rtrim(%s, ' ')")},
	{names: "replace", signature: "REPLACE(s, from, to)", remark: "NULL beyond 65535 bytes", lower: func(l *lowerer, c *call) (Expr, error) {
		return maybe(String, l.texted(c, func(parts, total []string) string {
			// The text that is searched is cut so that no other row's becomes longer than maxText.
			parts[0] = fmt.Sprintf("substring(%s, 1, %d // greatest(1, %s))", parts[0], maxText, total[2])
			return short(total[0]+" * greatest(1, "+total[2]+")", "replace("+strings.Join(parts, ", ")+")")
		})), nil
	}},
	{names: "instr", signature: "INSTR(s, part)", lower: func(l *lowerer, c *call) (Expr, error) {
		xs, err := l.folded(c, 0, 1)
		if err != nil {
			return Expr{}, err
		}
		s, p := xs[0], xs[1]
		return of(Int, "CAST(instr("+s.SQL+", "+p.SQL+") AS BIGINT)", s, p), nil
	}},
	{names: "locate position", signature: "LOCATE(part, s [, position])", lower: locate},
	{names: "lpad", signature: "LPAD(s, length, pad)", remark: "NULL beyond 65535 characters", lower: pad},
	{names: "rpad", signature: "RPAD(s, length, pad)", remark: "NULL beyond 65535 characters", lower: pad},
	{names: "reverse", signature: "REVERSE(s)", remark: "by grapheme", lower: word("reverse(%s)")},
	{names: "repeat", signature: "REPEAT(s, n)", remark: "NULL beyond 65535 bytes", lower: func(l *lowerer, c *call) (Expr, error) {
		s, n := l.toString(c.args[0]), l.bounded(c.args[1], 0)
		return maybe(String, l.let(s.SQL, func(r string) string {
			return l.let(n, func(k string) string {
				return fmt.Sprintf("(CASE WHEN strlen(%[1]s) * %[2]s <= %[3]d THEN repeat(%[1]s, CASE WHEN %[1]s = '' THEN 0 ELSE least(%[2]s, %[3]d // greatest(strlen(%[1]s), 1)) END) END)", r, k, maxText)
			})
		})), nil
	}},
	{names: "space", signature: "SPACE(n)", remark: "NULL beyond 65535 bytes", lower: func(l *lowerer, c *call) (Expr, error) {
		return maybe(String, l.let(l.bounded(c.args[0], 0), func(k string) string {
			return fmt.Sprintf("(CASE WHEN %[1]s <= %[2]d THEN repeat(' ', least(%[1]s, %[2]d)) END)", k, maxText)
		})), nil
	}},
	{names: "ascii", signature: "ASCII(s)", lower: func(l *lowerer, c *call) (Expr, error) {
		s := l.toString(c.args[0])
		return of(Int, l.let("CAST(ascii("+s.SQL+") AS BIGINT)", func(r string) string {
			return fmt.Sprintf("(CASE WHEN %[1]s < 128 THEN %[1]s WHEN %[1]s < 2048 THEN 192 + %[1]s // 64 WHEN %[1]s < 65536 THEN 224 + %[1]s // 4096 ELSE 240 + %[1]s // 262144 END)", r)
		}), s), nil
	}},
	{names: "strcmp", signature: "STRCMP(a, b)", lower: func(l *lowerer, c *call) (Expr, error) {
		a, b := l.toString(c.args[0]), l.toString(c.args[1])
		return of(Int, l.let(a.SQL, func(x string) string {
			return l.let(b.SQL, func(y string) string {
				return fmt.Sprintf("CAST(CASE WHEN %[1]s < %[2]s THEN -1 WHEN %[1]s > %[2]s THEN 1 WHEN %[1]s = %[2]s THEN 0 END AS BIGINT)", x, y)
			})
		}), a, b), nil
	}},
	{names: "substring_index", signature: "SUBSTRING_INDEX(s, delimiter, n)", remark: "a constant delimiter", lower: func(l *lowerer, c *call) (Expr, error) {
		if _, ok := c.constantText(1); !ok {
			return Expr{}, c.needConstant("delimiter")
		}
		s, d, n := l.toString(c.args[0]), l.toString(c.args[1]), l.bounded(c.args[2], -clampTo)
		return maybe(String, l.let(s.SQL, func(r string) string {
			return l.let(d.SQL, func(del string) string {
				return l.let(n, func(k string) string {
					split := "string_split(" + r + ", " + del + ")"
					return "(CASE WHEN " + k + " = 0 OR " + del + " = '' THEN substring(" + r + ", 1, 0 * " + k + ") WHEN " + k + " > 0 THEN array_to_string(list_slice(" + split +
						", 1, " + k + "), " + del + ") ELSE array_to_string(list_slice(" + split + ", " + k + ", -1), " + del + ") END)"
				})
			})
		})), nil
	}},
	{names: "find_in_set", signature: "FIND_IN_SET(s, list)", lower: func(l *lowerer, c *call) (Expr, error) {
		by := l.collation(c, c.raw...)
		s, err := l.by(c.args[0], by, collation.ForFold)
		if err != nil {
			return s, err
		}
		list := l.toString(c.args[1])
		split := func(b string) string { return "string_split(" + b + ", ',')" }
		if f := collation.Function(by, collation.ForFold); f != "" {
			split = func(b string) string {
				return "list_transform(string_split(" + b + ", ','), lambda scrim__s: " + f + "(scrim__s))"
			}
		}
		return maybe(Int, l.let(s.SQL, func(a string) string {
			return l.let(list.SQL, func(b string) string {
				return "(CASE WHEN " + b + " = '' AND " + a + " IS NOT NULL THEN 0 WHEN " + a + " IS NOT NULL AND " + b + " IS NOT NULL THEN CAST(COALESCE(list_position(" + split(b) + ", " + a + "), 0) AS BIGINT) END)"
			})
		})), nil
	}},
	{names: "hex", signature: "HEX(x)", remark: "NULL beyond 65535 bytes", lower: func(l *lowerer, c *call) (Expr, error) {
		x := c.args[0]
		switch {
		case l.raises() && (x.Type.Kind == Double || x.Type.Kind == Decimal):
			return Expr{}, refuse.New(refuse.Expression, "HEX of numbers that are not whole is evaluated row by row.")
		case numeric(x.Type.Kind):
			if x = l.toNumber(x); x.Type.Kind != UInt {
				x = l.toInt(x)
			}
			return maybe(String, "hex("+x.SQL+")"), nil
		}
		x = l.toString(x)
		return maybe(String, l.let(x.SQL, func(r string) string {
			return short("2 * strlen("+r+")", "hex("+r+")")
		})), nil
	}},
	{names: "md5", signature: "MD5(s)", lower: word("md5(%s)")},
	{names: "sha1 sha", signature: "SHA1(s)", lower: word("sha1(%s)")},
	{names: "sha2", signature: "SHA2(s, 256)", lower: func(l *lowerer, c *call) (Expr, error) {
		if n, ok := c.constantInt(1); !ok || n != 256 && n != 0 {
			return Expr{}, c.needConstant("length 256")
		}
		return word("sha256(%s)")(l, c)
	}},
	{names: "regexp_like", signature: "s REGEXP 'pattern'", remark: "a constant pattern, of what MySQL and linear time have in common", lower: regexpLike},
}

// word is a function from text to text that keeps its length.
func word(format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		s := l.toString(c.args[0])
		return of(String, fmt.Sprintf(format, s.SQL), s), nil
	}
}

// upper leaves ß, which has no capital letter in MySQL's character set, as it is.
func upper(l *lowerer, c *call) (Expr, error) {
	s := l.toString(c.args[0])
	return of(String, l.let(s.SQL, func(r string) string {
		return "(CASE WHEN contains(" + r + ", 'ß') THEN array_to_string(list_transform(string_split(" + r + ", 'ß'), lambda scrim__s: upper(scrim__s)), 'ß') ELSE upper(" + r + ") END)"
	}), s), nil
}

// count is a function from text to an integer.
func count(format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		s := l.toString(c.args[0])
		return of(Int, fmt.Sprintf(format, s.SQL), s), nil
	}
}

// texted gives f the arguments as text, and SQL for the length of each in bytes.
func (l *lowerer) texted(c *call, f func(parts, lengths []string) string) string {
	var parts, lengths []string
	var next func(i int) string
	next = func(i int) string {
		if i == len(c.args) {
			return f(parts, lengths)
		}
		return l.let(l.toString(c.args[i]).SQL, func(r string) string {
			parts, lengths = append(parts, r), append(lengths, "strlen("+r+")")
			return next(i + 1)
		})
	}
	return next(0)
}

// short is a text that is NULL where its length, or a bound of it, exceeds maxText.
func short(length, s string) string {
	return fmt.Sprintf("(CASE WHEN %s <= %d THEN %s END)", length, maxText, s)
}

// clampTo bounds positions and counts: more than any text has, and within what the store takes.
const clampTo = 1000000000

// bounded is an integer argument clamped to what the store's functions take. The clamp is of
// functions, not of CASE: see the package's comment on dictionaries.
func (l *lowerer) bounded(x Expr, least int64) string {
	if x.number != nil {
		return fmt.Sprint(max(min(*x.number, clampTo), least)) + "::BIGINT"
	}
	n := l.toInt(x)
	return l.let(n.SQL, func(r string) string {
		return "(CASE WHEN " + r + " IS NOT NULL THEN " + clampedTo(r, least, clampTo) + " END)"
	})
}

// clampedTo is an integer within two ends, the lower one where it is NULL.
func clampedTo(r string, least, most int64) string {
	return fmt.Sprintf("greatest(least(%s, %d::BIGINT), %s)", r, most, integer(least).SQL)
}

// substring counts from 1, or from the end by negative positions; position 0 and positions before
// the start give an empty string.
func substring(l *lowerer, c *call) (Expr, error) {
	s := l.toString(c.args[0])
	n := fmt.Sprintf("%d", clampTo)
	if c.has(2) {
		n = l.bounded(c.args[2], 0)
	}
	if v, ok := c.constantInt(1); ok && v > 0 {
		return maybe(String, "substring("+s.SQL+", "+l.bounded(c.args[1], 1)+", "+n+")"), nil
	}
	p := l.bounded(c.args[1], -clampTo)
	return maybe(String, l.let(s.SQL, func(r string) string {
		return l.let(p, func(at string) string {
			return "substring(" + r + ", " + at + ", CASE WHEN " + at + " = 0 OR " + at + " < -length(" + r + ") THEN 0 * " + n + " ELSE " + n + " END)"
		})
	})), nil
}

// locate is 0 when the part does not occur from the position on.
func locate(l *lowerer, c *call) (Expr, error) {
	xs, err := l.folded(c, 0, 1)
	if err != nil {
		return Expr{}, err
	}
	p, s := xs[0], xs[1]
	if !c.has(2) {
		return of(Int, "CAST(instr("+s.SQL+", "+p.SQL+") AS BIGINT)", s, p), nil
	}
	at := l.bounded(c.args[2], 0)
	return maybe(Int, l.let(s.SQL, func(r string) string {
		return l.let(at, func(k string) string {
			return l.let("instr(substring("+r+", "+k+", 1000000000), "+p.SQL+")", func(i string) string {
				return "CAST(CASE WHEN " + k + " = 0 OR " + k + " > length(" + r + ") + 1 THEN 0 * " + i + " WHEN " + i + " = 0 THEN 0 ELSE " + i + " + " + k + " - 1 END AS BIGINT)"
			})
		})
	})), nil
}

// pad cuts or fills to a length in characters; an empty pad cannot fill and gives an empty string.
func pad(l *lowerer, c *call) (Expr, error) {
	if len(c.args) != 3 {
		return Expr{}, c.needConstant("pad")
	}
	s, n, p := l.toString(c.args[0]), l.toInt(c.args[1]), l.toString(c.args[2])
	return maybe(String, l.let(s.SQL, func(r string) string {
		return l.let(n.SQL, func(k string) string {
			return l.let(p.SQL, func(with string) string {
				return fmt.Sprintf("(CASE WHEN %[2]s BETWEEN 0 AND %[4]d AND %[3]s IS NOT NULL THEN CASE WHEN %[2]s <= length(%[1]s) THEN substring(%[1]s, 1, %[6]s) WHEN %[3]s = '' THEN substring(%[1]s, 1, 0) ELSE %[5]s(%[1]s, CAST(%[6]s AS INTEGER), %[3]s) END END)",
					r, k, with, maxText, c.name, clampedTo(k, 0, maxText))
			})
		})
	})), nil
}

// trim removes repetitions of a constant pattern, not of its characters.
func trim(l *lowerer, c *call) (Expr, error) {
	s := l.toString(c.args[0])
	pattern := " "
	if c.has(1) {
		var ok bool
		if pattern, ok = c.constantText(1); !ok {
			return Expr{}, c.needConstant("pattern")
		}
	}
	if pattern == "" {
		return s, nil
	}
	head, tail := true, true
	text := c.node.(*function.Trim).String() // the node keeps its direction to itself
	if strings.HasPrefix(text, "trim(leading ") {
		tail = false
	}
	if strings.HasPrefix(text, "trim(trailing ") {
		head = false
	}
	if len(pattern) == 1 {
		fn := map[[2]bool]string{{true, true}: "trim", {true, false}: "ltrim", {false, true}: "rtrim"}[[2]bool{head, tail}]
		return of(String, fn+"("+s.SQL+", "+l.hold(pattern)+")", s), nil
	}
	group := "(?:" + quotePattern(pattern) + ")+"
	out := s.SQL
	if head {
		out = "regexp_replace(" + out + ", " + "'\\A" + group + "', '')"
	}
	if tail {
		out = "regexp_replace(" + out + ", " + "'" + group + "\\z', '')"
	}
	return of(String, out, s), nil
}

// regexpLike translates REGEXP and REGEXP_LIKE, which the store evaluates in time linear in the
// text.
func regexpLike(l *lowerer, c *call) (Expr, error) {
	pattern, ok := c.constantText(1)
	if !ok {
		return Expr{}, c.needConstant("pattern")
	}
	matchType := ""
	if c.has(2) {
		if matchType, ok = c.constantText(2); !ok {
			return Expr{}, c.needConstant("match type of the letters c, i, m, n and u")
		}
	}
	generated, err := generatePattern(pattern, matchType)
	if err != nil {
		return Expr{}, err
	}
	s := l.toString(c.args[0])
	return boolean("regexp_matches("+s.SQL+", '"+generated+"')", s), nil
}
