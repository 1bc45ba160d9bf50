package client

import "testing"

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
