package lower

import (
	"fmt"
	"strings"
)

// oneWord is a Decimal of more than wordDigits digits in one machine word of the store, whose
// arithmetic in 128 bits is many times slower: sql is a DECIMAL of the same scale and at most
// wordDigits digits that has the expression's value, or is NULL where an operand is larger than
// most are. It cannot raise. It says something of an expression only while text is that
// expression's.
type oneWord struct{ text, sql string }

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
	return e.word.sql, true
}

// inWord is a number as a DECIMAL of the scale and at most wordDigits digits, and how many it may
// have; "" where there is none.
func inWord(x Expr, scale int) (sql string, digits int) {
	p, s := precision(x)
	switch {
	case x.Type.Kind == Null:
		return fmt.Sprintf("CAST(NULL AS DECIMAL(%d,%d))", wordDigits, scale), 1
	case x.Type.Kind == Decimal && p > wordDigits && s == scale:
		w, _ := x.Word()
		return w, wordDigits
	case x.Type.Kind == Decimal && p <= wordDigits && s == scale:
		return x.SQL, p
	case x.Type.Kind != Decimal && width(x) == 0 || s > scale || p-s+scale > wordDigits:
		return "", 0
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x.SQL, p-s+scale, scale), p - s + scale
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
	a, p1 := inWord(x, s1)
	b, p2 := inWord(y, s2)
	if z.Type.Precision <= wordDigits || z.Type.Scale >= wordDigits || a == "" || b == "" || op == "*" && s1+s2 != z.Type.Scale || 2*(len(a)+len(b)) > maxWord {
		return z
	}
	n1, n2 := wordDigits-1, wordDigits-1 // digits of two numbers whose sum has no more than a word
	if op == "*" {
		n1, n2 = shares(p1, p2)
	}
	var guards []string
	if p1 > n1 {
		guards = append(guards, between(a, p1, s1, n1))
	}
	if p2 > n2 {
		guards = append(guards, between(b, p2, s2, n2))
	}
	w := "(" + a + " " + op + " " + b + ")"
	if len(guards) > 0 {
		w = "(CASE WHEN " + strings.Join(guards, " AND ") + " THEN " + a + " " + op + " " + b + " END)"
	}
	z.word = oneWord{z.SQL, w}
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
		if words[i], _ = inWord(v, z.Type.Scale); words[i] == "" {
			return z
		}
		size += len(words[i])
	}
	if size <= maxWord {
		z.word = oneWord{z.SQL, write(words)}
	}
	return z
}

// texts are the SQL of expressions.
func texts(xs []Expr) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = x.SQL
	}
	return out
}
