package statement

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/internal/collation"
)

// Between the client's side, which has character_set_client and character_set_results, and the
// store all texts are in UTF-8. Package result converts the texts of results.

// setNames gives a new session the character set that its client has named in the login. The
// collation of literals stays the server's for a client that speaks utf8mb4.
func (h *Handler) setNames(c *mysql.Conn) error {
	by := sql.CollationID(c.CharacterSet)
	set := by.CharacterSet()
	if by == sql.Collation_Unspecified || by.Name() == "" || set == sql.CharacterSet_utf8mb4 {
		return nil
	}
	if err := collation.Check(by); err != nil {
		return err
	}
	ctx, err := h.Sessions.NewContextWithQuery(context.Background(), c, "")
	for _, v := range []string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"} {
		value := set.Name()
		if strings.HasPrefix(v, "collation") {
			value = by.Name()
		}
		if err == nil {
			err = ctx.SetSessionVariable(ctx, v, value)
		}
	}
	return err
}

// received returns the first statement of what a client has sent, or all of it where whole is set,
// in UTF-8, and what follows the statement as it is.
func received(c *mysql.Conn, text string, whole bool) (first, rest string, err error) {
	set := clientSet(c)
	if !collation.Converted(set) || ascii(text) {
		return text, "", nil
	}
	mode, _ := c.ClientData.(*session.Session).GetSessionVariable(nil, sql.SqlModeSessionVar)
	decode := func(text string) (string, error) { return decoded(set, text) }
	return dialect.Decode(text, dialect.ModeOf(sql.NewSqlModeFromString(fmt.Sprint(mode))), whole, decode)
}

func clientSet(c *mysql.Conn) sql.CharacterSetID {
	if s, ok := c.ClientData.(*session.Session); ok {
		return s.CharacterSetClient()
	}
	return sql.CharacterSet_utf8mb4
}

// decoded returns a text of a character set in UTF-8.
func decoded(set sql.CharacterSetID, text string) (string, error) {
	if set == sql.CharacterSet_latin1 {
		out, _ := set.Encoder().Decode([]byte(text)) // which has a character for each byte
		return string(out), nil
	}
	if at := collation.Outside(set, text); at >= 0 {
		return "", mysql.NewSQLError(1300, "HY000", "Invalid %s character string: '%X'", set.Name(), text[at:min(at+3, len(text))])
	}
	return text, nil
}

// encoded returns an error as its client reads it: with the numbers of characters that the client's
// character set does not have.
func encoded(c *mysql.Conn, err error) error {
	e, ok := mysqlerr.AsSQLError(err)
	s, is := c.ClientData.(*session.Session)
	if !ok || !is {
		return err
	}
	set := s.CharacterSetResults()
	if !collation.Converted(set) || ascii(e.Message) {
		return err
	}
	var b strings.Builder
	for _, r := range e.Message {
		switch {
		case collation.Outside(set, string(r)) < 0:
			b.WriteString(collation.Encoded(set, string(r)))
		case r > 0xffff:
			fmt.Fprintf(&b, "\\+%06X", r)
		default:
			fmt.Fprintf(&b, "\\%04X", r)
		}
	}
	out := *e
	out.Message = b.String()
	return &out
}

func ascii(text string) bool { return collation.Outside(sql.CharacterSet_ascii, text) < 0 }
