package shell

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/client"
)

// Options say whom a Shell talks to and how.
type Options struct {
	DB       *sql.DB
	Out, Err io.Writer
	Format   string // of Formats
	Force    bool   // go on after an error of a script
	History  string // file of the history at a terminal, "" for none
	// Width is how many cells a line of the terminal has.
	Width func() int
	// Interrupts are the user's wishes to end a running statement.
	Interrupts <-chan os.Signal
}

// Shell is one session with a server.
type Shell struct {
	Options
	conn     *sql.Conn
	id       int64 // of the connection
	database string
	told     int64  // the private statement whose cost was told last
	query    string // the last client.Statement that asked for rows
	names    names
	talking  bool // to a person at a terminal
	left     bool
}

// errInterrupted ends a script that the user has interrupted.
var errInterrupted = errors.New("interrupted")

// Open connects.
func Open(ctx context.Context, o Options) (*Shell, error) {
	if writers[o.Format] == nil {
		return nil, fmt.Errorf("there is no format %q; want one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	s := &Shell{Options: o}
	return s, s.connect(ctx)
}

func (s *Shell) connect(ctx context.Context) error {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return err
	}
	s.conn = conn
	var database sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), DATABASE()").Scan(&s.id, &database); err != nil {
		return err
	}
	s.database = database.String
	s.told = 0
	return nil
}

// Close ends the session.
func (s *Shell) Close() error { return errors.Join(s.conn.Close(), s.DB.Close()) }

// Script runs the statements of a text, up to the first that fails, or all with Force. The error is
// the first one, which has been told.
func (s *Shell) Script(ctx context.Context, text string) error {
	var first error
	line := 0
	for !s.left {
		st, rest, whole := client.Next(text)
		if st.Text == "" && !whole {
			return first
		}
		if err := s.run(ctx, st); err != nil {
			s.tell(err, line+st.Line)
			first = errors.Join(first, err)
			if !s.Force || errors.Is(err, errInterrupted) {
				return first
			}
		}
		line += strings.Count(text[:len(text)-len(rest)], "\n")
		text = rest
	}
	return first
}

// hints are what helps after MySQL's errors, which have no remedy of their own.
var hints = map[uint16]string{
	1046: `name a database behind scrim sql, USE one, or write database.table; \l lists them`,
	1049: `\l lists the databases`,
	1054: `\d TABLE lists the columns of a table`,
	1064: `look at the words just before that; \df lists the functions`,
	1142: `a DBA can GRANT SELECT on it; \d lists what you may read`,
	1146: `\d lists the tables`,
	1305: `\df lists the functions`,
}

// tell writes an error as clients of MySQL do, with the line of a script where it is not 0.
func (s *Shell) tell(err error, line int) {
	at := ""
	if line > 0 {
		at = fmt.Sprintf(" at line %d", line)
	}
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		hint := hints[e.Number]
		if hint != "" {
			hint = " (" + hint + ")"
		}
		fmt.Fprintf(s.Err, "ERROR %d (%s)%s: %s%s\n", e.Number, e.SQLState, at, client.Printable(e.Message, "\n\t"), hint)
		return
	}
	fmt.Fprintf(s.Err, "ERROR%s: %s\n", at, client.Printable(err.Error(), "\n\t"))
}

// run runs one statement or command.
func (s *Shell) run(ctx context.Context, st client.Statement) error {
	if st.Text == "" {
		return nil
	}
	if client.Leaves(st.Text) {
		s.left = true
		return nil
	}
	if st.Command() {
		return s.command(ctx, st.Text)
	}
	format := s.Format
	if st.Vertical {
		format = "vertical"
	}
	if format == "chart" && client.Asks(st.Text) {
		return s.chart(ctx, st.Text)
	}
	if format == "chart" {
		format = "table"
	}
	return s.ask(ctx, st.Text, format)
}

// writes reports whether a statement changes rows and answers with their number.
func writes(query string) bool {
	return slices.ContainsFunc([]string{"INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD"}, func(word string) bool { return client.WordAt(query, 0, word) })
}

