package dialect

import (
	"slices"
	"strings"

	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// heads are the rules for a statement that begins with a word, in upper case. They come before
// those for single tokens.
var heads = map[string]func(*statement){}

// words are the rules for a word, in upper case, wherever it stands.
var words = map[string]func(s *statement, i int){}

// longestWord is no less than the length of the longest key of words.
const longestWord = 32

// rules lets all rules look at the statement.
func (s *statement) rules() {
	if len(s.tokens) == 0 {
		return
	}
	if s.is(0, "(") && s.is(1, "SELECT", "(", "WITH", "VALUES", "TABLE") && s.close(0) == len(s.tokens)-1 {
		s.drop(0, 0) // the grammar has a statement in brackets within others only
		s.drop(len(s.tokens)-1, len(s.tokens)-1)
	}
	if t := s.tokens[0]; t.kind == word && t.end-t.start <= 16 {
		if rule := heads[strings.ToUpper(s.text(0))]; rule != nil {
			rule(s)
		}
	}
	for i := 0; i < len(s.tokens) && s.err == nil; i++ {
		s.token(i)
	}
}

// token lets the rules look at one token.
func (s *statement) token(i int) {
	switch t := &s.tokens[i]; t.kind {
	case word:
		s.word(i, t)
	case name:
		s.name(i, t)
	case text:
		s.literal(i, t)
	case number:
		s.number(i)
	case mark:
		switch s.src[t.start] {
		case '~':
			s.invert(i)
		case '{':
			s.escape(i)
		case ':':
			s.assignment(i)
		}
	}
}

// word looks a word up. A word behind a dot is a name.
func (s *statement) word(i int, t *token) {
	if t.foreign {
		s.replace(i, i, sqltext.Name(s.text(i)))
		return
	}
	n := t.end - t.start
	if n > longestWord || s.is(i-1, ".") || s.is(i+1, ".") {
		return
	}
	var room [longestWord]byte
	upper := room[:n]
	for k := range upper {
		c := s.src[t.start+k]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[k] = c
	}
	if rule := words[string(upper)]; rule != nil {
		rule(s, i)
	}
}

// refuse ends the reading.
func (s *statement) refuse(cause, remedy string) {
	s.err = refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)
}

func init() { words["BINARY"] = binary }

// binary takes the word as the value of a variable, as mysqlimport sets character_set_database.
// Before a value it is an operator, and stays.
func binary(s *statement, i int) {
	if s.is(0, "SET") && s.is(i-1, "=") && (s.ends(i+1) || s.is(i+1, ",", ";")) {
		s.replace(i, i, "'binary'")
	}
}

func init() { words["COLLATE"] = namesCollate }

// namesCollate makes an assignment of the collation of SET NAMES, which the grammar reads and
// forgets.
func namesCollate(s *statement, i int) {
	if !s.is(0, "SET") || !s.is(i-2, "NAMES") || s.ends(i+1) {
		return
	}
	s.replace(i, i, ", collation_connection =")
	if s.tokens[i+1].kind == word {
		s.replace(i+1, i+1, sqltext.Text(s.text(i+1)))
	}
}

// Forms are the forms that do not depend on what the server tells about itself.
var Forms = slices.Concat(refused, []Form{
	{Pattern: "SHOW STORAGE ENGINES", Query: "SHOW ENGINES"},
})

func init() { heads["LOAD"] = load }

// load leaves LOW_PRIORITY and CONCURRENT out of LOAD DATA: nobody waits for readers here.
func load(s *statement) {
	if s.is(1, "DATA") && s.is(2, "LOW_PRIORITY", "CONCURRENT") {
		s.drop(2, 2)
	}
}

// refused are the statements of MySQL that this server has no use for, by how they begin.
var refused = []Form{
	no("HANDLER <rest>", "HANDLER reads rows past the planner.", "Use SELECT."),
	no("XA <rest>", "Distributed transactions are not supported.", "Use BEGIN and COMMIT."),
	no("HELP <rest>", "The server holds no help texts.", "See docs/reference.md, or SELECT * FROM dp.functions."),
	no("INSTALL <rest>", "The server has no plugins.", "Nothing needs to be installed."),
	no("UNINSTALL <rest>", "The server has no plugins.", "Nothing needs to be installed."),
	no("RESET <rest>", "The server has no binary log.", "Copy the data directory with CALL dp_backup."),
	no("PURGE <rest>", "The server has no binary log.", "Copy the data directory with CALL dp_backup."),
	no("CHANGE <rest>", "Replication is not supported.", "Copy the data directory with CALL dp_backup."),
	no("CACHE <rest>", "The server has no caches of indexes.", "Nothing needs to be done: the store keeps its own."),
	no("CLONE <rest>", "CLONE is not supported.", "Copy the data directory with CALL dp_backup."),
	no("IMPORT <rest>", "IMPORT TABLE is not supported.", "Use scrim import while the server is stopped."),
	no("SHUTDOWN", "The server is not stopped in SQL.", "Send it SIGTERM."),
	no("RESTART", "The server is not started in SQL.", "Send it SIGTERM, and start it again."),
	no("LOCK INSTANCE <rest>", "LOCK INSTANCE is not supported.", "CALL dp_backup needs no lock."),
	no("UNLOCK INSTANCE", "LOCK INSTANCE is not supported.", "CALL dp_backup needs no lock."),
	no("CHECKSUM <rest>", "A checksum of a table would tell exactly what is in it.", "Compare aggregates."),
}

// no is a form that is refused.
func no(pattern, cause, remedy string) Form {
	return Form{Pattern: pattern, Refusal: refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)}
}

func init() {
	heads["CHECK"] = maintenance
	heads["OPTIMIZE"] = maintenance
	heads["REPAIR"] = maintenance
}

// maintenance answers CHECK, OPTIMIZE and REPAIR TABLE as MySQL does for an engine that has no such
// thing, whether there are these tables or not.
func maintenance(s *statement) {
	i := 1
	for s.is(i, "LOCAL", "NO_WRITE_TO_BINLOG") {
		i++
	}
	if !s.is(i, "TABLE", "TABLES") {
		return
	}
	op := strings.ToLower(s.text(0))
	var rows []string
	for i++; s.named(i); i++ {
		table := "DATABASE(), '.', " + sqltext.Text(s.unquoted(i))
		if s.is(i+1, ".") && s.named(i+2) {
			table = sqltext.Text(s.unquoted(i)) + ", '.', " + sqltext.Text(s.unquoted(i+2))
			i += 2
		}
		rows = append(rows, "SELECT CONCAT("+table+") AS `Table`, '"+op+"' AS Op, 'note' AS Msg_type, "+
			sqltext.Text("The storage engine for the table doesn't support "+op)+" AS Msg_text")
		if i++; !s.is(i, ",") {
			break
		}
	}
	if len(rows) > 0 {
		s.whole(strings.Join(rows, " UNION ALL "))
	}
}
