package lower

import (
	"fmt"
	"slices"
	"strings"

	"scrim/functions/standard"
	"scrim/internal/lists"
)

// wordRoom is the number of digits that the fast way of a division may use in a 64-bit word.
const wordRoom = 17

// divide is the exact quotient with four more fractional digits than the dividend, rounded half
// away from zero: one more digit is calculated by integer division and rounded off. There are three
// ways: in 64 bits where both operands are small enough, in 128 bits, which the store does slowly,
// where they have 38 digits, and in floating point beyond.
func (l *lowerer) divide(x, y Expr) Expr {
	p1, s1 := precision(x)
	_, s2 := precision(y)
	scale := min(s1+4, maxScale)
	out := Type{Kind: Decimal, Precision: min(max(p1-s1+s2, 1)+1+scale, maxPrecision), Scale: scale}
	shift := s2 + scale + 1
	s := l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string {
			xa, yb := x, y
			xa.SQL, yb.SQL = a, b
			ways := tiers{otherwise: "TRY_CAST(" + fmt.Sprintf("CAST(%s AS DOUBLE) / CAST(%s AS DOUBLE)", a, b) + " AS " + out.duckdb() + ")"}
			unit := func(word int) string {
				return fmt.Sprintf("AS DECIMAL(%d,0)) * CAST('0.%s1' AS DECIMAL(%[3]d,%[3]d)) AS %[4]s)", word, zeros(scale), scale+1, out.duckdb())
			}
			if up, ok := l.word(xa, shift); ok && scale+1 < wordDigits {
				if down, ok := l.word(yb, s2); ok {
					ways.add(room(xa, shift, wordRoom), room(yb, s2, wordRoom), "TRY_CAST(CAST("+up+" // "+down+" "+unit(wordDigits))
				}
			}
			if shift < maxPrecision {
				ways.add(room(xa, shift, maxPrecision), room(yb, s2, maxPrecision), "TRY_CAST(TRY_CAST("+l.unscaled(xa, shift)+" // "+l.unscaled(yb, s2)+" "+unit(maxPrecision))
			}
			return ways.sql(b + " <> 0")
		})
	})
	out.Quotient = true
	e := Expr{SQL: s, Type: out, Nullable: true}
	if len(x.SQL) <= letOver && len(y.SQL) <= letOver {
		e.near = near{s, fmt.Sprintf("(CASE WHEN %s <> 0 THEN %s / %s END)", y.SQL, nearly(x), nearly(y))}
	}
	return e
}

// Quotient is x / y as MySQL computes it of exact numbers.
func Quotient(x, y Expr) Expr { return new(lowerer).divide(x, y) }

// more makes a number before it was rounded to the scale of its type. It says something of an
// expression only while text is that expression's.
type more struct {
	text string
	of   func() Expr
}

// Unrounded is a number with the digits that MySQL computes with: those of a quotient fill words of
// nine, while its type shows four more than those of the dividend.
func (e Expr) Unrounded() Expr {
	if e.more.of == nil || e.SQL != e.more.text {
		return e
	}
	return e.more.of()
}

// quotient is x / y cut to the digits that MySQL computes it with, in 128 bits where both have 38
// digits, else in floating point.
func (l *lowerer) quotient(x, y Expr) Expr {
	p1, s1 := precision(x)
	_, s2 := precision(y)
	scale := min(standard.QuotientScale(s1, s2), maxScale)
	out := Type{Kind: Decimal, Precision: min(max(p1-s1+s2, 1)+1+scale, maxPrecision), Scale: scale, Quotient: true}
	s := l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string {
			xa, yb := x, y
			xa.SQL, yb.SQL = a, b
			ways := tiers{otherwise: "TRY_CAST(" + fmt.Sprintf("CAST(%s AS DOUBLE) / CAST(%s AS DOUBLE)", a, b) + " AS " + out.duckdb() + ")"}
			if shift := s2 + scale; shift < maxPrecision {
				unit := fmt.Sprintf("AS DECIMAL(%d,0)) * CAST('0.%s1' AS DECIMAL(%[3]d,%[3]d)) AS %[4]s)", maxPrecision, zeros(scale-1), scale, out.duckdb())
				ways.add(room(xa, shift, maxPrecision), room(yb, s2, maxPrecision), "TRY_CAST(TRY_CAST("+l.unscaled(xa, shift)+" // "+l.unscaled(yb, s2)+" "+unit)
			}
			return ways.sql(b + " <> 0")
		})
	})
	return Expr{SQL: s, Type: out, Nullable: true}
}

