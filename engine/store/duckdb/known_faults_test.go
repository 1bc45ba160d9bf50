package duckdb

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/test/testenv"
)

// knownFaults are faults of DuckDB that this server met, works around, or would suffer from, each
// with a small case. The list says which versions have a fault; TestKnownFaults compares that with
// what the linked version does. A new version is judged by running it: a fault that has gone says
// which work-around can go, and one that has come says that the version will not do. The versions
// looked at are 1.4.1, 1.4.5, 1.5.1, 1.5.5 and 1.5.6.
//
// A case has phases, each in a process of its own, which ends without closing the database: what
// the next phase opens is what a killed process leaves. A phase that fails, or ends by a signal,
// has met the fault.
var knownFaults = []struct {
	name, source string
	// from is the first version that has the fault, as far as is known; mended is the first without
	// it, "" where there is none.
	from, mended string
	around       string // what of ours works around it
	disk         int64  // bytes of a file system for the case alone
	phases       []func(dir string) error
}{
	{
		name: "a key that is taken at the commit garbles the next text", source: "duckdb/duckdb#22279", from: "0.2.9", mended: "1.5.1",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (id INTEGER PRIMARY KEY, s VARCHAR)", "INSERT INTO t VALUES (-1, 'first')", "CHECKPOINT", "INSERT INTO t VALUES (0, 'next')")
			a, b := connection(db), connection(db)
			run(a, "BEGIN", "INSERT INTO t VALUES (1, 'second')")
			// the second chunk of rows meets the key that is taken, and the first is taken back
			run(b, "BEGIN", "INSERT INTO t SELECT i + 10, 'y' || i FROM range(2100) r(i)", "INSERT INTO t VALUES (1, 'y')")
			run(a, "COMMIT")
			if _, err := b.ExecContext(context.Background(), "COMMIT"); err == nil {
				return errors.New("both transactions committed one key")
			}
			run(a, "INSERT INTO t VALUES (2, 'after')")
			return want(a, "SELECT s FROM t WHERE id = 2", "after")
		}, func(dir string) error {
			return want(open(dir, ""), "SELECT s FROM t ORDER BY id", "first next second after")
		}),
	},
	{
		name: "a commit that the disk refuses garbles the next text", source: "duckdb/duckdb#22279", from: "0.2.9", mended: "1.5.2", disk: 16 << 20,
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (id INTEGER, s VARCHAR)", "INSERT INTO t VALUES (1, 'first')", "CHECKPOINT", "INSERT INTO t VALUES (1, 'second')")
			fill(dir, 0)
			refused := false
			for i := 0; i < 64 && !refused; i++ { // the log has room in its last page
				_, err := db.Exec("INSERT INTO t VALUES (2, repeat('y', 1500))")
				refused = err != nil
			}
			if !refused {
				return errors.New("a full disk took everything")
			}
			fill(dir, 1<<20)
			if _, err := db.Exec("INSERT INTO t VALUES (3, 'after')"); err != nil {
				return nil // refused: nothing is acknowledged that is not whole
			}
			return want(db, "SELECT s FROM t WHERE id = 3", "after")
		}, func(dir string) error {
			return want(open(dir, ""), "SELECT s FROM t WHERE id <> 2 AND s NOT IN ('first', 'second', 'after')", "")
		}),
	},
	{
		name: "a checkpoint without room drops committed rows", source: "spiceai/spiceai#13985", from: "1.4.1", mended: "1.5.1", disk: 48 << 20,
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (id BIGINT, s VARCHAR)")
			rows := 0
			for ; ; rows += 100000 {
				if _, err := db.Exec("INSERT INTO t SELECT i, md5(i::VARCHAR) FROM range(?, ?) r(i)", rows, rows+100000); err != nil {
					break
				}
			}
			var n int
			if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil {
				fmt.Println("closed:", err) // says so, and has lost nothing
			} else if n < rows {
				return fmt.Errorf("%d rows of %d", n, rows)
			}
			fmt.Println("rows", rows)
			return os.Symlink(fmt.Sprint(rows), filepath.Join(dir, "..", filepath.Base(dir)+"-rows"))
		}, func(dir string) error {
			rows, err := os.Readlink(filepath.Join(dir, "..", filepath.Base(dir)+"-rows"))
			if err != nil {
				return err
			}
			return want(open(dir, ""), "SELECT count(*) >= "+rows+" FROM t", "true")
		}),
	},
	{
		name: "a log with an index made between rows poisons indexes", source: "duckdb/duckdb#25928", from: "1.4.1", mended: "1.5.6",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, keepLog, "CREATE TABLE t (a BIGINT, b VARCHAR)", "CREATE INDEX i1 ON t(b)", "CHECKPOINT",
				"INSERT INTO t VALUES (1, 'one')", "CREATE INDEX i2 ON t(a)", "INSERT INTO t VALUES (2, 'two')")
			return nil
		}, func(dir string) error {
			db := open(dir, "")
			run(db, "CHECKPOINT")
			return errors.Join(indexed(db, "SELECT a FROM t WHERE b = 'two'", "2"), indexed(db, "SELECT b FROM t WHERE a = 2", "two"))
		}),
	},
	{
		name: "a log with a column added between rows poisons indexes", source: "duckdb/duckdb#25928", from: "1.4.1", mended: "1.5.6",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, keepLog, "CREATE TABLE t (a BIGINT, b VARCHAR)", "CREATE INDEX i1 ON t(b)", "CHECKPOINT",
				"INSERT INTO t VALUES (1, 'one')", "ALTER TABLE t ADD COLUMN c BIGINT", "CREATE INDEX i2 ON t(c)", "INSERT INTO t VALUES (2, 'two', 22)", "DELETE FROM t WHERE a = 1")
			return nil
		}, func(dir string) error {
			db := open(dir, "")
			run(db, "INSERT INTO t VALUES (3, 'three', 33)", "CHECKPOINT")
			return errors.Join(indexed(db, "SELECT a FROM t WHERE b = 'two'", "2"), indexed(db, "SELECT a FROM t WHERE c = 33", "3"), indexed(db, "SELECT a FROM t WHERE b = 'one'", ""))
		}),
	},
	{
		name: "rows of a row group and single rows in one log poison indexes", source: "duckdb/duckdb#24038", from: "1.5.1", mended: "1.5.6",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, keepLog, "CREATE TABLE t (b TIMESTAMP, a VARCHAR)", "CREATE INDEX i ON t(a)", "CHECKPOINT",
				"INSERT INTO t SELECT TIMESTAMP '2026-01-01' + INTERVAL (v) SECOND, 'x' || v FROM range(122880) r(v)", "INSERT INTO t VALUES (TIMESTAMP '2026-02-01', 'y')")
			return nil
		}, func(dir string) error {
			db := open(dir, "")
			run(db, "CHECKPOINT")
			return errors.Join(indexed(db, "SELECT month(b) FROM t WHERE a = 'y'", "2"), indexed(db, "SELECT month(b) FROM t WHERE a = 'x123'", "1"))
		}),
	},
	{
		// The report has no case. Versions before 1.5.6 show their other faults here.
		name: "a log of columns, indexes, deletes and inserts cannot be read", source: "duckdb/duckdb#25395", from: "1.4.1", mended: "1.5.6",
		phases: play(func(dir string) error {
			for seed := range uint64(8) {
				if err := anyLog(filepath.Join(dir, fmt.Sprint(seed)), rand.New(rand.NewPCG(seed, 0))); err != nil {
					return err
				}
			}
			return nil
		}, func(dir string) error {
			for seed := range 8 {
				dir := filepath.Join(dir, fmt.Sprint(seed))
				rows, err := os.ReadFile(filepath.Join(dir, "rows"))
				if err != nil {
					return err
				}
				db := open(dir, "")
				if err := errors.Join(want(db, wholeRows, string(rows)), want(db, "SELECT count(*) > 0 FROM t WHERE id >= 0", "true")); err != nil {
					return err
				}
				run(db, "CHECKPOINT", "INSERT INTO t (id) VALUES (-1)", "DELETE FROM t WHERE id = -1")
				if err := want(db, wholeRows, string(rows)); err != nil {
					return err
				}
			}
			return nil
		}),
	},
	{
		// Only in files of a format that the store does not ask for.
		name: "UNIQUE beside the log reads rows of before", source: "duckdb/duckdb#19936", from: "1.4.1", mended: "1.4.5",
		phases: play(func(dir string) error {
			db := open(dir, "storage_compatibility_version=latest")
			run(db, keepLog, "CREATE TABLE t (a VARCHAR, b VARCHAR UNIQUE)", "INSERT INTO t VALUES (NULL, 'one')", "CHECKPOINT", "UPDATE t SET a = 'a'")
			return want(db, "SELECT a FROM t WHERE b = 'one'", "a")
		}),
	},
	{
		name: "keys that are deleted and written again in one transaction are lost from the log's index", source: "duckdb/duckdb#24744", from: "1.5.1", mended: "1.5.6",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, keepLog, "CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT)", "INSERT INTO t SELECT i, 0 FROM range(122880) r(i)", "CHECKPOINT",
				"BEGIN", "DELETE FROM t", "INSERT INTO t SELECT i, 1 FROM range(122880) r(i)", "COMMIT")
			return nil
		}, func(dir string) error {
			db := open(dir, "")
			if _, err := db.Exec("INSERT INTO t VALUES (7, 7)"); err == nil {
				return errors.New("a key is there twice")
			}
			return indexed(db, "SELECT b FROM t WHERE a = 7", "1")
		}),
	},
	{
		name: "a table that is made anew with changed rows makes a log that nobody can open", source: "duckdb/duckdb#22124", from: "1.4.1",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, keepLog, "CREATE TABLE t (id INTEGER PRIMARY KEY, v VARCHAR)", "INSERT INTO t VALUES (1, 'dark'), (2, 'light')",
				"BEGIN", "UPDATE t SET v = 'system' WHERE id = 1", "INSERT INTO t VALUES (3, 'auto')", "DELETE FROM t WHERE id = 2",
				"CREATE TABLE u (id INTEGER PRIMARY KEY, v VARCHAR, w VARCHAR)", "INSERT INTO u (id, v) SELECT id, v FROM t",
				"ALTER TABLE t RENAME TO old", "ALTER TABLE u RENAME TO t", "DROP TABLE old", "COMMIT")
			return nil
		}, func(dir string) error { return want(open(dir, ""), "SELECT v FROM t ORDER BY id", "system auto") }),
	},
	{
		name: "an update of an indexed table that the disk refuses breaks the instance", source: "duckdb/duckdb#25933", from: "1.5.1", disk: 16 << 20,
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR)", "INSERT INTO t SELECT i, i FROM range(64) r(i)", "CREATE INDEX i ON t(b)", "CHECKPOINT", "INSERT INTO t VALUES (-1, '')")
			fill(dir, 0)
			for i := range 64 {
				if _, err := db.Exec("UPDATE t SET b = repeat('z', 1500) WHERE a = ?", i); err != nil {
					break
				}
			}
			var n int
			return db.QueryRow("SELECT count(*) FROM t").Scan(&n)
		}),
	},
	{
		name: "rows that are deleted count towards a LIMIT", source: "duckdb/duckdb#22949", from: "1.5.1", around: "wrongOptimizers",
		phases: play(func(dir string) error {
			run(open(dir, ""), "CREATE TABLE t (n BIGINT)", "INSERT INTO t VALUES (1), (2), (3)", "CHECKPOINT")
			return nil
		}, func(dir string) error {
			db := open(dir, "")
			run(db, "DELETE FROM t WHERE n < 3", "BEGIN", "DELETE FROM t", "INSERT INTO t VALUES (1)", "COMMIT")
			return want(db, "SELECT count(*) FROM (SELECT n FROM t ORDER BY n DESC LIMIT 1)", "1")
		}),
	},
	{
		name: "two arms of a UNION ALL are taken for one", source: "duckdb/duckdb#24624", from: "1.5.1", around: "wrongOptimizers",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (a BOOLEAN)", "CREATE TABLE u (b VARCHAR)", "INSERT INTO u VALUES ('a')", "INSERT INTO t VALUES (false)")
			const rows, c = "SELECT * FROM t LEFT JOIN u ON true WHERE ", "((NOT t.a) AND (substring(u.b FROM -4294967296) <> u.b))"
			return want(db, "SELECT count(*) FROM ("+rows+"NOT "+c+" UNION ALL "+rows+c+" IS NULL)", "1")
		}),
	},
	{
		name: "two threads that aggregate need more memory than three, or end the process", source: "met here", from: "1.4.1", mended: "1.5.1", around: "Options.planned",
		phases: play(func(dir string) error {
			// one thread meets few groups, the other many
			db := open(dir, "threads=2&memory_limit=100MB&preserve_insertion_order=false")
			run(db, "CREATE TABLE t AS SELECT CASE WHEN i < 1500000 THEN 7 ELSE i END AS u, i % 20 AS g, hash(i) % 1000 AS x FROM range(3000000) r(i)")
			for range 2 {
				errs := make(chan error)
				for range 2 {
					go func() {
						errs <- want(db, "SELECT count(*) FROM (SELECT u, g, sum(x) AS s, count(*) FROM t GROUP BY u, g) WHERE s >= 0", "1500020")
					}()
				}
				if err := errors.Join(<-errs, <-errs); err != nil {
					return err
				}
			}
			return nil
		}),
	},
	{
		name: "a subexpression that occurs twice is taken out of TRY", source: "met here", from: "1.4.1", around: "planner/lower guards with CASE",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (s VARCHAR)", "INSERT INTO t VALUES ('x')")
			return want(db, "SELECT TRY(CAST(s AS BIGINT)) IS NULL AND TRY(CAST(s AS BIGINT) + 1) IS NULL FROM t", "true")
		}),
	},
	{
		name: "a function is evaluated on values of other rows, where a dictionary has them", source: "met here", from: "1.4.1", around: "planner/lower clamps, see its doc.go",
		phases: play(func(dir string) error {
			db, file := open(dir, ""), filepath.Join(dir, "t.parquet")
			run(db, "COPY (SELECT CASE WHEN i = 0 THEN 9000000000000000000 ELSE i % 10 END AS i FROM range(100000) r(i)) TO '"+file+"'")
			return want(db, "SELECT count(left('abc', CASE WHEN i > 1000 THEN NULL ELSE i END)) FROM '"+file+"'", "99999")
		}),
	},
	{
		name: "a zstd file whose end is missing is read as a shorter one", source: "met here", from: "1.4.1", around: "import.go decompresses it to the end",
		phases: play(func(dir string) error {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b)
			if err != nil {
				return err
			}
			for i := range 200000 {
				fmt.Fprintln(w, i*7919%1000003)
			}
			w.Close()
			path := filepath.Join(dir, "t.csv.zst")
			if err := os.WriteFile(path, b.Bytes()[:b.Len()/2], 0o600); err != nil {
				return err
			}
			var n int
			if err := open(dir, "").QueryRow("SELECT count(*) FROM read_csv('" + path + "', header = false)").Scan(&n); err != nil {
				return nil
			}
			return fmt.Errorf("%d rows and no error", n)
		}),
	},
	{
		name: "a key cannot be deleted and written again in one transaction", source: "duckdb/duckdb#15092", from: "0.2.9", mended: "1.2.0", around: "version.go keeps deleted entries as rows",
		phases: play(func(dir string) error {
			db := open(dir, "")
			run(db, "CREATE TABLE t (id INTEGER PRIMARY KEY, s VARCHAR)", "INSERT INTO t VALUES (1, 'a')")
			c := connection(db)
			run(c, "BEGIN", "DELETE FROM t WHERE id = 1")
			_, err := c.ExecContext(context.Background(), "INSERT INTO t VALUES (1, 'b') ON CONFLICT (id) DO UPDATE SET s = excluded.s")
			return err
		}),
	},
	{
		name: "closing another descriptor of the file gives its lock back", source: "POSIX", from: "1.4.1", around: "Store.ownFile",
		phases: play(func(dir string) error {
			open(dir, "")
			f, err := os.Open(filepath.Join(dir, "t.duckdb"))
			if err != nil {
				return err
			}
			f.Close()
			again := faultProcess(os.Getenv(faultChild) + "'")
			if out, _ := again.CombinedOutput(); bytes.HasSuffix(out, []byte("well\n")) {
				return errors.New("a second process opened the file")
			}
			return nil
		}),
	},
}

