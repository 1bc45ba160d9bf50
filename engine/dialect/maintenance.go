package dialect

import (
	"strings"

	"scrim/internal/sqltext"
)

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
