package engine

import (
	"context"
	"strings"
	"testing"
)

// TestResultTypes compares the types of aggregates, and their digits, with what MySQL documents:
// SUM and AVG of whole numbers and DECIMALs are DECIMALs, on public rows, over answers, and as
// private answers.
func TestResultTypes(t *testing.T) {
	_, ann := grammarShop(t)
	for _, c := range []struct{ query, types, want string }{
		{"SELECT SUM(v), AVG(v), SUM(n), AVG(n), AVG(DISTINCT n) FROM pub", "DECIMAL DECIMAL DECIMAL DECIMAL DECIMAL", "15,7.5000,3.75,1.875000,1.875000"},
		{"SELECT SUM(v) / 2, AVG(n) * 2, ROUND(AVG(n), 1) FROM pub", "DECIMAL DECIMAL DECIMAL", "7.5000,3.750000,1.9"},
		{"SELECT SUM(CASE WHEN k > 1 THEN n ELSE 0 END), SUM(IF(k > 1, 1, 0)), SUM(k > 1) FROM pub", "DECIMAL DECIMAL DECIMAL", "2.50,2,2"},
		{"SELECT AVG(CAST(v AS DOUBLE)), STD(k), VAR_POP(k) FROM pub", "DOUBLE DOUBLE DOUBLE", "7.5,0.816496580927726,0.6666666666666666"},
		{"SELECT s, SUM(v) FROM pub GROUP BY s ORDER BY s", "VARCHAR DECIMAL", "a,7;b,8"},
		{"SELECT AVG(c), SUM(c), VAR_POP(c) FROM (SELECT 1 AS c UNION ALL SELECT 4) t", "DECIMAL DECIMAL DOUBLE", "2.5000,5,2.25"},
		{"SELECT SUM(v) OVER () FROM pub LIMIT 1", "DECIMAL", "15"},
		{"SELECT SUM(x), AVG(x), SUM(y), AVG(y), STDDEV(x), DP_MEAN(x) FROM p", "DECIMAL DECIMAL DECIMAL DECIMAL DOUBLE DOUBLE", ""},
		{"SELECT AVG(c) FROM (SELECT k, COUNT(*) AS c FROM p GROUP BY k) t", "DECIMAL", ""},
	} {
		rows, err := ann.conn.QueryContext(context.Background(), c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		columns, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, x := range columns {
			types = append(types, x.DatabaseTypeName())
		}
		rows.Close()
		if got := strings.Join(types, " "); got != c.types {
			t.Errorf("%s: types %s, want %s", c.query, got, c.types)
		}
		if got := rowsText(ann.query(c.query)); c.want != "" && got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	// Private answers have MySQL's digits, and not those of the noise.
	ann.exec("SET dp_epsilon = 8")
	for i, scale := range []int{0, 4, 2, 6} {
		got := ann.query("SELECT SUM(x), AVG(x), SUM(y), AVG(y) FROM p")[0][i]
		if _, digits, _ := strings.Cut(got, "."); len(digits) != scale {
			t.Errorf("private answer %d is %s, want %d digits", i, got, scale)
		}
	}
}
