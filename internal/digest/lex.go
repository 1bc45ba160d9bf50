package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// kind is what a token is.
type kind uint8

const (
	keyword    kind = iota
	identifier      // also a function's name or a variable
	literal         // printed as mark
	operator        // also punctuation
	hint            // an optimizer hint, redacted
)

// mark stands for a literal.
const mark = "?"

// token is one token as it will be printed, and the place where it began.
type token struct {
	kind kind
	text string
	at   int
}

// lexer reads a text. It leaves out comments and white space.
type lexer struct {
	text  string
	plain bool // a backslash is a character like others, as in sql_mode NO_BACKSLASH_ESCAPES
	at    int
	out   []token

	odd     int // the place from which on the text cannot be read; -1: none
	unclear int // the first string that would end elsewhere if a backslash were plain; -1: none
}

func (l *lexer) run() []token {
	l.odd, l.unclear = -1, -1
	for l.at < len(l.text) && l.odd < 0 {
		l.next()
	}
	return l.out
}

func (l *lexer) add(k kind, text string, from int) { l.out = append(l.out, token{k, text, from}) }

// peek is the byte n places on, 0 behind the end.
func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

// next reads one token, comment or space.
func (l *lexer) next() {
	c := l.peek(0)
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		l.at++
	case c == '\'' || c == '"':
		l.str(l.at)
	case c == '`':
		l.quoted("")
	case c == '#', c == '-' && l.peek(1) == '-', c == '/' && (l.peek(1) == '*' || l.peek(1) == '/'):
		l.comment(c)
	case c >= '0' && c <= '9', c == '.' && l.peek(1) >= '0' && l.peek(1) <= '9':
		l.number()
	case c == '@':
		l.variable()
	case c == ':' && (letter(l.peek(1)) || l.peek(1) == ':'):
		from := l.at
		l.at += 2
		l.letters()
		l.add(literal, mark, from)
	case c == '?':
		l.add(literal, mark, l.at)
		l.at++
	case letter(c) || c >= utf8.RuneSelf:
		l.word()
	default:
		l.operator()
	}
}

// operators of more than one character, the longest first.
var operators = []string{"<=>", "->>", "<<", ">>", "<=", ">=", "<>", "!=", ":=", "||", "&&", "->"}

func (l *lexer) operator() {
	from := l.at
	for _, o := range operators {
		if strings.HasPrefix(l.text[l.at:], o) {
			l.at += len(o)
			l.add(operator, o, from)
			return
		}
	}
	c := l.peek(0)
	if !strings.ContainsRune("(),.;=<>+-*/%&|^~!:{}[]", rune(c)) {
		l.odd = from // a backslash outside of strings, a control character
		return
	}
	l.at++
	l.add(operator, string(c), from)
}

// str reads a string to its end. A doubled quote stands for itself.
func (l *lexer) str(from int) {
	quote := l.peek(0)
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.peek(0); {
		case c == '\\' && !l.plain:
			l.at++
			if l.unclear < 0 && l.peek(0) == quote {
				l.unclear = from
			}
		case c == quote && l.peek(1) == quote:
			l.at++
		case c == quote:
			l.at++
			l.add(literal, mark, from)
			return
		}
	}
	l.at = len(l.text)
	l.odd = from
}

// quoted reads an identifier in back quotes.
func (l *lexer) quoted(before string) {
	from := l.at
	for l.at++; l.at < len(l.text); l.at++ {
		if l.peek(0) != '`' {
			continue
		}
		if l.peek(1) != '`' {
			l.at++
			l.add(identifier, before+name(strings.ReplaceAll(l.text[from+1:l.at-1], "``", "`")), from)
			return
		}
		l.at++
	}
	l.odd = from
}

// comment leaves a comment out, or reads a hint, or the text of a comment that is executed.
func (l *lexer) comment(c byte) {
	from := l.at
	rest := l.text[from:]
	if c == '/' && l.peek(1) == '*' {
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			l.odd = from
			return
		}
		l.at += end + 4
		switch inner := rest[2 : 2+end]; {
		case strings.HasPrefix(inner, "+"):
			l.hint(inner[1:], from)
		case strings.HasPrefix(inner, "!"):
			l.executed(strings.TrimLeft(inner[1:], "0123456789"), from)
		case strings.HasPrefix(inner, "M!"):
			l.executed(strings.TrimLeft(inner[2:], "0123456789"), from)
		}
		return
	}
	// "--x" and "//" are comments to some and operators to others.
	if next := l.peek(2); c == '/' || c == '-' && next > ' ' {
		l.odd = from
		return
	}
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest) - 1
	}
	l.at += end + 1
}

