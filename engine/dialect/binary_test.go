package dialect

import "testing"

func TestBinaryIsAValueOfVariables(t *testing.T) {
	for query, want := range map[string]string{
		"SET @@character_set_database=binary":      "SET @@character_set_database='binary'",
		"set @@a = BINARY, @@b = binary;":          "set @@a = 'binary', @@b = 'binary';",
		"SET @x = BINARY 'a'":                      "SET @x = BINARY 'a'",
		"SET NAMES binary":                         "SET NAMES binary",
		"SELECT * FROM t WHERE a = BINARY 'b'":     "SELECT * FROM t WHERE a = BINARY 'b'",
		"UPDATE t SET a = BINARY b, c = binary(d)": "UPDATE t SET a = BINARY b, c = binary(d)",
	} {
		if got, err := adjust(t, query, Mode{}); err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", query, got, err, want)
		}
	}
}
