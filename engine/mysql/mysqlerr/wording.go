package mysqlerr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Statement is what the words of an error say of the statement: its text without literals, and its
// session's database.
type Statement struct{ Text, Database string }

// worded returns MySQL's error for one of the kinds of conditions, in MySQL's words.
func worded(e error, errno int, state, message, words string, s Statement) *mysql.SQLError {
	switch {
	case sql.ErrSyntaxError.Is(e):
		return s.syntax(e.Error())
	case sql.ErrPrimaryKeyViolation.Is(e):
		words = "Duplicate entry '" + after(e.Error(), ": ") + "' for key 'PRIMARY'"
	case sql.ErrUniqueKeyViolation.Is(e):
		words = "Duplicate entry '" + after(e.Error(), ": ") + "' for key 'UNIQUE'"
	case words == "":
		words = e.Error()
	default:
		words = s.fill(words, values(message, e.Error()), e.Error())
	}
	errno, state, words = s.instead(errno, state, words, values(message, e.Error()))
	return mysql.NewSQLError(errno, state, "%s", clean(words))
}

// instead finds MySQL's error where go-mysql-server has one kind for several.
func (s Statement) instead(errno int, state, words string, v []string) (int, string, string) {
	first := ""
	if len(v) > 0 {
		first = v[0]
	}
	tokens := s.tokens()
	begins := func(w ...string) bool {
		for i, x := range w {
			if i >= len(tokens) || !strings.EqualFold(tokens[i], x) {
				return false
			}
		}
		return true
	}
	switch errno {
	case mysql.ERNoSuchTable:
		switch {
		case begins("DROP"):
			return 1051, "42S02", "Unknown table '" + s.qualified(first) + "'"
		case s.columnOf(first) != "":
			return mysql.ERBadFieldError, "42S22", "Unknown column '" + s.columnOf(first) + "' in '" + s.clause(first) + "'"
		}
	case mysql.ERBadDb:
		if begins("DROP") {
			return 1008, "HY000", "Can't drop database '" + first + "'; database doesn't exist"
		}
	case mysql.ERBadFieldError:
		switch {
		case begins("SET"):
			return mysql.ERUnknownSystemVariable, "HY000", "Unknown system variable '" + first + "'"
		case begins("ALTER") && slices.ContainsFunc(s.tokens(), func(t string) bool { return strings.EqualFold(t, "DROP") }) && len(v) > 1:
			return mysql.ERCantDropFieldOrKey, "42000", "Can't DROP '" + v[1] + "'; check that column/key exists"
		}
	case mysql.ERDBAccessDenied:
		if begins("FLUSH") {
			return mysql.ERSpecifiedAccessDenied, "42000", "Access denied; you need (at least one of) the RELOAD privilege(s) for this operation"
		}
	case 1265:
		if begins("SET") {
			return mysql.ERWrongValueForVar, "42000", "Variable '" + word(tokens, 1) + "' can't be set to the value of '" + first + "'"
		}
	}
	return errno, state, words
}

// syntax words an error of the parser, which tells the word that it stopped at.
func (s Statement) syntax(message string) *mysql.SQLError {
	if strings.Contains(message, "Every derived table must have its own alias") {
		return mysql.NewSQLError(1248, "42000", "Every derived table must have its own alias")
	}
	_, rest, ok := strings.Cut(message, "syntax error at position ")
	if !ok {
		return mysql.NewSQLError(mysql.ERParseError, "42000", "%s", clean(message))
	}
	near := ""
	if _, quoted, ok := strings.Cut(rest, "near "); ok {
		near = strings.Trim(quoted, "'")
	}
	return mysql.NewSQLError(mysql.ERParseError, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version "+
		"for the right syntax to use near '%s' at line 1", near)
}

// fill puts values and what the statement tells into words.
func (s Statement) fill(words string, v []string, message string) string {
	for i := len(v); i > 0; i-- {
		words = strings.ReplaceAll(words, "$"+strconv.Itoa(i), strings.ReplaceAll(v[i-1], "$", "＄"))
	}
	for {
		head, rest, ok := strings.Cut(words, "{")
		inside, tail, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return strings.ReplaceAll(words, "＄", "$")
		}
		words = head + s.told(inside, message) + tail
	}
}

