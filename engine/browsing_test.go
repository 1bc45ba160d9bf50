package engine

import (
	"strings"
	"testing"
)

// TestShowCreateUser: accounts and roles are shown to a DBA, one's own to everybody, and no
// password to anybody.
func TestShowCreateUser(t *testing.T) {
	i, root := company(t, "")
	shown := func(c *client, account string) string {
		t.Helper()
		return c.query("SHOW CREATE USER " + account)[0][0]
	}
	ann := shown(root, "'ann'@'%'")
	if !strings.HasPrefix(ann, "CREATE USER `ann`@`%` IDENTIFIED WITH ") || !strings.HasSuffix(ann, " ACCOUNT UNLOCK") || strings.Contains(ann, " AS ") {
		t.Errorf("of an account: %s", ann)
	}
	if role := shown(root, "analyst"); !strings.HasSuffix(role, " PASSWORD EXPIRE ACCOUNT LOCK") {
		t.Errorf("of a role: %s", role)
	}
	if own := shown(i.as("ann"), "CURRENT_USER()"); own != ann {
		t.Errorf("one's own: %s, want %s", own, ann)
	}
	i.as("ann").refused(1227, "42000", "SHOW CREATE USER 'bob'@'%'")
	root.refused(1396, "", "SHOW CREATE USER 'nobody'@'%'")
}
