// Package mysqlerr turns errors outward: into MySQL's numbers, states and words, as far as a client
// may see them, and into the log what it may not. On protected tables only refusals and conditions
// of the statement's own text get out.
package mysqlerr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/rs/zerolog"
	goerrors "gopkg.in/src-d/go-errors.v1"

	"scrim/accounting"
	"scrim/engine/exec"
	"scrim/engine/store"
	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/panics"
	"scrim/internal/refuse"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// Translator turns errors into what clients may see, and logs what they may not. The log gets texts
// of our own packages; messages of the store's driver, which may quote rows, only with debug.
type Translator struct {
	Log   zerolog.Logger
	Debug bool
	// TablesAt says which tables have rows at a byte of the data file that is damaged; nil: nobody
	// does.
	TablesAt func(at int64) []string
}

// recovered is a panic on a client's behalf.
type recovered struct {
	value any
	stack []byte
}

func (p *recovered) Error() string { return "engine: panic" }

// Context is what an error's way out depends on.
type Context struct {
	// Protected says that the statement read protected tables: then only refusals and conditions of
	// the statement's own text get out.
	Protected bool
	// of the statement, for the log; the client is told the id where it is not told the error
	Principal, ID string
	Statement     Statement
}

// Public returns the error that a client sees for err.
func (t *Translator) Public(err error, f Context) error {
	if err == nil {
		return nil
	}
	err = peel(err)
	if r, ok := RefusedBy(err); ok {
		if r.Code == refuse.Failed || r.Code == refuse.Ledger || r.Code == refuse.Space {
			t.record(err, f)
			return failure(r, f)
		}
		return mysql.NewSQLError(refuse.MySQLErrno, refuse.Lookup(r.Code).SQLState, "%s", r.Error())
	}
	if c := new(plan.Computation); errors.As(err, &c) {
		f.Protected = true // before anything was read, too: made-up numbers are not shown
	}
	if !f.Protected {
		if e := interruption(err); e != nil {
			return e
		}
	}
	if e := conditionIn(conditions, err, f.Statement); e != nil {
		return e
	}
	if f.Protected {
		t.record(err, f)
		return failure(unfinished(err), f)
	}
	if e := conditionIn(valueConditions, err, f.Statement); e != nil {
		return e
	}
	if e := illegalDouble(err); e != nil {
		return e
	}
	if e := textCondition(err); e != nil {
		return e
	}
	if e := storeCondition(err); e != nil {
		switch store.KindOf(err) {
		case store.Corrupt, store.InDoubt, store.DiskFull:
			t.record(err, f)
		}
		return e
	}
	if e := fileCondition(err); e != nil {
		t.record(err, f)
		return e
	}
	if k := KindOf(err); k != nil && !strings.Contains(k.Error(), "file an issue") {
		return mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "%s", clean(k.Error()))
	}
	t.record(err, f)
	return mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "internal error (statement id %s)", f.ID)
}

// unfinished is what a client is told of an error that it is not told itself.
func unfinished(err error) *refuse.Error {
	var c *plan.Computation
	switch {
	case !errors.As(err, &c):
		return refuse.New(refuse.Failed, "The query on protected data did not finish; its charge stands.")
	case !c.Charged:
		return refuse.New(refuse.Failed, "What the statement computes from its private answers fails for all numbers; nothing was charged.").
			With("Ask for the aggregates alone, or convert what you compute with; the server's log has the cause.")
	}
	return refuse.New(refuse.Failed, "The private answers are there, and kept: the same statement is charged nothing more. What it computes from them failed.").
		With("Ask for the aggregates alone, or have an operator look at the server's log; a longer max_execution_time may help.")
}

// peel takes off the wrappers of go-mysql-server that hide what they wrap from errors.As.
func peel(err error) error {
	for {
		switch e := err.(type) {
		case sql.WrappedInsertError:
			err = e.Cause
		case sql.WrappedTypeConversionError:
			err = e.Err
		case *goerrors.Error: // what stops a sort
			if !sql.ErrUnableSort.Is(e) || e.Cause() == nil {
				return err
			}
			err = e.Cause()
		default:
			return err
		}
	}
}

