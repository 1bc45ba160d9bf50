package dialect

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// adjust returns the text that the grammar gets.
func adjust(t *testing.T, query string, mode Mode, list ...Form) (string, error) {
	t.Helper()
	p := Parser(sql.NewMysqlParser(), list...)
	m, changed, err := p.adjust(query, mode, Caller{User: "ann", Host: "%"}, false)
	if err != nil {
		return "", err
	}
	if !changed {
		return query, nil
	}
	return m.text, nil
}

func TestForms(t *testing.T) {
	list := []Form{
		{Pattern: "SHOW ENGINE <name> STATUS", Query: "SELECT $1 AS Type"},
		{Pattern: "SHOW COUNT ( * ) {WARNINGS|ERRORS}", Query: "SELECT @@warning_count"},
		{Pattern: "SHOW {BINARY|MASTER} LOGS", Query: Empty("Log_name", "File_size")},
		{Pattern: "SHOW [EXTENDED] INDEX {IN|FROM} <table> <filter>", Query: "SELECT $1 AS a, $2 AS b, :2 AS c", Like: "b"},
		{Pattern: "SHOW CREATE USER <account>", Query: "SELECT $1, $2"},
		no("SHOW PROFILE <rest>", "No profiles.", "None."),
	}
	cases := []struct{ query, want string }{
		{"show engine InnoDB status", "SELECT 'InnoDB' AS Type"},
		{"SHOW COUNT(*) WARNINGS;", "SELECT @@warning_count;"},
		{"/* c */ show /*!40100 master */ logs", "SELECT '' AS `Log_name`, '' AS `File_size` FROM DUAL WHERE 1 = 0"},
		{"SHOW INDEX FROM t", "SELECT NULL AS a, 't' AS b, `t` AS c"},
		{"SHOW EXTENDED INDEX IN `a``b`.'t'", "SHOW EXTENDED INDEX IN `a``b`.'t'"},
		{"SHOW EXTENDED INDEX IN `a``b`.t like 'x\\'%'", "SELECT * FROM (SELECT 'a`b' AS a, 't' AS b, `t` AS c) AS answer WHERE `b` LIKE 'x''%'"},
		{"SHOW INDEX IN t WHERE b = 1 AND c", "SELECT * FROM (SELECT NULL AS a, 't' AS b, `t` AS c) AS answer WHERE b = 1 AND c"},
		{"SHOW CREATE USER 'o''x'@'local host'", "SELECT 'o''x', 'local host'"},
		{"SHOW CREATE USER bob", "SELECT 'bob', '%'"},
		{"SHOW CREATE USER bob@localhost", "SELECT 'bob', 'localhost'"},
		{"SHOW CREATE USER CURRENT_USER()", "SELECT 'ann', '%'"},
		{"SHOW CREATE USER current_user", "SELECT 'ann', '%'"},
		{"SHOW PROFILES", "SHOW PROFILES"},
		{"SELECT 'SHOW PROFILE'", "SELECT 'SHOW PROFILE'"},
	}
	for _, c := range cases {
		got, err := adjust(t, c.query, Mode{}, list...)
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.query, got, err, c.want)
		}
	}
	if _, err := adjust(t, "show profile all", Mode{}, list...); err == nil {
		t.Error("a refused form went through")
	} else if r, ok := refuse.As(err); !ok || r.Cause != "No profiles." {
		t.Errorf("a refused form gave %v", err)
	}
}