// within reads a text inside the text, whose tokens are all taken to begin at from.
func (l *lexer) within(text string, from int) []token {
	inner := lexer{text: text, plain: l.plain}
	tokens := inner.run()
	if inner.odd >= 0 {
		l.odd = from
	}
	if inner.unclear >= 0 && l.unclear < 0 {
		l.unclear = from
	}
	for i := range tokens {
		tokens[i].at = from
	}
	return tokens
}

func (l *lexer) executed(text string, from int) { l.out = append(l.out, l.within(text, from)...) }

// hint keeps an optimizer hint where one may stand: after the statement's verb.
func (l *lexer) hint(text string, from int) {
	if len(l.out) == 0 || !verbs[l.out[len(l.out)-1].text] {
		return
	}
	tokens := l.within(text, from)
	for i, t := range tokens {
		// SET_VAR(name = word): the word is a value.
		if i > 0 && tokens[i-1].text == "=" && t.kind != operator {
			tokens[i] = token{literal, mark, from}
		}
	}
	l.add(hint, "/*+ "+show(fold(tokens))+" */", from)
}

// number reads what begins like a number, letters and all.
func (l *lexer) number() {
	from := l.at
	for l.at < len(l.text) {
		c := l.peek(0)
		exponent := (c == '+' || c == '-') && l.at > from && l.peek(-1)|0x20 == 'e' && !strings.HasPrefix(l.text[from:], "0x")
		if c != '.' && !exponent && !digitOrLetter(c) {
			break
		}
		l.at++
	}
	l.add(literal, mark, from)
}

// variable reads @name, @@scope.name, and the @ of an account's name.
func (l *lexer) variable() {
	from := l.at
	for l.peek(0) == '@' {
		l.at++
	}
	switch at := l.text[from:l.at]; l.peek(0) {
	case '\'', '"':
		l.add(operator, at, from)
	case '`':
		l.quoted(at)
	default:
		l.add(identifier, at+l.letters(), from)
	}
}

// letters reads the rest of an identifier.
func (l *lexer) letters() string {
	from := l.at
	for l.at < len(l.text) && (digitOrLetter(l.peek(0)) || l.peek(0) >= utf8.RuneSelf) {
		l.at++
	}
	return known(l.text[from:l.at])
}

// word reads a keyword, an identifier, or a literal that begins with letters.
func (l *lexer) word() {
	from := l.at
	w := l.letters()
	upper := strings.ToUpper(w)
	if next := l.peek(0); next == '\'' || next == '"' {
		if upper == "X" || upper == "B" || upper == "N" || strings.HasPrefix(w, "_") {
			l.str(from)
			return
		}
	}
	switch after := len(l.out) > 0 && l.out[len(l.out)-1].text == "."; {
	case after:
		l.add(identifier, w, from)
	case keywords[upper]:
		l.add(keyword, upper, from)
	case functions[upper] || strings.HasPrefix(upper, "DP_"):
		l.add(identifier, l.function(w, upper), from)
	case secret(w):
		l.add(literal, mark, from)
	default:
		l.add(identifier, w, from)
	}
}

// secret tells whether a word looks like a token or a report in hexadecimal whose quotes were
// forgotten.
func secret(w string) bool {
	const least = 16
	return len(w) >= least && strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789abcdefABCDEF") == ""
}

// function spells the name of a function in capitals, and leaves a column of that name alone.
func (l *lexer) function(w, upper string) string {
	if rest := strings.TrimLeft(l.text[l.at:], " \t\r\n"); strings.HasPrefix(rest, "(") {
		return upper
	}
	return w
}

