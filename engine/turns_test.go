package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/store"
	"scrim/test/testenv"
)

// TestAccountsTakeTurns: while an account has dozens of private queries waiting, another's first
// one does not wait behind them.
func TestAccountsTakeTurns(t *testing.T) {
	const crowd = 40
	i := start(t, "", func(c *Config) { c.MemoryLimit = "256MiB" })
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.t (u BIGINT, x DOUBLE)", "CALL dp_protect('s.t', 'u', 'p')",
		"CALL dp_set_budget('s.t', '*', 1000000, 0.001, 'never')")
	session, err := i.store.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Write(context.Background(), []store.TableRef{{Schema: "s", Name: "t"}}, "INSERT INTO s.t SELECT i, i % 100 FROM range(300000) r(i)")
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Close()
	const query = "SELECT DP_MEDIAN(x), COUNT(*) FROM s.t WHERE x <> "
	ann := i.analyst(root, "ann", "s")
	many := []*client{i.analyst(root, "many", "s")}
	for len(many) < crowd {
		many = append(many, i.client("many", "pw-many"))
	}
	ann.query(query + "1000")
	var done atomic.Int32
	var all sync.WaitGroup
	for n, c := range many {
		all.Go(func() {
			if _, err := c.try(query + fmt.Sprint(2000+n)); err != nil {
				t.Error(err)
			}
			done.Add(1)
		})
	}
	// The others have come meanwhile.
	testenv.Until(t, time.Minute, "the first answer", func() bool { return done.Load() > 0 })
	before := done.Load()
	ann.query(query + "1001")
	if n := done.Load() - before; n > crowd/2 {
		t.Errorf("%d of %d queries that came before another account's only one went before it", n, crowd)
	}
	all.Wait()
}
