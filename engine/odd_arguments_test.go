package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestOddArguments: functions of arguments that they are not made for have MySQL's value, or its
// error, and are no internal errors.
func TestOddArguments(t *testing.T) {
	root := start(t, "").root()
	for call, want := range map[string]string{
		"FROM_BASE64('!!!')": "NULL", "FROM_BASE64(5)": "NULL", "FROM_BASE64(' YW\nJj ')": "abc", "FROM_BASE64(NULL)": "NULL",
		"~'3'": "18446744073709551612", "~'3x'": "18446744073709551612", "~'abc'": "18446744073709551615", "~5": "18446744073709551610", "~NULL": "NULL",
		"MAKE_SET('x', 'a')": "", "MAKE_SET('3x', 'a', 'b')": "a,b", "MAKE_SET(5, 1, NULL, 3)": "1,3", "MAKE_SET(NULL, 'a')": "NULL", "MAKE_SET(-1, 'a', NULL, 'c')": "a,c", "MAKE_SET(1e30, 'a')": "a",
		"TIMEDIFF(5, 3)": "00:00:02", "TIMEDIFF('x', '1:00:00')": "NULL", "TIMEDIFF(20200102000000, 20200101000000)": "24:00:00", "TIMEDIFF('10:00:00.5', '09:00:00')": "01:00:00.5",
		"TIMEDIFF('2020-01-01 00:00:00', '09:00:00')": "NULL", "TIMEDIFF(DATE '2020-01-02', DATE '2020-01-01')": "24:00:00",
		"ROUND('1e400')": "1.7976931348623157e+308", "ROUND('1e')": "1", "ROUND('Infinity', 1)": "0", "TRUNCATE('1e400', 1)": "1.7976931348623157e+308", "FLOOR('2.7x')": "2", "CEIL('nan')": "0", "ROUND('2.567', 2)": "2.57", "ROUND('0x1A')": "0",
		"LEFT('abc', 1e30)": "abc",
	} {
		if got := root.value("SELECT " + call); got != want {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
	root.query("SELECT ROUND('1e')")
	if w := fmt.Sprint(root.query("SHOW WARNINGS")); !strings.Contains(w, "1292") {
		t.Errorf("ROUND('1e') warns %s", w)
	}
	root.refused(1210, "HY000", "SELECT ROUND(POINT(1, 1))")
}