// record logs an error that clients do not see.
func (t *Translator) record(err error, f Context) {
	e := t.Log.Error().Str("id", f.ID).Str("principal", f.Principal).Str("type", ErrorType(err))
	var p *recovered
	if errors.As(err, &p) {
		e = e.Bytes("stack", p.stack)
		if t.Debug {
			e = e.Str("panic", fmt.Sprint(p.value))
		}
	}
	var s *store.Error
	var full *spill.Full
	var limit *exec.Limit
	switch {
	case errors.As(err, &full): // sizes and a directory
		e = e.Str("wanted", full.Error())
	case errors.As(err, &limit):
		e = e.Str("wanted", limit.Error())
	case errors.As(err, &s):
		e = e.Str("store", s.Kind.String())
		switch {
		case s.Kind == store.Corrupt:
			e = e.Str("damaged", s.Detail)
			if t.TablesAt != nil {
				e = e.Strs("tables", t.TablesAt(s.At))
			}
		case s.Detail != "":
			e = e.Str("wanted", s.Detail)
		}
		if t.Debug {
			e = e.Str("driver", s.Driver)
		}
	case errors.Is(err, accounting.ErrUnavailable): // its text is for operators, and says what to do
		e = e.Str("ledger", err.Error())
	case fileCondition(err) != nil: // a file of the server's and what the system says
		e = e.Str("file", fileError(err))
	case t.Debug:
		e = e.Str("error", err.Error())
	}
	e.Msg("statement failed")
}

// RefusedBy returns the refusal that an error is, the account's among them.
func RefusedBy(err error) (*refuse.Error, bool) { return refuse.As(account(peel(err))) }

// OfParser is the error of a text that the parser refuses: a refusal as it is, any
// other as a syntax error.
func OfParser(err error) error {
	if _, ok := refuse.As(err); ok {
		return err
	}
	return sql.ErrSyntaxError.New(err.Error())
}

// Expected reports whether an error that is no condition of MySQL's is one that go-mysql-server or
// the store knows: about the statement's text, or about values that its client may read.
func Expected(err error) bool {
	err = peel(err)
	return storeCondition(err) != nil || KindOf(err) != nil || illegalDouble(err) != nil
}

// Guard turns a panic of f into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			panics.Recovered()
			err = &recovered{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// AsSQLError finds an error of MySQL in a chain.
func AsSQLError(err error) (*mysql.SQLError, bool) {
	var e *mysql.SQLError
	ok := errors.As(err, &e)
	return e, ok
}

// ErrorType names the type of the innermost error.
func ErrorType(err error) string { return fmt.Sprintf("%T", root(err)) }

// root is the innermost error; of several that one wraps, the last one, which is the cause behind a
// public text.
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if many, ok := err.(interface{ Unwrap() []error }); ok && len(many.Unwrap()) > 0 {
			next = many.Unwrap()[len(many.Unwrap())-1]
		}
		if next == nil {
			return err
		}
		err = next
	}
}

// failure is a refusal whose cause is in the log only.
func failure(r *refuse.Error, f Context) error {
	return mysql.NewSQLError(refuse.MySQLErrno, refuse.Lookup(r.Code).SQLState, "%s (statement id %s)", r.Error(), f.ID)
}

// account turns the account's errors into refusals; other errors stay as they are.
func account(err error) error {
	var none *accounting.NoBudgetError
	var spent *accounting.ExhaustedError
	switch {
	case errors.As(err, &none):
		return refuse.New(refuse.NoBudget, "%s has no budget for all principals together.", named(none.Table, none.Account))
	case errors.As(err, &spent):
		return exhausted(spent)
	case errors.Is(err, accounting.ErrUnavailable) && errors.Is(err, accounting.ErrDamaged):
		return errors.Join(refuse.New(refuse.Ledger, "The ledger is damaged; nothing was charged, read or answered.").
			With("Ask an operator to look at the server's log, which says what to do."), err)
	case errors.Is(err, accounting.ErrInDoubt):
		return errors.Join(refuse.New(refuse.Ledger, "Writing the ledger failed; nothing was read or answered. Whether the charge or the change counts shows when the ledger is opened anew."), err)
	case errors.Is(err, accounting.ErrUnavailable):
		return errors.Join(refuse.New(refuse.Ledger, "The charge could not be made durable; nothing was read or answered."), err)
	default:
		return err
	}
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func until(t time.Time) string {
	if t.IsZero() {
		return "ever"
	}
	return t.UTC().Format("2006-01-02 15:04 MST")
}

func named(table, account string) string {
	if table != "" {
		return table
	}
	return account
}

// interruption words the end of a statement by KILL, a lost client or max_execution_time.
func interruption(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return mysql.NewSQLError(3024, mysql.SSUnknownSQLState, "Query execution was interrupted, maximum statement execution time exceeded (max_execution_time, or statement-time of the server)")
	case errors.Is(err, context.Canceled), store.KindOf(err) == store.Interrupted:
		return mysql.NewSQLError(mysql.ERQueryInterrupted, mysql.SSQueryInterrupted, "Query execution was interrupted")
	}
	return nil
}

