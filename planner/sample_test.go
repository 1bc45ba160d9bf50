package planner

import (
	"testing"

	"scrim/planner/rule"
	"scrim/planner/sample"
)

// TestSamplesAreRowByRow: the source of a simulation over a protected table is one row-wise SELECT,
// of as many numbers as are wanted; over public ones any query of stored tables.
func TestSamplesAreRowByRow(t *testing.T) {
	for query, want := range map[string]struct {
		width     int
		protected bool
		refused   bool
	}{
		"SELECT amount FROM orders":                                    {width: 1, protected: true},
		"SELECT amount * 2 AS x FROM orders o WHERE qty > 1 AND qty<9": {width: 1, protected: true},
		"SELECT amount, qty FROM orders":                               {width: 2, protected: true},
		"SELECT size FROM stores":                                      {width: 1},
		"SELECT SUM(size) FROM stores GROUP BY size":                   {width: 1},

		"SELECT amount, qty FROM orders ":                                    {width: 1, refused: true},
		"SELECT amount FROM orders ":                                         {width: 2, refused: true},
		"SELECT amount FROM orders LIMIT 5":                                  {width: 1, refused: true},
		"SELECT amount FROM orders ORDER BY amount":                          {width: 1, refused: true},
		"SELECT DISTINCT amount FROM orders":                                 {width: 1, refused: true},
		"SELECT SUM(amount) FROM orders":                                     {width: 1, refused: true},
		"SELECT amount FROM orders UNION ALL SELECT qty FROM orders":         {width: 1, refused: true},
		"SELECT o.amount FROM orders o JOIN stores s ON s.size = o.qty":      {width: 1, refused: true},
		"SELECT amount FROM (SELECT amount FROM orders) x":                   {width: 1, refused: true},
		"SELECT amount FROM orders WHERE qty IN (SELECT size FROM stores)":   {width: 1, refused: true},
		"SELECT amount + (SELECT MAX(size) FROM stores) AS x FROM orders":    {width: 1, refused: true},
		"SELECT amount - MIN(amount) OVER () AS x FROM orders":               {width: 1, refused: true},
		"SELECT amount * RAND() AS x FROM orders":                            {width: 1, refused: true},
		"EXPLAIN SELECT amount FROM orders":                                  {width: 1, refused: true},
		"SELECT size FROM stores WHERE size > (SELECT COUNT(*) FROM orders)": {width: 1, refused: true},
	} {
		h := newHarness(t)
		h.fixture("shop")
		ctx := sample.With(h.context(query), want.width, 100)
		n, err := h.engine.AnalyzeQuery(ctx, query)
		switch {
		case want.refused:
			if rule.Of(err) != rule.Sample {
				t.Errorf("%s (width %d): got %v, want a refusal by %s", query, want.width, err, rule.Sample)
			}
		case err != nil:
			t.Errorf("%s (width %d): %v", query, want.width, err)
		case (sample.Of(ctx, n) != nil) != want.protected:
			t.Errorf("%s: sample %v", query, sample.Of(ctx, n))
		}
	}
}
