package dialect

import "scrim/internal/sqltext"

func init() {
	for _, w := range []string{"DESCRIBE", "DESC", "EXPLAIN"} {
		heads[w] = describe
	}
	heads["DO"] = do
}

// describe adjusts DESCRIBE and EXPLAIN, which are the same word:
//
//	DESCRIBE t 'd%', DESC t d            SHOW COLUMNS FROM t LIKE 'd%'
//	EXPLAIN PARTITIONS SELECT …          EXPLAIN SELECT …
//	EXPLAIN FORMAT='tree' SELECT …       EXPLAIN FORMAT=tree SELECT …
//	EXPLAIN FORMAT=TRADITIONAL SELECT …  EXPLAIN SELECT …: the server has one form of plan
//	EXPLAIN FORMAT=JSON SELECT …         one text (Explainer)
func describe(s *statement) {
	switch {
	case s.is(1, "FORMAT") && s.is(2, "=") && !s.ends(3):
		s.format()
	case s.is(1, "EXTENDED", "PARTITIONS") && !s.ends(2):
		s.drop(1, 1)
	case s.are(1, "FOR", "CONNECTION"):
		s.refuseConnection()
	default:
		s.column()
	}
}

func (s *statement) refuseConnection() {
	s.refuse("Statements of other connections are not explained.", "EXPLAIN the statement itself.")
}

// format adjusts FORMAT=x.
func (s *statement) format() {
	if s.are(4, "FOR", "CONNECTION") {
		s.refuseConnection()
		return
	}
	switch f := s.unquoted(3); {
	case equal(f, "TRADITIONAL"):
		s.drop(1, 3)
	case equal(f, "JSON"):
		s.replace(1, 3, "FORMAT="+jsonFormat)
	case s.tokens[3].kind != word:
		s.replace(3, 3, f)
	}
}

// column adjusts DESCRIBE t column.
func (s *statement) column() {
	after := 2
	if s.is(2, ".") {
		after = 4
	}
	if len(s.tokens) != after+1 || !s.named(after-1) || s.is(1, "TABLE", "SELECT", "WITH", "ANALYZE", "VALUES") {
		return
	}
	if k := s.tokens[after].kind; k != text && k != word && k != name {
		return
	}
	s.replace(0, 0, "SHOW COLUMNS FROM")
	s.replace(after, after, "LIKE "+sqltext.Text(s.unquoted(after)))
}

// do makes DO a, b, which evaluates expressions and returns nothing, into SET of a variable that
// nobody reads.
func do(s *statement) {
	if s.ends(1) {
		return
	}
	const nobody = "@`do nothing with it` = "
	s.replace(0, 0, "SET "+nobody+"(")
	depth := 0
	for i := 1; i < len(s.tokens); i++ {
		switch {
		case s.is(i, "("):
			depth++
		case s.is(i, ")"):
			depth--
		case s.is(i, ",") && depth == 0:
			s.replace(i, i, "), "+nobody+"(")
		}
	}
	s.before(len(s.tokens), ")")
}