// keepLog leaves what is committed in the log.
const keepLog = "SET wal_autocheckpoint = '1TB'"

// faultChild, set in the environment, makes the test binary play a phase of a case: the number of
// the case, of the phase, and a directory.
const faultChild = "SCRIM_STORE_FAULT_CHILD"

func TestKnownFaults(t *testing.T) {
	for i, f := range knownFaults {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			expected := !before(LibraryVersion(), f.from) && (f.mended == "" || before(LibraryVersion(), f.mended))
			var fault error
			for phase := range f.phases {
				cmd := faultProcess(fmt.Sprintf("%d %d %s", i, phase, dir))
				if f.disk > 0 && phase == 0 { // all phases, for the file system ends with the process
					cmd = faultProcess(fmt.Sprintf("%d -1 %s", i, dir))
					testenv.Mounting(cmd)
				}
				out, err := cmd.CombinedOutput()
				if bytes.HasPrefix(out, []byte("no mount")) || errors.Is(err, syscall.EPERM) {
					testenv.Skip(t, "no file system can be mounted here: %v %s", err, out)
				}
				if bytes.Contains(out, []byte("cannot:")) {
					t.Fatalf("phase %d: %s", phase, out)
				}
				if err != nil || !bytes.HasSuffix(out, []byte("well\n")) {
					fault = fmt.Errorf("phase %d: %v: %s", phase, err, out[:min(len(out), 600)])
				}
				if fault != nil || f.disk > 0 {
					break
				}
			}
			switch {
			case fault != nil && !expected:
				t.Errorf("DuckDB %s has %s, which the list denies: %v", LibraryVersion(), f.source, fault)
			case fault == nil && expected:
				t.Errorf("DuckDB %s has no longer %s: say so in the list, and look at what works around it (%s)", LibraryVersion(), f.source, f.around)
			case fault != nil:
				t.Logf("as known: %v", fault)
			}
		})
	}
}

