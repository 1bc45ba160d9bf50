package clickhouse

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"scrim/engine/store/source"
	rig "scrim/test/testenv/clickhouse"
)

// TestSettings gives servers profiles under which answers would be of a part of the rows, or would
// depend on how many there are.
func TestSettings(t *testing.T) {
	c := rig.Start(t, 3)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64) ENGINE = MergeTree ORDER BY id")
	c.Exec(0, "CREATE TABLE shop.all AS shop.local ENGINE = Distributed("+rig.Name+", shop, local, id)", "INSERT INTO shop.all SELECT number FROM numbers(300000)")
	const partly = "<max_rows_to_read>50000</max_rows_to_read><read_overflow_mode>break</read_overflow_mode><max_result_rows>1000</max_result_rows><result_overflow_mode>break</result_overflow_mode><max_execution_time>1</max_execution_time><timeout_overflow_mode>break</timeout_overflow_mode><extremes>1</extremes><skip_unavailable_shards>1</skip_unavailable_shards>"
	for i := range 3 {
		c.Profile(i, partly)
	}
	if c.Value(0, "SELECT count() FROM (SELECT id FROM shop.all)") == "300000" {
		t.Fatal("the profile cuts nothing off: the test tests nothing")
	}
	n := opened(t, c)
	if rows, err := count(t, n, "all"); err != nil || rows != 300000 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := n.s.Exec(t.Context(), "INSERT INTO shop.local VALUES (1)"); err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("the connection can write: %v", err)
	}
	n = opened(t, c)
	if err := n.s.Exec(t.Context(), "SET sort_overflow_mode = 'break'"); err != nil {
		t.Fatal(err)
	}
	var un *source.Unfit
	if _, err := n.Look(t.Context(), "shop", "all"); !errors.As(err, &un) || !strings.Contains(un.Cause, "sort_overflow_mode") {
		t.Errorf("a changed setting is not seen: %v", err)
	}
	n = opened(t, c)
	tab, err := n.Look(t.Context(), "shop", "all")
	if err != nil {
		t.Fatal(err)
	}
	c.Kill(1)
	if err := n.Rows(t.Context(), "shop", "all", tab.Columns, func(*source.Batch) error { return nil }); err == nil {
		t.Error("a shard that is away is no error")
	}
	locked := account(c, 0)
	locked.User = "locked"
	if _, err := (Kind{}).Open(t.Context(), locked); !errors.As(err, &un) || !strings.Contains(un.Cause, "readonly") {
		t.Errorf("an account that may set nothing: %v", err)
	}
}

func TestEngines(t *testing.T) {
	c := rig.Start(t, 2)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64, n UInt64) ENGINE = MergeTree ORDER BY id")
	c.Exec(0,
		"CREATE TABLE shop.all AS shop.local ENGINE = Distributed("+rig.Name+", shop, local)",
		"CREATE TABLE shop.replicas AS shop.local ENGINE = Distributed("+rig.Pair+", shop, local)",
		"CREATE TABLE shop.replacing AS shop.local ENGINE = ReplacingMergeTree ORDER BY id",
		"CREATE TABLE shop.summing AS shop.local ENGINE = SummingMergeTree ORDER BY id",
		"CREATE TABLE shop.log AS shop.local ENGINE = Log",
		"CREATE TABLE shop.merge AS shop.local ENGINE = Merge(shop, 'local')",
		"CREATE TABLE shop.buffer AS shop.local ENGINE = Buffer(shop, local, 1, 1, 1, 1, 1, 1, 1)",
		"CREATE VIEW shop.view AS SELECT * FROM shop.local",
		"CREATE TABLE shop.over_view AS shop.local ENGINE = Distributed("+rig.Name+", shop, view)",
		"CREATE TABLE shop.over_log AS shop.local ENGINE = Distributed("+rig.Name+", shop, log)",
		"CREATE TABLE shop.other (id UInt64, n String) ENGINE = Distributed("+rig.Name+", shop, local)")
	c.Exec(1, "CREATE TABLE shop.view AS shop.local", "CREATE TABLE shop.log AS shop.local")
	n := opened(t, c)
	for name, want := range map[string]string{
		"local": "", "all": "", "replicas": "more than one replica", "replacing": "replace or add up", "summing": "replace or add up",
		"log": "only MergeTree", "merge": "attach the tables", "buffer": "behind the buffer", "view": "may be anything", "over_view": "may be anything",
		"over_log": "only MergeTree", "other": "the column n is not String", "none": "there is no table", "a'b": "is not made of letters",
	} {
		_, err := n.Look(t.Context(), "shop", name)
		var u *source.Unfit
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (!errors.As(err, &u) || !strings.Contains(u.Cause, want)):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestKilled ends a server at twenty moments of a read: what is read is all rows, or an error.
func TestKilled(t *testing.T) {
	c := rig.Start(t, 3)
	const rows = 1_500_000
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64, n UInt64) ENGINE = MergeTree ORDER BY id")
	c.Exec(0, "CREATE TABLE shop.all AS shop.local ENGINE = Distributed("+rig.Name+", shop, local, id)", "INSERT INTO shop.all SELECT number, number FROM numbers(1500000)")
	r := rand.New(rand.NewPCG(1, 2))
	ended := 0
	for range 20 {
		n := opened(t, c)
		tab, err := n.Look(t.Context(), "shop", "all")
		if err != nil {
			t.Fatal(err)
		}
		victim, after := r.IntN(3), time.Duration(r.IntN(150))*time.Millisecond
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(after)
			c.Kill(victim)
		}()
		read := 0
		err = n.Rows(t.Context(), "shop", "all", tab.Columns, func(b *source.Batch) error {
			read += b.Len
			time.Sleep(100 * time.Microsecond)
			return nil
		})
		<-done
		if err != nil {
			ended++
		} else if read != rows {
			t.Errorf("server %d after %v: %d rows without an error", victim, after, read)
		}
		n.Close()
		c.Restart(victim)
	}
	if ended < 5 {
		t.Errorf("%d of 20 reads ended with an error: the moments test little", ended)
	}
	t.Logf("%d of 20 ended with an error", ended)
}

// TestCancelled ends reads by their context.
func TestCancelled(t *testing.T) {
	c := rig.Start(t, 1)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64) ENGINE = MergeTree ORDER BY id", "INSERT INTO shop.local SELECT number FROM numbers(3000000)")
	for i := range 20 {
		n := opened(t, c)
		tab, err := n.Look(t.Context(), "shop", "local")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond)
		read := 0
		err = n.Rows(ctx, "shop", "local", tab.Columns, func(b *source.Batch) error {
			read += b.Len
			time.Sleep(500 * time.Microsecond)
			return nil
		})
		if err != context.DeadlineExceeded {
			t.Errorf("%v after %d rows", err, read)
		}
		cancel()
	}
}