// nearly is a Double near a number, without the 128 bits of a product.
func nearly(x Expr) string {
	if x.near.sql != "" && x.SQL == x.near.text {
		return x.near.sql
	}
	return "CAST(" + x.SQL + " AS DOUBLE)"
}

// near is a Double that differs from a quotient or a product by its rounding. It says something of
// an expression only while text is that expression's.
type near struct{ text, sql string }

// Near returns SQL for a Double that is the quotient before it was rounded to its last digit; false
// where none is known. It cannot raise, and is NULL where the quotient is, or is beyond its digits.
func (e Expr) Near() (string, bool) {
	return e.near.sql, e.Type.Quotient && e.near.sql != "" && e.SQL == e.near.text
}

// intDiv is the quotient cut to an integer, NULL outside the 64-bit range.
func (l *lowerer) intDiv(x, y Expr) Expr {
	out := Int
	if x.Type.Kind == UInt || y.Type.Kind == UInt {
		out = UInt
	}
	t := Type{Kind: out}.duckdb()
	if l.raises() && (x.Type.Kind == Double || y.Type.Kind == Double) {
		l.refuse("DIV of a DOUBLE.") // which is a DECIMAL to MySQL
	}
	float := func(a, b Expr) string {
		q := l.tight(l.doubles("/", l.toDouble(a), l.toDouble(b)))
		return "TRY_CAST(trunc(" + q.SQL + ") AS " + t + ")"
	}
	switch {
	case x.Type.Kind == Double || y.Type.Kind == Double:
		return maybe(out, float(x, y))
	case x.Type.Kind == Int && y.Type.Kind == Int:
		return l.integers("DIV", x, y)
	}
	_, s1 := precision(x)
	_, s2 := precision(y)
	s := max(s1, s2)
	return maybe(out, l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string {
			xa, yb := x, y
			xa.SQL, yb.SQL = a, b
			ways := tiers{otherwise: float(xa, yb)}
			if up, ok := l.word(xa, s); ok {
				if down, ok := l.word(yb, s); ok {
					ways.add(room(xa, s, wordRoom), room(yb, s, wordRoom), l.narrowed(up+" // "+down, t))
				}
			}
			if s < maxPrecision {
				ways.add(room(xa, s, maxPrecision), room(yb, s, maxPrecision), l.narrowed(l.unscaled(xa, s)+" // "+l.unscaled(yb, s), t))
			}
			return ways.sql(b + " <> 0")
		})
	}))
}

// tiers is a choice among ways to calculate, the first whose conditions hold.
type tiers struct {
	branches  string
	final     string // a way without conditions, after which no other is needed
	otherwise string
}

// add takes a way with its conditions on the two operands; "" is no condition.
func (t *tiers) add(first, second, way string) {
	switch {
	case t.final != "":
	case first == "" && second == "":
		t.final = way
	case first == "":
		t.branches += " WHEN " + second + " THEN " + way
	case second == "":
		t.branches += " WHEN " + first + " THEN " + way
	default:
		t.branches += " WHEN " + first + " AND " + second + " THEN " + way
	}
}

// sql writes the choice; the last way is taken where needed holds.
func (t *tiers) sql(needed string) string {
	switch {
	case t.final != "" && t.branches == "":
		return t.final
	case t.final != "":
		return "(CASE" + t.branches + " ELSE " + t.final + " END)"
	}
	return "(CASE" + t.branches + " WHEN " + needed + " THEN " + t.otherwise + " END)"
}

