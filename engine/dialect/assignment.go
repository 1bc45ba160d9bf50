package dialect

import "scrim/internal/sqltext"

// assignment makes a call of @x := expr, which the grammar has in SET only:
//
//	SELECT @n := id + 1 FROM t
//	SELECT `@:=`('n', id + 1) FROM t
//
// The expression reaches as far as it can, since := binds last.
func (s *statement) assignment(i int) {
	if s.text(i) != ":=" || i == 0 || s.tokens[i-1].kind != variable || s.is(0, "SET") && !s.inBrackets(i) {
		return
	}
	v := s.text(i - 1)
	if len(v) > 1 && v[1] == '@' {
		return // not a user's variable: the grammar says what is wrong
	}
	s.replace(i-1, i, sqltext.Name(AssignFunction)+"("+sqltext.Text(s.host(i-1))+", ")
	s.before(s.expression(i+1), ")")
}

// AssignFunction is the name of the function that @x := expr becomes: no text of a client's calls
// it by chance.
const AssignFunction = "@:="

// inBrackets reports whether a token stands in brackets.
func (s *statement) inBrackets(i int) bool {
	depth := 0
	for k := 0; k < i && s.step(); k++ {
		switch {
		case s.is(k, "("):
			depth++
		case s.is(k, ")"):
			depth--
		}
	}
	return depth > 0
}

// expression returns the token behind the expression that begins at i.
func (s *statement) expression(i int) int {
	operand, cases := false, 0 // what stood before was an operand; open CASEs
	for ; i < len(s.tokens); i++ {
		if !s.step() {
			return len(s.tokens)
		}
		switch t := &s.tokens[i]; {
		case s.is(i, "(", "{"):
			i = s.close(i)
			operand = true
		case s.is(i, ",", ")", "}"):
			return i
		case s.is(i, "CASE"):
			cases++
			operand = false
		case s.is(i, "END") && cases > 0:
			cases--
			operand = true
		case cases > 0:
		case t.kind == mark:
			operand = s.is(i, "*") && !operand
		case t.kind == word && closing[t.upper(s.src)] && !(s.is(i, "LEFT", "RIGHT") && s.is(i+1, "(")):
			return i
		case t.kind == word && operators[t.upper(s.src)]:
			operand = false
		case operand && !s.is(i-1, ".") && t.start > s.tokens[i-1].end:
			return i // a name given without AS
		default:
			operand = true
		}
	}
	return i
}

// closing are the words that end an expression, operators those that go on in one.
var (
	closing = set("FROM WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT INTO FOR LOCK AS WHEN THEN ELSE END ASC DESC ON USING WINDOW " +
		"JOIN LEFT RIGHT INNER CROSS NATURAL STRAIGHT_JOIN SEPARATOR")
	operators = set("AND OR XOR NOT IN IS LIKE BETWEEN DIV MOD REGEXP RLIKE COLLATE INTERVAL BINARY ESCAPE SOUNDS DATE TIME TIMESTAMP " +
		"EXISTS ANY ALL SOME DISTINCT _UTF8 _UTF8MB4 _BINARY _LATIN1")
)
