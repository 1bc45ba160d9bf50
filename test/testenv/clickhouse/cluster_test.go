package clickhouse

import "testing"

// TestCluster writes through one server and reads from all.
func TestCluster(t *testing.T) {
	c := Start(t, 3)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64) ENGINE = MergeTree ORDER BY id")
	c.Exec(0, "CREATE TABLE shop.all AS shop.local ENGINE = Distributed("+Name+", shop, local, id)", "INSERT INTO shop.all SELECT number FROM numbers(300)")
	if got := c.Value(0, "SELECT count() FROM shop.all"); got != "300" {
		t.Errorf("%s rows of all", got)
	}
	if got := c.Value(1, "SELECT count() FROM shop.local"); got != "100" {
		t.Errorf("%s rows of one", got)
	}
	c.Kill(1)
	c.Restart(1)
	if got := c.Value(1, "SELECT count() FROM shop.local"); got != "100" {
		t.Errorf("%s rows after a restart", got)
	}
}