// before tells whether a version comes before another: numbers between points, after a "v".
func before(a, b string) bool {
	x, y := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		var m, n int
		fmt.Sscan(x[i], &m)
		fmt.Sscan(y[i], &n)
		if m != n {
			return m < n
		}
	}
	return len(x) < len(y)
}

func faultProcess(what string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), faultChild+"="+what)
	return cmd
}

// playFault is the process of a phase, or of all phases of a case that has a file system of its
// own.
func playFault(what string) {
	var i, phase int
	var dir string
	if _, err := fmt.Sscanf(what, "%d %d %s", &i, &phase, &dir); err != nil {
		fmt.Println("cannot:", err)
		return
	}
	if second, ok := strings.CutSuffix(dir, "'"); ok {
		open(second, "")
		fmt.Println("well")
		os.Exit(0)
	}
	f := knownFaults[i]
	if phase >= 0 {
		if err := f.phases[phase](dir); err != nil {
			fmt.Println("fault:", err)
			os.Exit(1)
		}
		fmt.Println("well")
		os.Exit(0) // without closing anything
	}
	if err := syscall.Mount("scrim", dir, "tmpfs", 0, fmt.Sprintf("size=%d", f.disk)); err != nil {
		fmt.Println("no mount:", err)
		return
	}
	for phase := range f.phases {
		out, err := faultProcess(fmt.Sprintf("%d %d %s", i, phase, dir)).CombinedOutput()
		if os.Stdout.Write(out); err != nil {
			os.Exit(1)
		}
	}
}