// room is the condition under which x times 10^shift has at most the given number of digits, its
// own fraction counted; "" when it always has.
func room(x Expr, shift, digits int) string {
	p, s := precision(x)
	if p+shift <= digits {
		return ""
	}
	return fmt.Sprintf("abs(CAST(%s AS DOUBLE)) < CAST('0.999999e%d' AS DOUBLE)", x.SQL, digits-shift-s)
}

func zeros(n int) string { return pow10(n)[1:] }

// word is x times 10^shift as BIGINT, valid where it has room in a word; false when nothing has.
func (l *lowerer) word(x Expr, shift int) (string, bool) {
	p, s := precision(x)
	if shift+s >= wordRoom {
		return "", false
	}
	switch {
	case x.Type.Kind == UInt:
		x.SQL = "CAST(" + x.SQL + " AS BIGINT)"
		fallthrough
	case x.Type.Kind == Int:
		if shift == 0 {
			return x.SQL, true
		}
		return "(" + x.SQL + " * " + pow10(shift) + "::BIGINT)", true
	case p > wordDigits:
		x.SQL = fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x.SQL, wordDigits, s)
	}
	if shift == 0 {
		return "CAST(" + x.SQL + " AS BIGINT)", true
	}
	return fmt.Sprintf("CAST((%s * CAST('%s' AS DECIMAL(%d,0))) AS BIGINT)", x.SQL, pow10(shift), shift+1), true
}

// unscaled is x times 10^shift as HUGEINT, valid where it has room in 38 digits.
func (l *lowerer) unscaled(x Expr, shift int) string {
	p, _ := precision(x)
	if x.Type.Kind != Decimal {
		return "(CAST(" + x.SQL + " AS HUGEINT) * " + pow10(shift) + "::HUGEINT)"
	}
	if shift == 0 {
		return "CAST(" + x.SQL + " AS HUGEINT)"
	}
	return fmt.Sprintf("CAST((%s * CAST('%s' AS DECIMAL(%d,0))) AS HUGEINT)", l.wide(x, p+shift+1).SQL, pow10(shift), shift+1)
}

// oneWord is a Decimal of more than wordDigits digits in one machine word of the store, whose
// arithmetic in 128 bits is many times slower: sql is a DECIMAL of the same scale and at most
// wordDigits digits that has the expression's value, or is NULL where an operand is larger than
// most are. It cannot raise on rows where all of its guards hold, and each guard cannot raise where
// those before it hold. It says something of an expression only while text is that expression's.
type oneWord struct {
	text   string
	guards []string
	sql    string
}

// guarded computes sql on the rows where the conditions hold, one after the other. Each stands in a
// CASE of its own: the store leaves out a condition that its columns' statistics prove, and they
// prove nothing of the result of a CASE.
func guarded(guards []string, sql string) string {
	if len(guards) == 0 {
		return sql
	}
	return "(CASE WHEN " + guards[0] + " THEN " + guarded(guards[1:], sql) + " END)"
}

// maxWord bounds the text of a word, in bytes: a product of products repeats it.
const maxWord = 4 << 10

// WordDigits is the largest number of digits of a word.
const WordDigits = wordDigits

// Word returns SQL for a Decimal of more than WordDigits digits that has its value and scale, or is
// NULL, as a DECIMAL of at most WordDigits digits. It cannot raise.
func (e Expr) Word() (string, bool) {
	if e.Type.Kind != Decimal || e.Type.Precision <= wordDigits || e.word.sql == "" || e.SQL != e.word.text {
		return "", false
	}
	return guarded(e.word.guards, e.word.sql), true
}

// BesideWord returns SQL that is e on the rows where its Word is NULL, and NULL on the others. Each
// guard decides by itself, as the store knows of some that they always hold.
func (e Expr) BesideWord() string {
	w, _ := e.Word()
	if len(e.word.guards) == 0 {
		return "CASE WHEN " + w + " IS NULL THEN " + e.SQL + " END"
	}
	text := "NULL"
	for _, g := range slices.Backward(e.word.guards) {
		text = "CASE WHEN " + g + " THEN " + text + " ELSE " + e.SQL + " END"
	}
	return text
}