// Condition finds MySQL's own error in err: one that already is one, or a kind of go-mysql-server
// that is about the statement's text.
func Condition(err error) error { return conditionIn(conditions, err, Statement{}) }

// conditionIn finds the error in a list, for the words of a statement.
func conditionIn(list []mapping, err error, s Statement) error {
	for e := err; e != nil; e = unwrap(e) {
		if own, ok := e.(*mysql.SQLError); ok && own.Num != mysql.ERUnknownError {
			return mysql.NewSQLError(own.Num, own.State, "%s", own.Message)
		}
		if c, ok := lists.Find(list, func(c mapping) bool { return c.kind.Is(e) }); ok {
			return worded(e, c.errno, c.state, c.kind.Message, c.text, s)
		}
	}
	return nil
}

// unwrap goes one step down the chain, through go-mysql-server's wrappers too.
func unwrap(err error) error {
	switch e := err.(type) {
	case sql.WrappedInsertError:
		return e.Cause
	case sql.WrappedTypeConversionError:
		return e.Err
	case interface{ Unwrap() []error }:
		if all := e.Unwrap(); len(all) > 0 {
			return all[len(all)-1]
		}
		return nil
	}
	return errors.Unwrap(err)
}

// KindOf returns the go-mysql-server kind in err's chain: its text speaks of the statement, or of
// values that the client may read.
func KindOf(err error) error {
	for e := err; e != nil; e = unwrap(e) {
		if k, ok := e.(*goerrors.Error); ok {
			return k
		}
	}
	return nil
}

// fileCondition words that a file of the server's own cannot be written, as that of the accounts.
func fileCondition(err error) error {
	var doubt *durable.InDoubt
	switch {
	case errors.As(err, &doubt):
		return mysql.NewSQLError(1180, "HY000", "Writing a file of the server's to the disk failed, and a crash of the machine may undo the change; look whether it is kept. The server's log says which file")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return mysql.NewSQLError(1021, "HY000", "Disk full: a file of the server's cannot be written; its log says which")
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS):
		return mysql.NewSQLError(1026, "HY000", "Error writing a file of the server's; its log says which")
	}
	return nil
}

// fileError is the part of an error that names a file.
func fileError(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Error()
	case errors.As(err, &link):
		return link.Error()
	}
	return ""
}

// illegalDouble words a number that is beyond DOUBLE.
func illegalDouble(err error) error {
	var n *strconv.NumError
	if !errors.As(err, &n) || n.Func != "ParseFloat" || !errors.Is(n, strconv.ErrRange) {
		return nil
	}
	return mysql.NewSQLError(1367, "22007", "Illegal double '%.64s' value found during parsing", n.Num)
}

// textCondition words an error of go-mysql-server's that is of no kind, by how its text reads.
func textCondition(err error) error {
	for ; err != nil; err = unwrap(err) {
		for _, c := range textConditions {
			if text := err.Error(); c.reads.MatchString(text) {
				return mysql.NewSQLError(c.errno, c.state, "%s", clean(c.reads.ReplaceAllString(text, c.text)))
			}
		}
	}
	return nil
}

// storeCondition words a failure of the store on public data or of a DBA's statement.
func storeCondition(err error) error {
	var s *store.Error
	if !errors.As(err, &s) {
		return nil
	}
	c, ok := storeConditions[s.Kind]
	if !ok {
		return nil
	}
	text := c.text
	if s.Kind == store.NotNull && s.Column != "" {
		text = fmt.Sprintf("Column '%s' cannot be null", s.Column)
	}
	return mysql.NewSQLError(c.errno, c.state, "%s", text)
}
