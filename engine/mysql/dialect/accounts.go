package dialect

import (
	"strings"

	"scrim/internal/sqltext"
)

func init() {
	heads["SET"] = sets
	heads["ALTER"] = alterUser
}

// sets adjusts SET PASSWORD, and answers SET ROLE: all roles of an account are active, always.
func sets(s *statement) {
	switch {
	case s.is(1, "PASSWORD") && !s.is(2, "."):
		s.password()
	case s.is(1, "ROLE") && !s.is(2, "=", ":="):
		s.role()
	case s.are(1, "DEFAULT", "ROLE"):
		s.defaultRole()
	}
}

const rolesCause = "All roles that an account has been granted are active."

// role answers the forms of SET ROLE that change nothing, and refuses the others.
func (s *statement) role() {
	if len(s.tokens) == 3 && s.is(2, "ALL", "DEFAULT") {
		s.whole("SET @`do nothing with it` = NULL")
		return
	}
	s.refuse(rolesCause, "REVOKE takes one away; SET ROLE ALL and SET ROLE DEFAULT change nothing.")
}

func (s *statement) defaultRole() {
	if s.is(3, "ALL") && s.is(4, "TO") {
		s.whole("SET @`do nothing with it` = NULL")
		return
	}
	s.refuse(rolesCause, "SET DEFAULT ROLE ALL is what holds for everybody; REVOKE takes a role away.")
}

// password writes SET PASSWORD [FOR account] = 'x' as ALTER USER.
func (s *statement) password() {
	m := match{s: s, at: 2}
	account := ""
	if s.is(2, "FOR") {
		m.at = 3
		if !m.account() {
			return
		}
		account = sqltext.Text(*m.args[0]) + "@" + sqltext.Text(*m.args[1])
	} else {
		account = s.caller()
	}
	if s.are(m.at, "TO", "RANDOM") {
		s.refuse("Passwords are not made by the server.", "SET PASSWORD = 'a password of your own'.")
		return
	}
	value := m.at + 1
	if !s.is(m.at, "=", ":=") || s.ends(value) {
		return
	}
	if s.is(value, "PASSWORD") && s.is(value+1, "(") {
		value += 2
	}
	if s.ends(value) || s.tokens[value].kind != text {
		return
	}
	if s.is(value+1, "REPLACE", "RETAIN") {
		s.refuse("An account has one password, and an open session may change it.", "Leave REPLACE and RETAIN CURRENT PASSWORD out.")
		return
	}
	s.whole("ALTER USER " + account + " IDENTIFIED BY " + sqltext.Text(s.unquoted(value)))
}

// caller writes the account that the statement comes from.
func (s *statement) caller() string { return sqltext.Text(s.who.User) + "@" + sqltext.Text(s.who.Host) }

// options are the parts of ALTER USER and CREATE USER that the server has nothing for, with what it
// has.
var options = []struct{ word, cause, remedy string }{
	{"ACCOUNT", "ACCOUNT LOCK and UNLOCK are not supported.", "REVOKE what the account may do, or DROP USER."},
	{"PASSWORD", "Passwords do not expire.", "ALTER USER … IDENTIFIED BY 'password' sets a new one."},
	{"REQUIRE", "REQUIRE is not supported for single accounts.", "Start the server with --require-tls, which holds for all."},
	{"DEFAULT", rolesCause, "Leave DEFAULT ROLE out."},
	{"FAILED_LOGIN_ATTEMPTS", "FAILED_LOGIN_ATTEMPTS is not supported.", "The server slows failing logins down by itself."},
	{"COMMENT", "Accounts have no comments.", "Leave COMMENT out."},
	{"ATTRIBUTE", "Accounts have no attributes.", "Leave ATTRIBUTE out."},
	{"ADD", "An account has one password.", "Leave ADD FACTOR out."},
	{"RETAIN", "An account has one password.", "Leave RETAIN CURRENT PASSWORD out."},
	{"DISCARD", "An account has one password.", "Nothing needs to be discarded."},
	{"REPLACE", "An open session may change its account's password.", "Leave REPLACE out."},
}

// alterUser puts the caller's name in the place of USER(), and refuses by name what ALTER USER
// cannot change.
func alterUser(s *statement) {
	if !s.is(1, "USER") {
		return
	}
	at := 2
	if s.are(2, "IF", "EXISTS") {
		at = 4
	}
	if s.is(at, "USER", "CURRENT_USER") && s.are(at+1, "(", ")") {
		s.replace(at, at+2, s.caller())
		at += 2
	} else if s.is(at, "CURRENT_USER") {
		s.replace(at, at, s.caller())
	}
	for i := at + 1; i < len(s.tokens); i++ {
		if s.is(i-1, "@", ",") || s.tokens[i].kind != word {
			continue
		}
		if s.are(i, "IDENTIFIED", "BY") && s.is(i+3, "WITH") && s.tokens[i+2].kind == text && s.unquoted(i+2) == "" {
			// the grammar cannot tell it from no password given
			s.refuse("The account would have no password.", "Write IDENTIFIED BY 'password'.")
			return
		}
		for _, o := range options {
			if equal(s.text(i), o.word) && !strings.HasSuffix(s.text(i-1), "@") {
				s.refuse(o.cause, o.remedy)
				return
			}
		}
	}
}
