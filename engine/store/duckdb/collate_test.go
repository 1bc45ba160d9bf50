package duckdb

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"scrim/internal/collation"
)

// TestCollationsInTheStore compares the store's functions with package collation's over texts of
// every character, long ones and short ones, beside NULL.
func TestCollationsInTheStore(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop", `CREATE TABLE shop.people AS SELECT CASE WHEN i % 97 <> 1 THEN repeat(' ', i % 3) ||
		string_agg(chr(x::INTEGER), '') || repeat(' ', i % 5) END AS name FROM (SELECT i, unnest(range(i * 7, i * 7 + 7)) AS x FROM range(1, 159100) r(i)) WHERE x < 55296 OR x BETWEEN 57344 AND 1114111 GROUP BY i`)
	for _, id := range collation.All() {
		for use := range collation.Uses {
			name := collation.Function(id, use)
			if name == "" {
				continue
			}
			for _, row := range all(t, c, "SELECT name, "+name+"(name) FROM shop.people USING SAMPLE 3000 (reservoir, 7)") {
				if row[0] == nil {
					equal(t, name, row[1], nil)
					continue
				}
				equal(t, name, row[1], string(collation.TableOf(id).Append(use, nil, row[0].(string))))
			}
		}
	}
	equal(t, "NULL", all(t, c, "SELECT key_utf8mb4_0900_ai_ci(NULL)"), [][]any{{nil}})
	equal(t, "a constant", all(t, c, "SELECT key_utf8mb4_0900_ai_ci('MÁRY')"), [][]any{{"mary"}})
}

// BenchmarkGroupByCollation groups three million texts of a thousand names by bytes, by lower and
// by keys.
func BenchmarkGroupByCollation(b *testing.B) {
	s, _ := testOpen(b, Options{})
	c := testSession(b, s)
	write(b, c, people, "CREATE SCHEMA shop",
		"CREATE TABLE shop.people AS SELECT 'Customer#' || (hash(i) % 1000)::VARCHAR || CASE WHEN i % 2 = 0 THEN ' of Example' ELSE '' END AS name FROM range(3000000) r(i)")
	for _, by := range []string{"name", "lower(name)", "key_utf8mb4_0900_ai_ci(name)", "sort_utf8mb4_0900_ai_ci(name)", "icu_sort_key(name, 'en')"} {
		b.Run(by, func(b *testing.B) {
			var took []time.Duration
			for range b.N {
				start := time.Now()
				all(b, c, fmt.Sprintf("SELECT max(k), max(n), %d FROM (SELECT %s AS k, count(*) AS n FROM shop.people GROUP BY 1)", start.UnixNano(), by))
				took = append(took, time.Since(start))
			}
			b.ReportMetric(float64(slices.Min(took).Microseconds())/1000, "ms-min")
		})
	}
}
