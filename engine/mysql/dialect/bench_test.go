package dialect

import (
	"os"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// BenchmarkUntouched is what reading a statement costs that has nothing to adjust, beside the
// parser's own time for it.
func BenchmarkUntouched(b *testing.B) {
	long, err := os.ReadFile("testdata/odbc_columns.sql")
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]string{
		"short":  "SELECT 1",
		"usual":  "SELECT region, COUNT(*), AVG(amount) FROM orders WHERE placed >= '2025-01-01' AND status IN ('a','b') GROUP BY region ORDER BY 2 DESC LIMIT 10",
		"of 5kB": string(long),
	} {
		p := Parser(sql.NewMysqlParser(), Forms...)
		b.Run(name+"/adjust", func(b *testing.B) {
			for b.Loop() {
				_, _, _ = p.adjust(query, Mode{}, Caller{}, true)
			}
		})
		if name == "of 5kB" {
			continue // the parser has no words for it
		}
		b.Run(name+"/parse", func(b *testing.B) {
			for b.Loop() {
				_, _ = ast.Parse(query)
			}
		})
	}
}
