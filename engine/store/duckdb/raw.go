package duckdb

import (
	"context"
	"errors"
	"hash/maphash"
	"math/big"
	"slices"
	"strconv"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"
	"github.com/marcboeker/go-duckdb/v2/mapping"
)

// raw is a connection through the C interface: what the driver's connection cannot do is
// interrupting a columnar read and telling a statement's progress.
type raw struct {
	c       mapping.Connection
	helpers *helperThreads
}

func (in *instance) connectRaw() (*raw, error) {
	r := &raw{helpers: in.helpers}
	if mapping.Connect(in.db, &r.c) == mapping.StateError {
		return nil, internal("cannot connect")
	}
	return r, nil
}

func (r *raw) close() { mapping.Disconnect(&r.c) }

// failure is a driver error with its type.
func failure(typ mapping.ErrorType, msg string) error {
	return &duckdb.Error{Type: duckdb.ErrorType(typ), Msg: msg}
}

// worded is a driver error whose type only its wording tells.
func worded(msg string) error {
	typ, msg := findPrefix(msg)
	return &duckdb.Error{Type: typ, Msg: msg}
}

// prepare prepares exactly one statement and checks its type. The caller destroys it.
func (r *raw) prepare(sql string, allowed ...mapping.StatementType) (mapping.PreparedStatement, error) {
	var extracted mapping.ExtractedStatements
	var stmt mapping.PreparedStatement
	if err := whole(sql); err != nil {
		return stmt, err
	}
	n := mapping.ExtractStatements(r.c, sql, &extracted)
	defer mapping.DestroyExtracted(&extracted)
	if n == 0 {
		return stmt, worded(mapping.ExtractStatementsError(extracted))
	}
	if n != 1 {
		return stmt, errType
	}
	if mapping.PrepareExtractedStatement(r.c, extracted, 0, &stmt) == mapping.StateError {
		msg := mapping.PrepareError(stmt)
		mapping.DestroyPrepare(&stmt)
		return stmt, worded(msg)
	}
	typ := mapping.PreparedStatementType(stmt)
	if len(allowed) == 0 || slices.Contains(allowed, typ) {
		return stmt, nil
	}
	mapping.DestroyPrepare(&stmt)
	return stmt, errType
}

// run executes a prepared statement; a cancelled context interrupts it. The caller destroys the
// result. It calls started, if not nil, once what the statement shows is fixed, or it has failed.
func (r *raw) run(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func()) (mapping.Result, error) {
	var res mapping.Result
	p, err := pending(ctx, stmt, args, false, started)
	if err != nil {
		return res, err
	}
	defer mapping.DestroyPending(&p)
	stop, end := r.interruptWith(ctx), r.helpers.begin(patience)
	state := mapping.ExecutePending(p, &res)
	end()
	stop()
	if state == mapping.StateError {
		err := failure(mapping.ResultErrorType(&res), mapping.ResultError(&res))
		mapping.DestroyResult(&res)
		return res, err
	}
	return res, nil
}

// ready binds the arguments and looks at the context for the last time: a statement that is pending
// must be executed, because DuckDB's threads may keep the database open after one that is not.
func ready(ctx context.Context, stmt mapping.PreparedStatement, args []any) error {
	if err := bind(stmt, args); err != nil {
		return err
	}
	return ctx.Err()
}

// interruptEvery is how long a statement of an ended context is waited for before the next
// interrupt: one that comes before DuckDB begins with the statement is lost.
const interruptEvery = 10 * time.Millisecond

// interruptWith interrupts the connection when ctx ends, until stop is called. After stop has
// returned no interrupt comes any more that could hit a later statement. The driver's own
// interrupts will not do: where the context has ended in time, it does not execute a statement that
// it has made ready, and DuckDB keeps the database open for such a one for ever.
func (r *raw) interruptWith(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(done)
		for tick := time.NewTicker(interruptEvery); ; {
			mapping.Interrupt(r.c)
			select {
			case <-tick.C:
			case <-over:
				tick.Stop()
				return
			}
		}
	})
	return func() {
		close(over)
		if !undo() {
			<-done
		}
	}
}

// exec runs one statement of ours and returns the number of rows changed.
func (r *raw) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	stmt, err := r.prepare(sql)
	if err != nil {
		return 0, err
	}
	defer mapping.DestroyPrepare(&stmt)
	res, err := r.run(ctx, stmt, args, nil)
	if err != nil {
		return 0, err
	}
	n := int64(mapping.RowsChanged(&res))
	mapping.DestroyResult(&res)
	return n, nil
}

// bind sets every place holder of a statement from the argument that its name numbers.
func bind(stmt mapping.PreparedStatement, args []any) error {
	for i := mapping.IdxT(1); i <= mapping.NParams(stmt); i++ {
		n, err := strconv.Atoi(mapping.ParameterName(stmt, i))
		if err != nil || n < 1 || n > len(args) {
			return internal("place holder without an argument")
		}
		v, err := bindable(args[n-1])
		if err != nil {
			return err
		}
		if bindOne(stmt, i, v) == mapping.StateError {
			return errors.New(mapping.PrepareError(stmt))
		}
	}
	return nil
}

