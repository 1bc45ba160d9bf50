package hours

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// told is what stands before a warning in the shell, in the console and at an agent's.
const told = `^((Warning|Note)( \(1644\))?: )?([A-Z_]+: )?`

// messages are what somebody has read: how a message begins, and the words by which it names the
// next step. Those without such words report, and leave nothing to do.
var messages = []struct{ says, next string }{
	// reports
	{`^Cost: nothing; a stored answer`, ``},
	{`^Cost: epsilon [\d.e-]+(, delta [\d.e-]+)? of ml\.ratings( \(ledger \d+\)|; epsilon [\d.e-]+ left)`, ``},
	{`^Cost: epsilon [\d.e-]+(, delta [\d.e-]+)? of user`, `\d+ questions at the default loss left`},
	{`^make: \*\*\* \[Makefile:\d+: demo\] Interrupt`, ``}, // make's own, at Ctrl-C

	// the DBA
	{`^scrim: \w+ has no table`, `scrim import --table SCHEMA\.NAME FILE`},
	{`^scrim: ml\.ratings: the table already exists`, `--append adds .* --replace puts`},

	// mistakes in the shell
	{`^scrim: not all statements were run`, `--force goes on`},
	{`^ERROR 1046 \(3D000\) at line 1: No database selected`, `name a database behind scrim sql`},
	{`^ERROR 1054 \(42S22\) at line 1: Unknown column`, `\\d TABLE lists the columns`},
	{`^ERROR 1064 \(42000\) at line 1: You have an error in your SQL syntax`, `look at the words just before that`},
	{`^ERROR 1146 \(42S02\) at line 1: Table 'ml\.rating' doesn't exist`, `\\d lists the tables`},
	{`^ERROR 1644 \(45002\) at line 1: The query would return rows of a protected table`, `Ask for an aggregate, for example SELECT COUNT`},
	{`^scrim: connecting to \S+ as analyst: Error 1045`, `--user names the account, --password-file or SCRIM_PASSWORD has its password`},

	// mistakes in the console, and of the agent
	{`^Access denied for user`, `Check both; a DBA sets another password`},
	{`^Error 1146 \(42S02\)\. Table 'ml\.rating' doesn't exist\. `, `The tables are on the left\.$`},
	{`^this tool only reads`, `send a SELECT, WITH, SHOW`},
	{`^Error 1644 \(45002\): The query would return rows of a protected table`, `Ask for an aggregate`},
	{`^Error 1146 \(42S02\): Table 'ml\.rating' doesn't exist\. `, `describe lists the tables\.$`},
	{`^Error 1644 \(45013\): The query would cost`, `Ask with a smaller dp_epsilon, wait for the next window, or have a DBA raise the budget`},

	// the contributor
	{`^Give a number`, `or pick one of the answers`},
	{`^You have reported already, with this link`, ``},

	// answers that need a word
	{told + `The 95 % interval reaches farther`, `Ask for coarser groups or with a .*loss.*SET_VAR\(dp_epsilon=`},
	{told + `NULL for too few persons`, `Ask for coarser groups or with a larger loss: SELECT`},
	{told + `What a clip takes`, `Have a DBA declare`},
	{told + `NULL, as no bound of the error is known`, `Ask at a lower level, with a larger dp_epsilon, or by another method`},
	{told + `\d+ keys \(.*\) are answered; a key is left out unless`, `CALL dp_set_domain\(.* SET dp_keys = 'keep'`},
}

// reviewed is nil for a message that has been read, and still names its next step.
func reviewed(line string) error {
	if line == "" {
		return nil
	}
	for _, m := range messages {
		if !regexp.MustCompile(m.says).MatchString(line) {
			continue
		}
		if !regexp.MustCompile(m.next).MatchString(line) {
			return fmt.Errorf("meets a message that does not say what to do, by %q: %s", m.next, line)
		}
		return nil
	}
	return fmt.Errorf("meets a message that nobody has read; does it say what to do next? %s", line)
}

// TestReviewed: a message that nobody has read, and one that lost its next step, are noticed.
func TestReviewed(t *testing.T) {
	for line, want := range map[string]string{
		"": "",
		"scrim: not all statements were run; --force goes on after an error": "",
		"scrim: not all statements were run":                                 "does not say what to do",
		"something went wrong":                                               "nobody has read",
	} {
		err := reviewed(line)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", line, err, want)
		}
	}
}