// told is what the statement tells.
func (s Statement) told(what, message string) string {
	what, of, _ := strings.Cut(what, " ")
	switch what {
	case "clause":
		return s.clause(of)
	case "qualified":
		return s.qualified(of)
	case "command":
		return strings.ToUpper(word(s.tokens(), 0))
	case "table":
		if t := s.object(); t != "" {
			return " for table '" + t + "'"
		}
	case "bare":
		return of[strings.LastIndexAny(of, "@.")+1:]
	case "kind":
		if strings.Contains(of, "int") {
			return "integer"
		}
		return dataKind(of)
	case "capital":
		return capital(message)
	}
	return ""
}

func dataKind(t string) string {
	t, _, _ = strings.Cut(t, "(")
	return t
}

// clean takes out what Go's formatting leaves where a kind was given fewer values than it holds.
func clean(text string) string {
	for {
		i := strings.Index(text, "%!")
		if i < 0 {
			return text
		}
		end := strings.IndexByte(text[i:], ')')
		if end < 0 {
			return text[:i]
		}
		text = text[:i] + text[i+end+1:]
	}
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}

// values reads the values that a message was made with, by its format.
func values(format, text string) []string {
	var list []string
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 >= len(format) {
			return list
		}
		if len(text) < i || text[:i] != format[:i] {
			return list
		}
		format, text = format[i+2:], text[i:]
		next := strings.IndexByte(format, '%')
		if next < 0 {
			next = len(format)
		}
		end := len(text)
		if next > 0 {
			if end = strings.LastIndex(text, format[:next]); next < len(format) {
				end = strings.Index(text, format[:next])
			}
			if end < 0 {
				end = len(text)
			}
		}
		value := text[:end]
		if q, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
			value = q
		}
		value, _, _ = strings.Cut(value, ", maybe you mean ")
		list, text = append(list, value), text[end:]
	}
	return list
}

// tokens are the words and marks of the statement. Its literals are gone.
func (s Statement) tokens() []string {
	t := sqlparser.NewStringTokenizer(s.Text)
	var list []string
	for len(list) < 10000 {
		kind, value := t.Scan()
		switch {
		case kind == 0 || kind == sqlparser.LEX_ERROR:
			return list
		case len(value) > 0:
			list = append(list, string(value))
		case kind < 256:
			list = append(list, string(rune(kind)))
		}
	}
	return list
}

func word(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// clauses are the words that begin a part of a statement, with MySQL's name of it.
var clauses = map[string]string{
	"select": "field list", "set": "field list", "values": "field list", "where": "where clause", "on": "on clause", "order": "order clause", "group": "group statement",
	"having": "having clause",
}

// clause says in which part of the statement a column is named first.
func (s Statement) clause(column string) string {
	at := "field list"
	for _, t := range s.tokens() {
		if c, ok := clauses[strings.ToLower(t)]; ok {
			at = c
		}
		if strings.EqualFold(t, column) {
			return at
		}
	}
	return "field list"
}

// qualified is a table's name with its database, from the statement or the session.
func (s Statement) qualified(table string) string {
	list := s.tokens()
	for i := 2; i < len(list); i++ {
		if strings.EqualFold(list[i], table) && list[i-1] == "." {
			return list[i-2] + "." + table
		}
	}
	if s.Database == "" {
		return table
	}
	return s.Database + "." + table
}

// columnOf returns the first column that a name qualifies, "" where it is also something else in
// the statement.
func (s Statement) columnOf(name string) string {
	list, found := s.tokens(), ""
	for i, t := range list {
		switch {
		case !strings.EqualFold(t, name):
		case word(list, i+1) != ".":
			return ""
		case found == "":
			found = name + "." + word(list, i+2)
		}
	}
	return found
}

// object is the first table that the statement names.
func (s Statement) object() string {
	list := s.tokens()
	for i, t := range list {
		switch strings.ToUpper(t) {
		case "FROM", "INTO", "UPDATE", "TABLE":
			n := word(list, i+1)
			if word(list, i+2) == "." {
				n = word(list, i+3)
			}
			if n != "" && n != "(" {
				return n
			}
		}
	}
	return ""
}
