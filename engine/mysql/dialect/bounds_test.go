package dialect

import (
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
	"scrim/test/testenv"
)

// A short statement must not ask for more work or memory than there is: nothing ends the reading of
// a statement before its end.
func TestWhatIsNestedIsBounded(t *testing.T) {
	p, ctx := Parser(sql.NewMysqlParser()), sql.NewEmptyContext()
	refused := func(name, query string) {
		t.Helper()
		var err error
		took := testenv.Computes(t, func() { _, _, _, err = p.Parse(ctx, query, false) })
		if _, ok := refuse.As(err); !ok {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
		if took > 20*time.Second {
			t.Errorf("%s: took %v of a processor", name, took)
		}
	}
	const deep = 20_000
	refused("~", "SELECT "+strings.Repeat("~(", deep)+"1"+strings.Repeat(")", deep))
	refused(":=", "SELECT "+strings.Repeat("@a:=", deep)+"1")
	refused("SET", "SET @b = ("+strings.Repeat("1+", deep)+strings.Repeat("@a:=1+", deep)+"1)")
	refused("{fn", "SELECT "+strings.Repeat("{fn ", deep)+"1"+strings.Repeat("}", deep))
	totals := "SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP"
	for range 30 {
		totals = "SELECT a, COUNT(*) FROM (" + totals + ") x GROUP BY a WITH ROLLUP"
	}
	refused("WITH ROLLUP", totals)
}

func TestWhatIsLongIsRead(t *testing.T) {
	p, ctx := Parser(sql.NewMysqlParser()), sql.NewEmptyContext()
	keys := strings.Repeat("a+1, ", 20) + "a"
	for name, query := range map[string]string{
		"escapes":     "INSERT INTO t VALUES " + strings.Repeat("({d '2020-01-01'}, ~1, N'x'), ", 20_000) + "(1, 2, 'x')",
		"assignments": "SELECT " + strings.Repeat("@a := @a + 1, ", 2_000) + "1 FROM t",
		"totals":      "SELECT " + keys + ", COUNT(*) FROM t GROUP BY " + keys + " WITH ROLLUP",
		"two totals":  "SELECT a, COUNT(*) FROM (SELECT a, b, COUNT(*) FROM t GROUP BY a, b WITH ROLLUP) x GROUP BY a WITH ROLLUP",
		"windows":     "SELECT RANK() OVER (ORDER BY COUNT(*))" + strings.Repeat(" + a", 1_000) + " FROM t GROUP BY a+1",
		"unclosed":    "SELECT DISTINCT (a FROM t",
	} {
		_, _, _, err := p.Parse(ctx, query, false)
		if name != "unclosed" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
