package client

import (
	"slices"
	"testing"
)

func TestSingle(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": true, "SELECT 1; -- and no more\n": true, "SELECT ';'": true, "SELECT 1;;": true,
		"": false, "-- nothing": false, "SELECT 1; SELECT 2": false, `\price SELECT 1`: false, `SELECT 1\G`: false,
		"SELECT 1 /* ; */ ; /*! DROP TABLE t */": false,
	} {
		if _, got := Single(text); got != want {
			t.Errorf("Single(%q): got %v, want %v", text, got, want)
		}
	}
}

func TestReads(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT REPLACE(a, 'x', 'y') FROM t": true, "select 'delete' from t": true, "(SELECT 1)": true, "SHOW TABLES": true,
		"WITH c AS (SELECT 1) SELECT * FROM c": true, "DESCRIBE t": true, "EXPLAIN SELECT COUNT(*) FROM t": true,
		"SELECT `update` FROM t": true, "SELECT insert_time FROM t": true,
		"INSERT INTO t VALUES (1)": false, "WITH c AS (SELECT 1) DELETE FROM t": false, "SELECT 1 INTO OUTFILE 'f'": false,
		"EXPLAIN ANALYZE SELECT COUNT(*) FROM t": false, "CALL dp_public('t')": false, "SET dp_raw = 1": false, "": false,
		"SELECT 1 into @x": false, "EXPLAIN UPDATE t SET a = 1": false, "TRUNCATE t": false, "(SELECT 1) INTO OUTFILE 'f'": false,
	} {
		if got := Reads(query); got != want {
			t.Errorf("Reads(%q): got %v, want %v", query, got, want)
		}
	}
}

func TestIntervalsOfSomeItems(t *testing.T) {
	l, ok := ParseSelect("SELECT /*+ SET_VAR(dp_epsilon=1) */ YEAR(d) AS y, COUNT(*), AVG(x) a FROM t GROUP BY y")
	if !ok || len(l.Items) != 3 || l.Items[0] != "YEAR(d) AS y" {
		t.Fatalf("got %v, %q", ok, l.Items)
	}
	want := "SELECT /*+ SET_VAR(dp_epsilon=1) */ YEAR(d) AS y, COUNT(*), AVG(x) a, DP_LOW(COUNT(*)), DP_HIGH(COUNT(*)) FROM t GROUP BY y"
	if got := l.WithIntervals(1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, query := range []string{"SELECT DISTINCT a FROM t", "SELECT * FROM t", "SELECT 1", "SELECT t.* FROM t", "SHOW TABLES"} {
		if _, ok := ParseSelect(query); ok {
			t.Errorf("%s: has a select list", query)
		}
	}
}

// TestIntervalsOfWhatHasThem: all items that are made of calls at once where that is the same, else
// those of which it is so one by one, and none where these are not together.
func TestIntervalsOfWhatHasThem(t *testing.T) {
	l, ok := ParseSelect("SELECT city, COUNT(*), UPPER(name), AVG(x) FROM v")
	if !ok {
		t.Fatal("not parsed")
	}
	for _, c := range []struct {
		name string
		same func(items ...int) bool
		want []int
	}{
		{"all", func(...int) bool { return true }, []int{1, 2, 3}},
		{"aggregates", func(items ...int) bool { return !slices.Contains(items, 2) }, []int{1, 3}},
		{"each but not together", func(items ...int) bool { return len(items) == 1 && items[0] != 2 }, nil},
		{"none", func(...int) bool { return false }, []int{}},
	} {
		if got := l.Intervals(c.same); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
