package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestConnectionsOfAnAccount: MAX_USER_CONNECTIONS of an account takes the place of the server's
// number for it, is kept, and is a DBA's to set.
func TestConnectionsOfAnAccount(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	root := i.root()
	root.exec("CREATE USER ann IDENTIFIED BY 'pw-ann' WITH MAX_USER_CONNECTIONS 2", "CREATE USER bob IDENTIFIED BY 'pw-bob', eve@'%' IDENTIFIED BY 'pw-eve'",
		"SET GLOBAL max_user_connections = 3")
	a := i.client("ann", "pw-ann")
	i.client("ann", "pw-ann")
	exceeded := func(i *instance, user string, n int) {
		t.Helper()
		_, err := i.dial(user, "pw-"+user)
		if want := fmt.Sprintf("Error 1226 (42000): User '%s' has exceeded the 'max_user_connections' resource (current value: %d)", user, n); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	exceeded(i, "ann", 2)
	// One of its own that is more than the server's, and none again.
	root.exec("ALTER USER bob WITH MAX_USER_CONNECTIONS 4", "ALTER USER IF EXISTS nobody WITH MAX_USER_CONNECTIONS 1")
	for range 4 {
		i.client("bob", "pw-bob")
	}
	exceeded(i, "bob", 4)
	root.exec("ALTER USER bob@'%' WITH MAX_USER_CONNECTIONS 0", "ALTER USER ann IDENTIFIED BY 'pw-new' WITH MAX_QUERIES_PER_HOUR 0 MAX_USER_CONNECTIONS 1")
	if _, err := i.dial("bob", "pw-bob"); errno(err) != 1203 {
		t.Errorf("with the server's number again: got %v, want error 1203", err)
	}
	if got := root.value("SHOW CREATE USER ann"); !strings.Contains(got, "REQUIRE NONE WITH MAX_USER_CONNECTIONS 1 PASSWORD") {
		t.Errorf("SHOW CREATE USER: %s", got)
	}
	for query, number := range map[string]uint16{
		"ALTER USER missing WITH MAX_USER_CONNECTIONS 1":                                  1396,
		"ALTER USER ann WITH MAX_QUERIES_PER_HOUR 5":                                      1644,
		"CREATE USER dan IDENTIFIED BY 'pw' WITH MAX_CONNECTIONS_PER_HOUR 5":              1644,
		"ALTER USER ann IDENTIFIED BY '' WITH MAX_USER_CONNECTIONS 1":                     1644,
		"CREATE USER dan IDENTIFIED BY '' WITH MAX_USER_CONNECTIONS 1":                    1644,
		"CREATE USER ann IDENTIFIED BY 'pw-other' WITH MAX_USER_CONNECTIONS 9":            1396,
		"CREATE USER dan IDENTIFIED BY 'pw' ATTRIBUTE '{\"max_user_connections\": 9}': '": 1064,
	} {
		if _, err := root.try(query); errno(err) != number {
			t.Errorf("%s: got %v, want error %d", query, err, number)
		}
	}
	root.exec("CREATE USER zoe@'' IDENTIFIED BY 'pw-zoe', yan@'10.%' IDENTIFIED BY 'pw-yan' WITH MAX_USER_CONNECTIONS 7")
	for _, account := range []string{"zoe@'%'", "yan@'10.%'"} {
		if got := root.value("SHOW CREATE USER " + account); !strings.Contains(got, " WITH MAX_USER_CONNECTIONS 7 ") {
			t.Errorf("%s: %s", account, got)
		}
	}
	root.exec("CREATE USER IF NOT EXISTS ann IDENTIFIED BY 'pw-other' WITH MAX_USER_CONNECTIONS 9")
	// Not one's own, and nobody else's.
	for _, query := range []string{"ALTER USER ann WITH MAX_USER_CONNECTIONS 9", "ALTER USER CURRENT_USER() WITH MAX_USER_CONNECTIONS 9", "ALTER USER bob WITH MAX_USER_CONNECTIONS 9"} {
		if _, err := a.try(query); err == nil {
			t.Errorf("%s by the account itself was done", query)
		}
	}
	i.end()
	i = start(t, dir)
	i.client("ann", "pw-new")
	exceeded2 := "Error 1226 (42000): User 'ann' has exceeded the 'max_user_connections' resource (current value: 1)"
	if _, err := i.dial("ann", "pw-new"); fmt.Sprint(err) != exceeded2 {
		t.Errorf("after a restart: got %v, want %s", err, exceeded2)
	}
	// An administrator is let in.
	root = i.root()
	root.exec("GRANT dba TO ann")
	i.eventuallyIn("ann", "pw-new")
}
