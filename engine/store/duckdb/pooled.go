package duckdb

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/marcboeker/go-duckdb/v2/mapping"
)

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
// error; so it holds for one state only.
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
	brief = 10 * time.Millisecond
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

// take takes the plan of a statement, if there is one, and forgets those of other states.
func (c *pooledConn) take(sql string, now *state) (plan, bool) {
	p, ok := c.plans[sql]
	if !ok {
		return p, false
	}
	delete(c.plans, sql)
	if p.state == now && now != nil {
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
		if len(c.plans) < c.room && other.state == p.state {
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
