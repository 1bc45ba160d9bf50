package dialect

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// TestNamesInFrom: two tables of one FROM do not have one name.
func TestNamesInFrom(t *testing.T) {
	for q, fails := range map[string]bool{
		"SELECT 1 FROM a, b":                                               false,
		"SELECT 1 FROM a JOIN a":                                           true,
		"SELECT 1 FROM a AS B, b":                                          true,
		"SELECT 1 FROM a AS x, a AS y":                                     false,
		"SELECT 1 FROM a, other.a":                                         false,
		"SELECT 1 FROM a, d.a":                                             true,
		"SELECT 1 FROM (SELECT * FROM a) a":                                false,
		"SELECT 1 FROM (SELECT * FROM b) a JOIN a":                         true,
		"SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM a)":                   false,
		"SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM a, a)":                true,
		"SELECT 1 FROM a UNION SELECT 1 FROM a":                            false,
		"SELECT 1 FROM a x JOIN (b y JOIN c x)":                            true,
		"UPDATE a JOIN a SET a.n = 1":                                      true,
		"DELETE x FROM a x, b x":                                           true,
		"INSERT INTO a SELECT * FROM a, a":                                 true,
		"EXPLAIN SELECT 1 FROM a, a":                                       true,
		"SELECT 1 FROM a, JSON_TABLE('1', '$' COLUMNS (n INT PATH '$')) a": true,
	} {
		s, err := sqlparser.Parse(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckNames(s, "d"); (err != nil) != fails {
			t.Errorf("%s: %v", q, err)
		}
	}
}
