package contribute

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"scrim/internal/refuse"
)

// Refused is what a server or a shuffler answered to a report: it has arrived, and it was not
// taken. Sending it again will not help, unless Temporary.
type Refused struct {
	Number int // of the error, in MySQL's numbering; 1644 for refusals of collections
	// 45D20 to 45D42 for refusals of collections; see the table of refusals in docs/reference.md
	SQLState string
	Message  string
}

// Error implements error.
func (r *Refused) Error() string {
	return fmt.Sprintf("refused by the server: %s (%d, %s)", r.Message, r.Number, r.SQLState)
}

// Temporary tells whether the server may take the same bytes later.
func (r *Refused) Temporary() bool {
	switch r.Number {
	case 1040, 1053, 1203, 1205, 1213, 1317, 3024: // too many connections, shutting down, locks, interrupted, too slow
		return true
	}
	return false
}

// answer is how drivers for MySQL print what a server answered, as go-sql-driver/mysql does: by it
// alone it is told from errors of the connection, as the package knows no driver.
var answer = regexp.MustCompile(`(?s)^Error (\d{1,5})(?: \(([0-9A-Z]{5})\))?: (.*)$`)

// maxMessage bounds what is repeated of a server's words.
const maxMessage = 1000

// refused reads a server's answer; ok is false for errors of the connection.
func refused(err error) (r *Refused, ok bool) {
	m := answer.FindStringSubmatch(err.Error())
	if m == nil {
		return nil, false
	}
	number, _ := strconv.Atoi(m[1])
	return &Refused{number, m[2], clean(m[3])}, true
}

// clean makes a server's words fit for a terminal: printable, and not too many.
func clean(s string) string {
	out := []rune{}
	for _, r := range s {
		if len(out) == maxMessage {
			return string(out) + "…"
		}
		if !strconv.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// Code names the kind of a refusal, of this package or of the server: SPENT_TOKEN, BUDGET_EXHAUSTED
// and so on, as in the table of refusals in docs/reference.md. It is "" for other errors.
func Code(err error) string {
	var r *Refused
	if e, ok := refuse.As(err); ok {
		return string(e.Code)
	}
	if !errors.As(err, &r) {
		return ""
	}
	for _, e := range refuse.Table {
		if e.SQLState == r.SQLState {
			return string(e.Code)
		}
	}
	return ""
}

func badToken(p *Params, format string, args ...any) error {
	return refuse.New(refuse.ClosedToken, "The token for %.130q %s.", p.Collection, fmt.Sprintf(format, args...)).
		With("Take the whole row that the issuer sent: secret, round, cell, stratum. Nothing was made or sent.")
}