func bindOne(stmt mapping.PreparedStatement, i mapping.IdxT, v any) mapping.State {
	switch v := v.(type) {
	case nil:
		return mapping.BindNull(stmt, i)
	case bool:
		return mapping.BindBoolean(stmt, i, v)
	case int64:
		return mapping.BindInt64(stmt, i, v)
	case uint64:
		return mapping.BindUInt64(stmt, i, v)
	case float64:
		return mapping.BindDouble(stmt, i, v)
	case string:
		return mapping.BindVarcharLength(stmt, i, v, mapping.IdxT(len(v)))
	case []byte:
		return mapping.BindBlob(stmt, i, v)
	case time.Time:
		return mapping.BindTimestamp(stmt, i, mapping.NewTimestamp(v.UnixMicro()))
	case *big.Int:
		return bindHuge(stmt, i, v)
	}
	return mapping.StateError
}

// bindHuge binds an integer of up to 128 bits as one, and others as their text.
func bindHuge(stmt mapping.PreparedStatement, i mapping.IdxT, v *big.Int) mapping.State {
	low := new(big.Int).SetUint64(1<<64 - 1)
	upper := new(big.Int).Rsh(v, 64)
	if !upper.IsInt64() {
		return mapping.BindVarchar(stmt, i, v.String())
	}
	return mapping.BindHugeInt(stmt, i, mapping.NewHugeInt(low.And(low, v).Uint64(), upper.Int64()))
}

// pooledConn is a connection with statements that it has prepared before: preparing a small scan
// takes DuckDB longer than running it. Snapshots use it, one at a time, or a session does.
type pooledConn struct {
	*raw
	begin, end mapping.PreparedStatement // of a snapshot's transaction
	plans      map[string]plan
	room       int // for so many plans
}

// plan is a prepared scan. DuckDB plans with the statistics of the tables as they are: where no
// value is over 50, a filter for larger ones becomes an empty result, and a sum that cannot
// overflow is added up without a test. After a write the plan would give wrong results, without an
// error; so it holds for as long as none of its tables changes.
type plan struct {
	stmt  mapping.PreparedStatement
	state *state
	shape *shape // of a session's results, where it does not depend on arguments
}

const (
	// maxIdle is how many connections are kept while no snapshot uses them.
	maxIdle = 16
	// maxPlans is how many plans a connection for snapshots keeps, and sessionPlans a session's, of
	// which there are many more.
	maxPlans     = 16
	sessionPlans = 4
	// brief is how long a scan may take whose plan is kept: a plan holds on to memory of its last
	// execution, and planning is not what a longer one waits for.
	brief = 20 * time.Millisecond
)

func (in *instance) connectPooled() (*pooledConn, error) {
	r, err := in.connectRaw()
	if err != nil {
		return nil, err
	}
	c := &pooledConn{raw: r, plans: map[string]plan{}, room: maxPlans}
	if c.begin, err = r.prepare("BEGIN TRANSACTION READ ONLY"); err == nil {
		c.end, err = r.prepare("ROLLBACK")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// do executes a statement without a result.
func (c *pooledConn) do(stmt mapping.PreparedStatement) error {
	res, err := c.run(context.Background(), stmt, nil, nil)
	if err == nil {
		mapping.DestroyResult(&res)
	}
	return err
}

// take takes the plan of a statement, if there is one that holds.
func (c *pooledConn) take(sql string, now *state) (plan, bool) {
	p, ok := c.plans[sql]
	if !ok {
		return p, false
	}
	delete(c.plans, sql)
	if now != nil && !now.changed(p.state, sql) {
		p.state = now
		return p, true
	}
	mapping.DestroyPrepare(&p.stmt)
	return plan{}, false
}

// prepared takes the plan of a scan in a transaction on the state, or makes one. now is nil where
// the state is not known.
func (c *pooledConn) prepared(sql string, now *state) (plan, error) {
	if p, ok := c.take(sql, now); ok {
		return p, nil
	}
	stmt, err := c.prepare(sql, mapping.StatementTypeSelect)
	return plan{stmt: stmt, state: now}, err
}

// keep gives back a plan that was executed without an error.
func (c *pooledConn) keep(sql string, p plan, took time.Duration) {
	if p.state == nil || took > brief {
		mapping.DestroyPrepare(&p.stmt)
		return
	}
	for old, other := range c.plans {
		if len(c.plans) < c.room && !p.state.changed(other.state, old) {
			continue
		}
		delete(c.plans, old)
		mapping.DestroyPrepare(&other.stmt)
	}
	c.plans[sql] = p
}

// forget destroys the plans.
func (c *pooledConn) forget() {
	for _, p := range c.plans {
		mapping.DestroyPrepare(&p.stmt)
	}
	clear(c.plans)
}

// close destroys the statements and the connection.
func (c *pooledConn) close() {
	c.forget()
	for _, stmt := range []*mapping.PreparedStatement{&c.begin, &c.end} {
		if stmt.Ptr != nil {
			mapping.DestroyPrepare(stmt)
		}
	}
	c.raw.close()
}

// texts remembers the last different texts that were asked, by their hashes. The plan of a text
// that does not come again would only hold on to memory.
type texts struct {
	hashes [4 * sessionPlans]uint64
	next   int
}

var seed = maphash.MakeSeed()

// before notes a text and tells whether it is one of the last.
func (t *texts) before(text string) bool {
	h := maphash.String(seed, text)
	for _, old := range t.hashes {
		if old == h {
			return true
		}
	}
	t.hashes[t.next] = h
	t.next = (t.next + 1) % len(t.hashes)
	return false
}
