// Package quota bounds the memory that clients' statements hold in the server's own process: rows
// that operators keep, texts that functions build, and what a session keeps between statements.
//
// An Account belongs to a connection, a Pool to all connections together. What is about to be held
// is taken from the account first, and an error of MySQL's, ER_CAPACITY_EXCEEDED, refuses what does
// not fit:
//
//	Pool            of all connections
//	 └── Account    of a connection
//	      ├── kept  by the session: user variables
//	      ├── held  by the running statement: rows that are sorted, grouped, joined or cached
//	      └── live  texts of the row that is being computed, which nobody holds yet: a stack (Mark, Push, Reset)
//
// Sizes are those of Go's values, estimated from above (Size, Row). A text that several rows share
// counts in each of them.
package quota

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// errCapacity is MySQL's ER_CAPACITY_EXCEEDED.
const errCapacity = 3170

// step is how much an account takes from the pool at a time. The first step of every account is
// there without asking, so that small statements are answered whatever others hold.
const step = 1 << 20

// Pool is the memory of all accounts together.
type Pool struct {
	limit int64
	used  atomic.Int64
}

// NewPool returns a pool of so many bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// Used returns how many bytes accounts have taken.
func (p *Pool) Used() int64 { return p.used.Load() }

func (p *Pool) take(n int64) bool {
	if p.used.Add(n) > p.limit && n > 0 {
		p.used.Add(-n)
		return false
	}
	return true
}

// Limits are the bounds of an account, in bytes.
type Limits struct {
	Statement  int64 // held and live
	Connection int64 // all
	Pool       *Pool
}

// Account is the memory of a connection. A nil account bounds nothing. Its methods may be called
// from several goroutines.
type Account struct {
	limits Limits

	mu         sync.Mutex
	kept, held int64
	live       atomic.Int64 // changed under mu
	pooled     int64        // taken from the pool
	closed     bool
}

// New returns an empty account.
func New(l Limits) *Account { return &Account{limits: l} }

// Holder is a session that has an account.
type Holder interface{ Quota() *Account }

// Of returns the account of the connection behind ctx, nil where there is none.
func Of(ctx *sql.Context) *Account {
	if h, ok := ctx.Session.(Holder); ok {
		return h.Quota()
	}
	return nil
}

// Begin begins a statement, which holds nothing yet.
func (a *Account) Begin() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = 0
	a.live.Store(0)
	_ = a.settle()
}

// Close gives everything back. What is taken later is refused.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept, a.held, a.closed = 0, 0, true
	a.live.Store(0)
	_ = a.settle()
}

// Take notes that the statement is about to hold n bytes more.
func (a *Account) Take(n int64) error {
	if a == nil {
		return nil
	}
	return a.more(&a.held, n, true)
}

// Free notes that the statement holds n bytes less.
func (a *Account) Free(n int64) {
	if a == nil || n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = max(0, a.held-n) // Begin may have come in between
	_ = a.settle()
}

// Keep notes that the session is about to keep n bytes more, or less, until it ends.
func (a *Account) Keep(n int64) error {
	if a == nil {
		return nil
	}
	return a.more(&a.kept, n, false)
}

// more adds n bytes to a sum, if they fit.
func (a *Account) more(sum *int64, n int64, ofStatement bool) error {
	if n == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	*sum += n
	err := a.check(n, ofStatement)
	if err != nil {
		*sum -= n
		_ = a.settle()
	}
	return err
}

// Mark returns the height of the stack of live texts.
func (a *Account) Mark() int64 {
	if a == nil {
		return 0
	}
	return a.live.Load()
}

// Push sets the stack to n bytes above mark.
func (a *Account) Push(mark, n int64) error {
	if a == nil || a.live.Load() == mark+n {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.live.Swap(mark + n)
	err := a.check(mark+n-before, true)
	if err != nil {
		a.live.Store(before)
		_ = a.settle()
	}
	return err
}

// Reset takes everything above mark off the stack.
func (a *Account) Reset(mark int64) { _ = a.Push(mark, 0) }

// check refuses what n bytes more are too many for. What the session keeps is no part of the
// statement.
func (a *Account) check(n int64, ofStatement bool) error {
	err := a.settle()
	statement := a.held + a.live.Load()
	switch {
	case n <= 0:
		return nil
	case a.closed:
		return mysql.NewSQLError(mysql.ERQueryInterrupted, mysql.SSQueryInterrupted, "Query execution was interrupted")
	case ofStatement && statement > a.limits.Statement:
		return exceeded(a.limits.Statement, "statement", "Ask for fewer or shorter rows at a time, or have an operator raise statement-memory.")
	case statement+a.kept > a.limits.Connection:
		return exceeded(a.limits.Connection, "connection", "Set user variables to NULL, or have an operator raise connection-memory.")
	}
	return err
}

// settle brings what is taken from the pool in line with what is used.
func (a *Account) settle() error {
	want := max(0, (a.kept+a.held+a.live.Load()-1)/step*step)
	if a.limits.Pool == nil || want == a.pooled || want < a.pooled && want > 0 && a.pooled-want < 4*step {
		return nil
	}
	if !a.limits.Pool.take(want - a.pooled) {
		return exceeded(a.limits.Pool.limit, "all connections", "Try again when other statements have ended, or have an operator raise connections-memory.")
	}
	a.pooled = want
	return nil
}

func exceeded(limit int64, of, remedy string) error {
	return mysql.NewSQLError(errCapacity, mysql.SSUnknownSQLState, "Memory capacity of %d bytes for '%s' exceeded. %s", limit, of, remedy)
}

// Sizes of Go's headers: of a slice, of an interface, of a text.
const (
	sliceHeader = 24
	boxed       = 16
	textHeader  = 16
)

// Row returns the memory of a row.
func Row(r sql.Row) int64 {
	n := int64(sliceHeader)
	for _, v := range r {
		n += boxed + Size(v)
	}
	return n
}

// Size returns the memory behind a value.
func Size(v any) int64 {
	switch x := v.(type) {
	case nil, bool, int8, uint8:
		return 0
	case string:
		return textHeader + int64(len(x))
	case []byte:
		return sliceHeader + int64(len(x))
	case time.Time:
		return 24
	case *apd.Decimal:
		return 80
	case *sqltypes.Value:
		if x == nil {
			return 0
		}
		return 48 + int64(x.Len())
	case sqltypes.Value:
		return 48 + int64(x.Len())
	case types.JSONDocument, []any, map[string]any, sql.JSONWrapper:
		left := int64(mostJSON)
		document(v, &left)
		return mostJSON - left
	case sql.AnyWrapper:
		return 64
	}
	return 8
}

// mostJSON is where the counting of a document ends: what it holds may be shared, and many times
// larger than it.
const mostJSON = 1 << 31

// document takes the size of a document off left.
func document(v any, left *int64) {
	if *left <= 0 {
		return
	}
	switch x := v.(type) {
	case types.JSONDocument:
		document(x.Val, left)
	case []any:
		*left -= sliceHeader
		for _, e := range x {
			*left -= boxed
			document(e, left)
		}
	case map[string]any:
		*left -= 48
		for k, e := range x {
			*left -= 2*boxed + textHeader + int64(len(k))
			document(e, left)
		}
	case *types.LazyJSONDocument:
		*left -= int64(len(x.Bytes))
	case sql.JSONWrapper:
		*left -= 256
	default:
		*left -= Size(v)
	}
}