func play(phases ...func(dir string) error) []func(dir string) error { return phases }

// wholeRows are all rows of t, as texts.
const wholeRows = "SELECT md5(string_agg(t::VARCHAR, ' ' ORDER BY t::VARCHAR)) FROM t"

// anyLog makes a database with a log of changes in any order, and notes its rows.
func anyLog(dir string, r *rand.Rand) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	db := open(dir, "")
	run(db, keepLog, "CREATE TABLE t (id BIGINT, c0 VARCHAR)", "INSERT INTO t SELECT i, 'v' || i FROM range(100) r(i)", "CREATE INDEX i0 ON t(c0)", "CHECKPOINT")
	for n := 1; n < 60; n++ {
		switch r.IntN(6) {
		case 0:
			run(db, fmt.Sprintf("ALTER TABLE t ADD COLUMN IF NOT EXISTS c%d VARCHAR", n%14))
		case 1:
			run(db, fmt.Sprintf("CREATE INDEX IF NOT EXISTS i%d ON t(%s)", n, []string{"id", "c0"}[r.IntN(2)]))
		case 2, 3:
			run(db, fmt.Sprintf("DELETE FROM t WHERE id %% 17 = %d", r.IntN(17)))
		default:
			run(db, fmt.Sprintf("INSERT INTO t (id, c0) SELECT i, repeat('w', i %% 40) FROM range(%d, %d) r(i)", 100*n, 100*n+1+r.IntN(3000)))
		}
	}
	var rows string
	if err := db.QueryRow(wholeRows).Scan(&rows); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "rows"), []byte(rows), 0o600)
}

