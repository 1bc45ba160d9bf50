package engine

import "testing"

func TestTimesWithoutFraction(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (x DATETIME(6), y DATETIME)", "INSERT INTO d.t VALUES ('2020-01-02 03:04:05', '2020-01-02 03:04:05')")
	for query, want := range map[string]string{
		"SELECT TIME('10:00:00')": "10:00:00", "SELECT TIME('10:00:00.5')": "10:00:00.5", "SELECT CAST('10:00:00' AS TIME(3))": "10:00:00.000",
		"SELECT TIME(x) FROM d.t": "03:04:05.000000", "SELECT ADDTIME(TIME(y), '0:0:1.25') FROM d.t": "03:04:06.25",
		"SELECT COUNT(*) FROM d.t WHERE TIME(x)": "1", "SELECT TIME(x) + 0 FROM d.t": "30405.000000",
		"SELECT TIME(x) FROM d.t UNION SELECT TIME '1:00:00' FROM d.t ORDER BY 1 LIMIT 1": "01:00:00.000000", "SELECT CAST(NULL AS TIME)": "NULL",
		"SELECT CONVERT_TZ('2004-01-01 12:00:00', '+00:00', '+10:00')": "2004-01-01 22:00:00", "SELECT SEC_TO_TIME(61)": "00:01:01",
		"SELECT x FROM d.t": "2020-01-02 03:04:05.000000", "SELECT y FROM d.t": "2020-01-02 03:04:05",
	} {
		if got := root.value(query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}
