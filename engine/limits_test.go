package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What may be asked is planned soon, because nothing ends its planning; what is larger is refused with MySQL's numbers, prepared or not.
func TestLargeStatementsArePlannedSoon(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 2)")
	many := func(sep, part string, n int) string { return strings.Repeat(sep+part, n)[len(sep):] }
	for name, shape := range map[string]struct {
		write          func(n int) string
		taken, refused int
		errno          uint16
	}{
		"sum":    {func(n int) string { return "SELECT " + many("+", "a", n) + " FROM t" }, 1900, 10000, 1436},
		"AND":    {func(n int) string { return "SELECT a FROM t WHERE " + many(" AND ", "a=1", n) }, 4900, 20000, 1436},
		"OR":     {func(n int) string { return "SELECT a FROM t WHERE " + many(" OR ", "a=1", n) }, 4900, 20000, 1436},
		"UNION":  {func(n int) string { return many(" UNION ALL ", "SELECT a FROM t", n) }, 390, 1000, 1473},
		"tables": {func(n int) string { return "SELECT 1 FROM t t0" + joined(n-1) }, 61, 100, 1116},
		"EXISTS": {func(n int) string { return "SELECT a FROM t WHERE " + many(" AND ", "EXISTS (SELECT 1 FROM t)", n) }, 60, 100, 1116},
		"parts":  {func(n int) string { return "SELECT " + many(", ", "(SELECT a FROM t)", n) }, 390, 1000, 1116},
		"ones":   {func(n int) string { return "SELECT " + many(", ", "SUM(a)", n) + " FROM t" }, 1000, 5000, 1117},
	} {
		began := time.Now()
		root.query(shape.write(shape.taken))
		took := time.Since(began)
		if took > 20*time.Second { // on a machine with other work
			t.Errorf("%s: %d took %v", name, shape.taken, took)
		}
		t.Logf("%s: %d took %v", name, shape.taken, took)
		began = time.Now()
		root.refused(shape.errno, "HY000", shape.write(shape.refused))
		if _, err := root.conn.PrepareContext(t.Context(), shape.write(shape.refused)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(shape.errno)) {
			t.Errorf("%s: prepared: %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %d refused after %v", name, shape.refused, took)
		}
	}
}

func joined(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, " JOIN t t%d ON t0.a = t%d.a", k+1, k+1)
	}
	return b.String()
}