// inWord is a number as a DECIMAL of the scale and at most wordDigits digits behind guards, and how
// many it may have; "" where there is none.
func inWord(x Expr, scale int) (guards []string, sql string, digits int) {
	p, s := precision(x)
	switch {
	case x.Type.Kind == Null:
		return nil, fmt.Sprintf("CAST(NULL AS DECIMAL(%d,%d))", wordDigits, scale), 1
	case x.Type.Kind == Decimal && p > wordDigits && s == scale && x.SQL == x.word.text:
		return x.word.guards, x.word.sql, wordDigits
	case x.Type.Kind == Decimal && p <= wordDigits && s == scale:
		return nil, x.SQL, p
	case x.Type.Kind != Decimal && width(x) == 0 || s > scale || p-s+scale > wordDigits:
		return nil, "", 0
	}
	return nil, x.asDecimal(p-s+scale, scale), p - s + scale
}

// withWord adds to z, which is x op y by + - or *, what it is in a word. The operation is in a CASE
// behind its guards: the store does it on the rows that they let through only, and its order of
// conditions joined by AND is not fixed.
func withWord(op string, z, x, y Expr) Expr {
	_, s1 := precision(x)
	_, s2 := precision(y)
	if op != "*" {
		s1, s2 = z.Type.Scale, z.Type.Scale
	}
	guards, a, p1 := inWord(x, s1)
	more, b, p2 := inWord(y, s2)
	if z.Type.Precision <= wordDigits || z.Type.Scale >= wordDigits || a == "" || b == "" || op == "*" && s1+s2 != z.Type.Scale {
		return z
	}
	n1, n2 := wordDigits-1, wordDigits-1 // digits of two numbers whose sum has no more than a word
	if op == "*" {
		n1, n2 = shares(p1, p2)
	}
	var small []string
	if p1 > n1 {
		small = append(small, between(a, p1, s1, n1))
	}
	if p2 > n2 {
		small = append(small, between(b, p2, s2, n2))
	}
	guards = slices.Concat(guards, more)
	if len(small) > 0 {
		guards = append(guards, strings.Join(small, " AND "))
	}
	z.word = oneWord{z.SQL, guards, "(" + a + " " + op + " " + b + ")"}
	if w, _ := z.Word(); len(w) > maxWord {
		z.word = oneWord{}
	}
	return z
}

// shares divides the digits of a word between the factors of a product, by those that they may
// have.
func shares(p1, p2 int) (n1, n2 int) {
	n1 = (2*wordDigits*p1 + p1 + p2) / (2 * (p1 + p2))
	n1 = max(min(n1, wordDigits-1), 1)
	return n1, wordDigits - n1
}

// between is the condition that a DECIMAL of p digits, s of them behind the point, has no more than
// n.
func between(x string, p, s, n int) string {
	text := strings.Repeat("0", max(s+1-n, 0)) + strings.Repeat("9", n)
	limit := fmt.Sprintf("%s.%s' AS DECIMAL(%d,%d))", text[:len(text)-s], text[len(text)-s:], p, s)
	return x + " BETWEEN CAST('-" + limit + " AND CAST('" + limit
}

// chosen adds to z, which is a choice among the values, what it is in a word, where all of them
// are.
func chosen(z Expr, values []Expr, write func(values []string) string) Expr {
	if z.Type.Kind != Decimal || z.Type.Precision <= wordDigits || z.Type.Scale >= wordDigits {
		return z
	}
	words, size := make([]string, len(values)), len(z.SQL)
	for i, v := range values {
		guards, w, _ := inWord(v, z.Type.Scale)
		if w == "" {
			return z
		}
		words[i] = guarded(guards, w)
		size += len(words[i])
	}
	if size <= maxWord {
		z.word = oneWord{text: z.SQL, sql: write(words)}
	}
	return z
}

// texts are the SQL of expressions.
func texts(xs []Expr) []string {
	return lists.Map(xs, func(x Expr) string { return x.SQL })
}