// open opens a case's database. That it cannot be opened is a fault.
func open(dir, options string) *sql.DB {
	path := filepath.Join(dir, "t.duckdb")
	if options != "" {
		path += "?" + options
	}
	connector, err := duckdb.NewConnector(path, nil)
	if err != nil {
		fmt.Println("fault: open:", err)
		os.Exit(1)
	}
	return sql.OpenDB(connector)
}

func connection(db *sql.DB) *sql.Conn {
	c, err := db.Conn(context.Background())
	if err != nil {
		fmt.Println("cannot:", err)
		os.Exit(1)
	}
	return c
}

type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// run runs statements; one that fails is a fault.
func run(db runner, statements ...string) {
	for _, q := range statements {
		if _, err := db.ExecContext(context.Background(), q); err != nil {
			fmt.Printf("fault: %s: %v\n", q, err)
			os.Exit(1)
		}
	}
}

// want compares the values of a query, with a space between rows.
func want(db runner, query, values string) error {
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			return err
		}
		got = append(got, s.String)
	}
	if text := strings.Join(got, " "); text != values || rows.Err() != nil {
		return fmt.Errorf("%s: got %.60q of %d bytes, want %q (%v)", query, text, len(text), values, rows.Err())
	}
	return nil
}

// indexed is want, by an index.
func indexed(db runner, query, values string) error {
	run(db, "SET index_scan_percentage = 1", "SET index_scan_max_count = 999999999")
	return want(db, query, values)
}

// fill leaves so many bytes free on the disk of a directory.
func fill(dir string, free int64) {
	path := filepath.Join(dir, "ballast")
	var st syscall.Statfs_t
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		defer f.Close()
		if err = f.Truncate(0); err == nil {
			err = syscall.Statfs(dir, &st)
		}
	}
	if err == nil {
		if size := int64(st.Bavail)*int64(st.Bsize) - free; size > 0 {
			err = syscall.Fallocate(int(f.Fd()), 0, 0, size)
		}
	}
	if err != nil {
		fmt.Println("cannot:", err)
		os.Exit(1)
	}
}