// name prints an identifier that stood in back quotes: bare where that is the same, redacted where
// it looks like an expression.
func name(s string) string {
	plain := s != "" && letter(s[0])
	for i := range len(s) {
		plain = plain && digitOrLetter(s[i])
	}
	switch {
	case plain && !keywords[strings.ToUpper(s)]:
		return s
	case len(s) > 256:
		return mark
	case strings.ContainsAny(s, `'"()=<>\`) || known(s) == mark && !strings.ContainsAny(s, " -.:/"):
		tokens, _ := read(s, false)
		return "`" + strings.ReplaceAll(show(fold(tokens)), "`", "") + "`"
	}
	return sqltext.Name(s)
}

// known returns a word of letters and digits, and the mark for one that holds anything else:
// typographic quotes may hold a value.
func known(w string) string {
	for _, r := range w {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || r == utf8.RuneError {
			return mark
		}
	}
	return w
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' }

func digitOrLetter(c byte) bool { return letter(c) || c >= '0' && c <= '9' }

// keywords are printed in capitals. Words that many columns are called by are left out.
var keywords = lists.Words(`
	ACCOUNT ADD ALL ALTER ANALYZE AND ANY AS ASC BEFORE BEGIN BETWEEN BINARY BOTH BY CALL CASCADE CASE CHANGE
	CHARACTER CHECK COLLATE COLUMN COLUMNS COMMIT CONSTRAINT CREATE CROSS CUBE CURRENT DATABASE DATABASES DATE DATETIME DEALLOCATE DEFAULT
	DELAYED DELETE DESC DESCRIBE DISTINCT DISTINCTROW DIV DROP DUAL DUPLICATE ELSE ELSEIF END ENGINE ESCAPE EVENT EXCEPT
	EXECUTE EXISTS EXPLAIN EXTENDED FALSE FIELDS FILTER FLUSH FOR FORCE FOREIGN FORMAT FROM FULL FULLTEXT FUNCTION GLOBAL GRANT GRANTS
	GROUP GROUPING GROUPS HAVING HIGH_PRIORITY IDENTIFIED IF IGNORE IN INDEX INDEXES INFILE INNER INSERT INTERSECT INTERVAL
	INTO IS JOIN KEY KEYS KILL LATERAL LEADING LEFT LIKE LIMIT LINES LOAD LOCAL LOCK LOW_PRIORITY MATCH MODIFY NATURAL
	NOT NULL OF OFFSET ON OPTION OR ORDER OUTER OUTFILE OVER PARTITION PASSWORD PERSIST PRECEDING PREPARE PRIMARY PRIVILEGES
	PROCEDURE PROCESSLIST QUERY RANDOM RANGE READ RECURSIVE REFERENCES REGEXP RELEASE RENAME REPLACE REQUIRE RESET RETURN REVOKE RIGHT
	RLIKE ROLE ROLLBACK ROLLUP ROW ROWS SAVEPOINT SCHEMA SCHEMAS SELECT SEPARATOR SESSION SET SHOW SOME SOUNDS SQL START STRAIGHT_JOIN
	TABLE TABLES TEMPORARY TERMINATED THEN TIMESTAMP TO TRAILING TRANSACTION TRIGGER TRUE TRUNCATE UNBOUNDED FOLLOWING UNION UNIQUE
	UNLOCK UNSIGNED UPDATE USE USER USING VALUES VARIABLES VIEW WARNINGS WHEN WHERE WINDOW WITH WRITE XOR`)

// functions are printed in capitals where a parenthesis follows.
var functions = lists.Words(`
	ABS ADDDATE AVG BIT_AND BIT_OR BIT_XOR CAST CEIL CEILING CHAR_LENGTH COALESCE CONCAT CONCAT_WS CONVERT CONVERT_TZ COUNT CURDATE
	DATE_ADD DATE_FORMAT DATE_SUB DATEDIFF DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR EXTRACT FLOOR FROM_UNIXTIME GREATEST GROUP_CONCAT HOUR
	IFNULL JSON_EXTRACT JSON_UNQUOTE LAST_DAY LEAST LENGTH LOCATE LOWER LPAD LTRIM MAKEDATE MAX MIN MINUTE MOD MONTH NOW NULLIF POW
	POWER QUARTER ROUND ROW_NUMBER RANK DENSE_RANK RPAD RTRIM SECOND SIGN SQRT STD STDDEV STDDEV_POP STDDEV_SAMP STR_TO_DATE SUBSTR
	SUBSTRING SUM TIME TIMESTAMPADD TIMESTAMPDIFF TRIM UNIX_TIMESTAMP UPPER VAR_POP VAR_SAMP VARIANCE WEEK WEEKDAY YEAR YEARWEEK`)

// verbs are the words after which an optimizer hint may stand.
var verbs = lists.Words("SELECT INSERT REPLACE UPDATE DELETE")
