package engine

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

var loads atomic.Int64

// file registers a client's file and returns its name.
func file(t *testing.T, text string) string {
	name := fmt.Sprintf("file%d", loads.Add(1))
	mysql.RegisterReaderHandler(name, func() io.Reader { return strings.NewReader(text) })
	t.Cleanup(func() { mysql.DeregisterReaderHandler(name) })
	return "LOAD DATA LOCAL INFILE 'Reader::" + name + "' INTO TABLE "
}

func TestLoadDataLocal(t *testing.T) {
	inBoth(t, func(t *testing.T, change func(*mysql.Config)) {
		i := start(t, "")
		root := i.client("root", rootPassword, change)
		root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(10), price DOUBLE DEFAULT 9, day DATE)", "CALL dp_public('d.t')", "USE d")
		all := func() string { return fmt.Sprint(root.query("SELECT id, name, price, day FROM d.t ORDER BY id")) }
		root.exec(file(t, "1\ta\\tb\t1.5\t2024-01-02\n2\t\\N\t\\N\t\\N\n") + "t")
		root.exec(file(t, "id;name;skipped\r\n3;\"x;\"\"y\"\"\";zzz\r\n4;é😀;\r\n") + `d.t FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\r\n' IGNORE 1 LINES (id, name, @skipped)`)
		if got, want := all(), "[[1 a\tb 1.5 2024-01-02] [2 NULL NULL NULL] [3 x;\"y\" 9 NULL] [4 é😀 9 NULL]]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		before := all()
		for _, c := range []struct {
			errno      uint16
			text, into string
			says       string
		}{
			{1366, "5\ta\t1\t2024-01-01\nsecret\tb\t1\t2024-01-01\n", "t", "row 2"},
			{1406, "5\tsecret-secret\t1\t2024-01-01\n", "t", "row 1"},
			{1062, "5\ta\t1\t2024-01-01\n1\tsecret\t1\t2024-01-01\n", "t", "row 2"},
			{1261, "5\ta\t1\n", "t", "Row 1"},
			{1262, "5\ta\t1\t2024-01-01\tsecret\n", "t", "Row 1"},
			{1300, "5\t\xff\xfe\t1\t2024-01-01\n", "t", "row 1"},
			{1366, "5\ta\tsecret\t2024-01-01\n", "t", "row 1"},
			{1054, "5\n", "t (missing)", ""},
			{1146, "5\n", "missing", ""},
		} {
			e := root.refused(c.errno, "", file(t, c.text)+c.into)
			if !strings.Contains(e.Message, c.says) || strings.Contains(e.Message, "secret") {
				t.Errorf("%q: got %q, want %q and no value", c.text, e.Message, c.says)
			}
		}
		for _, q := range []string{"t SET name = 'x'", "t CHARACTER SET latin1"} {
			root.refused(1644, "45017", file(t, "5\n")+q)
		}
		root.refused(1644, "45017", strings.Replace(file(t, "5\n"), "INTO", "REPLACE INTO", 1)+"t")
		root.refused(1644, "45017", strings.Replace(file(t, "5\n"), "LOCAL ", "", 1)+"t")
		root.refused(1295, "", "PREPARE s FROM 'LOAD DATA LOCAL INFILE ''x'' INTO TABLE t'")
		if got := all(); got != before {
			t.Errorf("a file that was refused has left rows: %s", got)
		}
		root.exec("BEGIN", file(t, "7\ta\t1\t2024-01-01\n")+"t")
		root.refused(1366, "", file(t, "8\ta\t1\t2024-01-01\nx\ta\t1\t2024-01-01\n")+"t")
		if got := root.value("SELECT COUNT(*) FROM t"); got != "5" {
			t.Errorf("got %s rows inside the transaction, want 5", got)
		}
		root.exec("ROLLBACK")
		if got := all(); got != before {
			t.Errorf("after ROLLBACK: %s", got)
		}
		var lines strings.Builder
		for n := range 40_000 {
			fmt.Fprintf(&lines, "%d,n%d\n", 100+n, n)
		}
		root.exec("CREATE TABLE d.big (id INT, name VARCHAR(10))", "CALL dp_public('d.big')", file(t, lines.String())+"big FIELDS TERMINATED BY ','")
		if got := root.value("SELECT COUNT(*), SUM(id) FROM big"); got != "40000" {
			t.Errorf("got %s rows, want 40000", got)
		}
		root.exec("SET GLOBAL local_infile = 0")
		root.refused(3948, "", file(t, "5\n")+"t (id)")
		root.exec("SET GLOBAL local_infile = 1")
		if got := fmt.Sprint(root.query("SELECT @@local_infile, @@secure_file_priv")); got != "[[1 NULL]]" {
			t.Errorf("got %s, want the client's files and none of the server's", got)
		}
	})
}

func TestWhoMayLoad(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 300)
	root.exec("CREATE TABLE d.keyed (id INT PRIMARY KEY, x INT)", "CALL dp_protect('d.keyed', 'id', 'person')",
		"CREATE USER 'imp' IDENTIFIED BY 'x'", "GRANT importer TO 'imp'", "GRANT INSERT ON d.* TO 'imp'")
	ann, imp := i.analyst(root, "ann", "d"), i.client("imp", "x")
	root.exec("GRANT INSERT ON d.* TO 'ann'@'%'")
	const into = "d.people FIELDS TERMINATED BY ','"
	ann.refused(1644, "", file(t, "1,north,30,1,1\n")+into)
	imp.exec(file(t, "9001,north,30,1,1\n9002,south,30,1,1\n") + into)
	root.exec("SET dp_raw = ON")
	if got := root.value("SELECT COUNT(*) FROM d.people"); got != "302" {
		t.Errorf("got %s rows, want 302", got)
	}
	// A duplicate would tell who is in the table.
	imp.refused(1644, "", file(t, "1,1\n")+"d.keyed FIELDS TERMINATED BY ','")
	imp.refused(1644, "", "INSERT INTO d.keyed VALUES (1,1)")
}

// A client that goes away before the file's end has loaded nothing.
func TestLoadOfAFileThatIsCutOff(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "CALL dp_public('d.t')")
	for _, sent := range []string{"", "1\n2\n", "1\n2"} {
		c := i.rawDial("root", rootPassword, 1<<7)
		if got := c.command(0x03, "LOAD DATA LOCAL INFILE 'x' INTO TABLE d.t"); got[0] != 0xfb {
			t.Fatalf("got %q, want the file asked for", got)
		}
		if sent != "" {
			c.write([]byte(sent))
		}
		if err := c.conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, c.conn) // until the server has ended
		if got := root.value("SELECT COUNT(*) FROM d.t"); got != "0" {
			t.Errorf("%q: got %s rows, want none", sent, got)
		}
	}
}