// changes reports whether names may be others after a statement.
func changes(query string) bool {
	return slices.ContainsFunc([]string{"USE", "CREATE", "ALTER", "DROP", "RENAME"}, func(word string) bool { return client.WordAt(query, 0, word) })
}

// ask sends a statement, writes its answers, and then what there is to know of them.
func (s *Shell) ask(ctx context.Context, query, format string) error {
	if client.Asks(query) {
		s.query = query
	}
	start := time.Now()
	interrupted := make(chan struct{})
	stop := s.killable(ctx, interrupted)
	answers, changed, err := s.send(ctx, query)
	stop()
	select {
	case <-interrupted:
		if err != nil {
			err = errors.Join(errInterrupted, err)
		}
	default:
	}
	for _, a := range answers {
		if err := writers[format](s.Out, a, s.Width()); err != nil {
			return err
		}
		s.ended(fmt.Sprintf("%s in the answer", client.Counted(len(a.Rows), "row")), start)
	}
	if err == nil && len(answers) == 0 {
		s.ended(changed, start)
	}
	if lost(err) {
		return s.again(ctx, err)
	}
	if err == nil && changes(query) {
		s.names = names{}
		var database sql.NullString
		if err := s.conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
			return err
		}
		s.database = database.String
	}
	if err == nil {
		s.warnings(ctx)
	}
	if client.Asks(query) {
		s.cost(ctx) // of what failed too: a charge stands
	}
	return err
}

// ended tells a person how a statement ended.
func (s *Shell) ended(what string, start time.Time) {
	if s.talking {
		fmt.Fprintf(s.Err, "%s (%.2f s)\n", what, time.Since(start).Seconds())
	}
}

// send sends one statement and reads all its results. changed says what a statement without rows
// did.
func (s *Shell) send(ctx context.Context, query string) (answers []client.Answer, changed string, err error) {
	if writes(query) {
		r, err := s.conn.ExecContext(ctx, query)
		if err != nil {
			return nil, "", err
		}
		n, err := r.RowsAffected()
		return nil, client.Counted(int(n), "row") + " changed", err
	}
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		a, err := client.Read(rows)
		if err != nil {
			return answers, "", err
		}
		if len(a.Columns) > 0 {
			answers = append(answers, a)
		}
	}
	return answers, "done", rows.Err()
}

// killable ends the running statement on the server when the user interrupts it, until stop is
// called. interrupted is closed then.
func (s *Shell) killable(ctx context.Context, interrupted chan struct{}) (stop func()) {
	for len(s.Interrupts) > 0 {
		<-s.Interrupts // of before
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
		case <-s.Interrupts:
			close(interrupted)
			if _, err := s.DB.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id)); err != nil {
				s.tell(fmt.Errorf("the statement could not be ended: %w", err), 0)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// lost reports whether an error is the end of the connection.
func lost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone)
}

// again connects a person anew whose connection has ended.
func (s *Shell) again(ctx context.Context, err error) error {
	if !s.talking {
		return fmt.Errorf("the connection has ended: %w", err)
	}
	_ = s.conn.Close()
	if err := s.connect(ctx); err != nil {
		s.left = true
		return fmt.Errorf("the connection has ended, and there is no other: %w", err)
	}
	return errors.New("the connection had ended. There is a new one, without what SET and USE had set; ask again")
}

// warnings tells the warnings of the statement before; those of private answers say what would do.
func (s *Shell) warnings(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return // the answer stands without them; the next statement tells what is wrong
	}
	defer rows.Close()
	a, err := client.Read(rows)
	if err != nil {
		return
	}
	for _, row := range a.Rows {
		fmt.Fprintf(s.Err, "%s (%s): %s\n", client.Cell(row[0]), client.Cell(row[1]), client.Printable(client.Cell(row[2]), "\n"))
	}
}

// cost tells what the statement was charged: for each table and entity the loss, what is left, and
// for how many questions that is enough.
func (s *Shell) cost(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, client.CostQuery(s.told))
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	defer rows.Close()
	a, err := client.Read(rows)
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	for _, row := range a.Rows {
		s.told = client.CostNumber(row)
		fmt.Fprintln(s.Err, client.CostLine(row))
	}
}
