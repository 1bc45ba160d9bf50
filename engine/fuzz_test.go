package engine

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/test/fuzz"
)

var (
	fuzzSeed = flag.Uint64("fuzz.seed", 1, "seed of the random statements")
	fuzzN    = flag.Uint64("fuzz.n", 0, "how many random statements are compared; 0 is a part for go test")
	fuzzOnly = flag.Int64("fuzz.only", -1, "number of the one statement to compare")
	fuzzOut  = flag.String("fuzz.out", "", "file to which all differences are written, one JSON object a line")
)

// deviation is how an answer differs from MariaDB's.
type deviation struct {
	Number     uint64
	Shape, Way string
	// Class is "value", "rows", "order", "type", "answers" where MariaDB has an error, "error" and
	// its number where MariaDB has none, "internal error", or "within" the intervals that we state.
	Class        string
	Text, Short  string // the statement, and a smaller one that differs likewise
	Theirs, Ours string // of the smaller one
	Kind         string
}

// fuzzer compares statements, in a session of each server's.
type fuzzer struct {
	peer, ours *client
	within     float64
	private    bool   // ours asks protected rows
	near       string // what differs by design and passes; ours has the ends of intervals behind what is compared
	rounds     bool   // the statement has a DOUBLE of which MariaDB does not show all digits
	fresh      func() // has ours ask a table of which nobody has asked
	charged    int
}

// The ways in which the server finds rows.
const (
	asWritten = "store"  // pushed to the store as far as it goes
	byRow     = "rows"   // evaluated by go-mysql-server
	byUpdate  = "UPDATE" // compared with the server's own SELECT
	byDelete  = "DELETE"
)

// ways are the ways in which a statement is asked.
func ways(s fuzz.Statement) []string {
	switch s.Shape {
	case "expression":
		return []string{asWritten, byRow}
	case "change":
		return []string{asWritten, byRow, byUpdate, byDelete}
	}
	return []string{asWritten}
}

// text is the SQL of a statement's tree, for MariaDB and in our session.
func text(s fuzz.Statement, tree *fuzz.Node, way string) (theirs, ours string) {
	theirs = tree.String()
	if s.Shape == "change" {
		cond := theirs
		theirs = "SELECT id FROM t1 WHERE " + cond
		if way == byRow {
			return theirs, "SELECT id, IF(" + cond + ", 1, 0), UUID() FROM t1"
		}
		return theirs, theirs
	}
	if way == byRow {
		at := strings.LastIndex(theirs, " FROM t")
		return theirs, theirs[:at] + ", UUID() AS nothing" + theirs[at:]
	}
	return theirs, theirs
}

// look compares a tree. The class is "" where nothing differs; asked is false where MariaDB has no
// answer and neither have we.
func (f *fuzzer) look(s fuzz.Statement, tree *fuzz.Node, way string) (d deviation, asked bool) {
	ordered, sound := s.Ordered(tree)
	if !sound {
		return deviation{}, false
	}
	theirs, ours := text(s, tree, way)
	d = deviation{Shape: s.Shape, Way: way, Short: theirs}
	f.rounds = rounded.MatchString(theirs)
	reference := f.peer
	if way == byUpdate || way == byDelete {
		reference = f.ours
	}
	want, err1 := reference.answer(theirs)
	var got answer
	var err2 error
	switch way {
	case byUpdate, byDelete:
		got, err2 = f.changed(way, tree.String())
	default:
		if f.charged++; f.private && f.charged%900 == 0 {
			f.fresh()
		}
		got, err2 = f.ours.answer(ours)
	}
	if f.private && err2 == nil {
		got, want = withoutNobodys(got, want)
	}
	if way == byRow && err2 == nil {
		got = withoutLast(got, s.Shape == "change")
	}
	switch {
	case err2 != nil && strings.Contains(err2.Error(), "internal error"):
		d.Class = "internal error"
	case err1 != nil && err2 != nil:
		return d, false
	case err1 != nil:
		d.Class = "answers"
		var e *mysql.MySQLError
		if errors.As(err1, &e) {
			d.Class = fmt.Sprintf("answers %d", e.Number)
		}
	case err2 != nil:
		var e *mysql.MySQLError
		d.Class = "error"
		if errors.As(err2, &e) && e.Number == 1644 {
			d.Class = "refused"
		} else if e != nil {
			d.Class = fmt.Sprintf("error %d", e.Number)
		}
	default:
		d.Class = f.differ(got, want, ordered)
		if f.private && d.Class != "" {
			d.Class = f.byDesign(d.Class, theirs, ours, got)
		}
	}
	if d.Class != "" {
		d.Theirs, d.Ours = shown(want, err1), shown(got, err2)
	}
	return d, true
}

// rounded finds shares and spreads.
var rounded = regexp.MustCompile(`\b(CUME_DIST|PERCENT_RANK|STDDEV|VAR_SAMP)\(`)

// withoutLast leaves out the column that kept a statement from the store, and, of conditions, the
// rows that do not meet them.
func withoutLast(a answer, conditions bool) answer {
	keep := len(a.columns) - 1
	if conditions {
		a.rows = slices.DeleteFunc(a.rows, func(r []string) bool { return r[1] != "1" })
		keep = 1
	}
	a.columns, a.types = a.columns[:keep], a.types[:keep]
	for i := range a.rows {
		a.rows[i] = a.rows[i][:keep]
	}
	return a
}

// withoutNobodys leaves out what protected rows answer otherwise by design: groups with public keys
// that nobody is in, and a sum or mean of no value, which nobody is told is one.
func withoutNobodys(got, want answer) (answer, answer) {
	n := slices.Index(got.columns, "n")
	none := func(r []string) bool { return r[n] == "0" || r[n] == "NULL" }
	if n > 0 { // the keys stand before it
		got.rows = slices.DeleteFunc(got.rows, none)
	}
	if n == 0 && len(want.rows) == 1 && none(want.rows[0]) {
		got.rows, want.rows = nil, nil
	}
	return got, want
}

// changed returns the rows that a change touches, and takes it back.
func (f *fuzzer) changed(way, cond string) (answer, error) {
	// A SELECT, which it is compared with, is no error where it divides by zero.
	f.ours.exec("SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'", "BEGIN")
	defer f.ours.exec("ROLLBACK")
	if way == byUpdate {
		if _, err := f.ours.try("UPDATE t1 SET hit = 1 WHERE " + cond); err != nil {
			return answer{}, err
		}
		return f.ours.answer("SELECT id FROM t1 WHERE hit = 1")
	}
	if _, err := f.ours.try("DELETE FROM t1 WHERE " + cond); err != nil {
		return answer{}, err
	}
	return f.ours.answer("SELECT id FROM ids WHERE id NOT IN (SELECT id FROM t1)")
}

// differ says in what answers differ.
func (f *fuzzer) differ(got, want answer, ordered bool) string {
	if len(got.columns) != len(want.columns) {
		return "columns"
	}
	if len(got.rows) != len(want.rows) {
		return "rows"
	}
	first := slices.Index(want.columns, "n")
	same := func(a, b []string) bool {
		for j := range b {
			if !f.cell(a[j], b[j], want.types[j]) && !(f.near != "" && j >= first && f.nearby(a[j], b[j], a[len(b)+2*(j-first):])) {
				return false
			}
		}
		return true
	}
	taken, unordered := make([]bool, len(got.rows)), true
	for _, w := range want.rows {
		k := 0
		for k < len(taken) && (taken[k] || !same(got.rows[k], w)) {
			k++
		}
		if unordered = k < len(taken); !unordered {
			break
		}
		taken[k] = true
	}
	switch {
	case !unordered:
		return "value"
	case ordered && !slices.EqualFunc(got.rows, want.rows, same):
		return "order"
	}
	return ""
}

// byDesign returns "no NULL key" where protected rows differ because a range has no NULL: they are
// MariaDB's of the persons who have a value in columns with a range that keys are made of. It is
// "within" where MariaDB's are within the intervals, and "few" where besides some are NULL for too
// few rows in all. Otherwise it is class.
func (f *fuzzer) byDesign(class, theirs, ours string, got answer) string {
	first := slices.Index(got.columns, "n")
	columns := slices.Compact(slices.Sorted(slices.Values(ranged.FindAllString(theirs[:strings.Index(theirs, "COUNT(*) AS n")], -1))))
	statements := []string{theirs}
	for subset := 1; first > 0 && subset < 1<<len(columns); subset++ {
		where := " WHERE "
		for i, c := range columns {
			if subset>>i&1 == 1 {
				where += c + " IS NOT NULL AND "
			}
		}
		given := strings.Replace(theirs, " WHERE ", where, 1)
		if given == theirs {
			given = strings.Replace(theirs, " GROUP BY ", where+"TRUE GROUP BY ", 1)
		}
		if want, err := f.peer.answer(given); err == nil && f.differ(got, want, false) == "" {
			return "no NULL key"
		}
		statements = append(statements, given)
	}
	asked, _, _ := strings.Cut(ours, " HAVING ") // of numbers near the exact ones
	wide, err := f.ours.answer(withIntervals(asked, got.columns))
	if err != nil {
		return class
	}
	wide.columns = got.columns
	defer func() { f.near = "" }()
	for _, f.near = range []string{"within", "few"} {
		for _, given := range statements {
			given, _, _ = strings.Cut(given, " HAVING ")
			want, err := f.peer.answer(given)
			if err != nil {
				return class
			}
			rows := 0
			for _, r := range want.rows {
				n, _ := strconv.Atoi(r[first])
				rows += n
			}
			own := wide
			own.rows = slices.Clone(wide.rows)
			own, want = withoutNobodys(own, want)
			if (f.near == "within" || rows < fewRows) && f.differ(own, want, false) == "" {
				return f.near
			}
		}
	}
	return class
}

// ranged are the columns that have a range, and NULL.
var ranged = regexp.MustCompile(`\bo\.(i|b|u|d2|x|f)\b`)

// mostCut is the part of an answer on protected rows that the clip of what persons have, by which
// the answer is within its interval and not exact, may take from it.
const mostCut = 0.2

// withIntervals asks for the ends of the intervals of n and of what stands behind it, too.
func withIntervals(statement string, columns []string) string {
	ends := ""
	for _, c := range columns[slices.Index(columns, "n"):] {
		ends += ", DP_LOW(" + c + "), DP_HIGH(" + c + ")"
	}
	at := fromProtected.FindStringIndex(statement)
	return statement[:at[0]] + ends + statement[at[0]:]
}

var fromProtected = regexp.MustCompile(` FROM o( |$)`)

// fewRows is the number of rows under which too few persons may be in all groups for sums or means.
const fewRows = 100

// nearby reports whether an interval has what we should have answered, and the answer is near it,
// or whether it is NULL for few rows.
func (f *fuzzer) nearby(got, want string, ends []string) bool {
	if got == "NULL" {
		return f.near == "few" && ends[0] == "NULL" && ends[1] == "NULL"
	}
	var x [4]float64
	for i, s := range []string{got, want, ends[0], ends[1]} {
		var err error
		if x[i], err = strconv.ParseFloat(s, 64); err != nil {
			return false
		}
	}
	return math.Abs(x[0]-x[1]) <= mostCut*math.Abs(x[1]) && x[2] <= x[1] && x[1] <= x[3]
}

// cell compares two cells: texts byte by byte, or as JSON, and others as TestDifferences does.
func (f *fuzzer) cell(got, want, typ string) bool {
	none := func(s string) bool { return s == "NULL" || strings.Trim(s, "0.") == "" }
	if f.private && none(got) && none(want) { // nobody is told that there is no value
		return true
	}
	switch typ {
	case "VARCHAR", "CHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY":
		if got == want {
			return true
		}
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
			return moment(got) == moment(want)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if _, number := a.(float64); number {
			return false
		}
		return string(x) == string(y)
	}
	if got == "NULL" || want == "NULL" {
		return got == want
	}
	// MariaDB shows ten digits of a share, and those of its argument and four more of a spread of
	// DECIMALs, without zeros at the end, where MySQL shows all that a DOUBLE has.
	if x, err := strconv.ParseFloat(got, 64); err == nil && typ == "DOUBLE" && f.rounds {
		for digits := 4; digits <= 10; digits++ {
			if strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', digits, 64), "0"), ".") == want {
				return true
			}
		}
	}
	return sameCell(got, want, typ, f.within)
}

// shown is an answer on one line.
func shown(a answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(fmt.Sprintf("%d rows %q", len(a.rows), a.rows[:min(len(a.rows), 16)]), "\n", " ")
}

// shorten looks for a smaller tree that differs likewise.
func (f *fuzzer) shorten(s fuzz.Statement, d deviation) deviation {
	short, tree := d, s.Tree
	for tries := 0; tries < 80; {
		found := false
		for _, t := range tree.Smaller() {
			if tries++; tries > 80 {
				break
			}
			if e, ok := f.look(s, t, d.Way); ok && e.Class == d.Class {
				short, tree, found = e, t, true
				break
			}
		}
		if !found {
			break
		}
	}
	short.Number, short.Text = d.Number, d.Text
	return short
}

// compare compares statement n in all ways.
func (f *fuzzer) compare(s fuzz.Statement, n uint64) (out []deviation, asked bool) {
	for _, way := range ways(s) {
		d, ok := f.look(s, s.Tree, way)
		asked = asked || ok
		if ok && d.Class != "" {
			d.Number, d.Text = n, d.Short
			if d.Class != "refused" {
				d = f.shorten(s, d)
			}
			out = append(out, d)
		}
	}
	return out, asked
}

// fuzzed compares statements in sessions side by side, and returns what differs, by number.
func fuzzed(t *testing.T, part uint64, sessions []*fuzzer, statement func(seed, n uint64) fuzz.Statement) (all []deviation, asked int) {
	t.Helper()
	n := *fuzzN
	if n == 0 {
		n = part
	}
	first, last := uint64(0), n
	if *fuzzOnly >= 0 {
		first, last = uint64(*fuzzOnly), uint64(*fuzzOnly)+1
	}
	next := make(chan uint64)
	go func() {
		defer close(next)
		for k := first; k < last; k++ {
			next <- k
		}
	}()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, f := range sessions {
		wg.Go(func() {
			for k := range next {
				found, ok := f.compare(statement(*fuzzSeed, k), k)
				mu.Lock()
				if all = append(all, found...); ok {
					asked++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortStableFunc(all, func(a, b deviation) int { return int(a.Number) - int(b.Number) })
	return all, asked
}

// mysqlMode is MySQL's default mode. MariaDB cuts fractions of seconds that MySQL rounds, unless
// its mode says so.
const mysqlMode = "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,TIME_ROUND_FRACTIONAL'"

// soundNulls has MariaDB compare each row with those of a subquery: where it keeps them in a table,
// NOT IN and ALL pass over rows with NULL.
const soundNulls = "SET SESSION optimizer_switch = 'materialization=off'"

// TestFuzzPublic compares random statements on public rows with MariaDB.
func TestFuzzPublic(t *testing.T) {
	i := startWith(t, "", silence, byBytes)
	i.defects = true // go-mysql-server panics over some expressions
	root, peer := i.root(), mariadb(t)
	socket := peer.value("SELECT @@socket")
	var sessions []*fuzzer
	for k := range 3 {
		schema := fmt.Sprintf("f%d", k)
		root.exec("CREATE DATABASE "+schema, "USE "+schema)
		root.exec(fuzz.Tables()...)
		root.exec("CREATE TABLE ids AS SELECT id FROM t1", "CALL dp_public('"+schema+".t1')", "CALL dp_public('"+schema+".t2')", "CALL dp_public('"+schema+".ids')")
		c := i.root()
		c.exec("USE "+schema, "SET time_zone = '+00:00'")
		sessions = append(sessions, &fuzzer{peer: mariadbSession(t, socket, &buffer{}), ours: c, within: 1e-12})
	}
	peer.exec("CREATE DATABASE f", "USE f")
	peer.exec(mysqlMode)
	peer.exec(fuzz.Tables()...)
	for _, s := range sessions {
		s.peer.exec("USE f", mysqlMode, soundNulls)
	}
	all, asked := fuzzed(t, 1200, sessions, fuzz.Public)
	fuzzReport(t, "public", all, asked)
	judge(t, all, asked, func(k *fuzzKind) float64 { return k.public })
}

// exactPrivate are statements that are MariaDB's on protected rows, and were not: narrow sums
// beside others, decimals beside integers, moments as numbers, years of two digits, keys that MySQL
// takes for BIGINT UNSIGNED, and keys that are rounded. Quotients have four digits where there are
// groups: MariaDB rounds them for its temporary table, and only there.
const exactPrivate = `SELECT o.da AS k0, COUNT(*) AS n, SUM(0) AS a0, SUM(o.x) AS a1 FROM o GROUP BY k0
SELECT COUNT(*) AS n, SUM(o.z / 255) AS a0, AVG(65536) AS a1 FROM o
SELECT o.z AS k0, COUNT(*) AS n, SUM(o.z / 250) AS a0, AVG(65536) AS a1 FROM o GROUP BY k0
SELECT COUNT(*) AS n, SUM(o.d2 + o.i) AS a0, AVG(GREATEST(o.d2, o.z)) AS a1, SUM(o.d2 % o.b) AS a2 FROM o
SELECT COUNT(*) AS n, SUM(o.dt + 0) AS a0, SUM(TIMESTAMP '2020-01-01 10:00:00' + 0) AS a1 FROM o
SELECT COUNT(*) AS n FROM o WHERE 2 > o.y
SELECT COUNT(*) AS n FROM o WHERE o.y IN (20, CAST(98 + 1 AS SIGNED)) OR o.y BETWEEN 21 AND 22
SELECT o.i * o.u AS k0, COUNT(*) AS n FROM o WHERE o.i + o.u IS NOT NULL GROUP BY k0
SELECT ROUND(o.d2) AS k0, COUNT(*) AS n FROM o WHERE o.d2 IS NOT NULL GROUP BY k0`

// TestFuzzPrivate compares random statements on protected rows, without noise, with MariaDB's on
// the same rows.
func TestFuzzPrivate(t *testing.T) {
	i := startWith(t, "", silence, byBytes)
	i.defects = true
	root, peer := i.root(), mariadb(t)
	peer.exec("CREATE DATABASE f", "USE f", mysqlMode)
	peer.exec(fuzz.PrivateTables()...)
	var sessions []*fuzzer
	for k := range 3 {
		dba, ann := i.root(), i.analyst(root, fmt.Sprint("ann", k), "")
		s := &fuzzer{peer: mariadbSession(t, peer.value("SELECT @@socket"), &buffer{}), ours: ann, within: 2e-3, private: true}
		s.fresh = func() { // the largest budget is enough for a thousand statements
			schema := fmt.Sprintf("f%d_%d", k, s.charged)
			dba.exec("CREATE DATABASE "+schema, "USE "+schema)
			dba.exec(fuzz.PrivateTables()...)
			dba.exec(fuzz.Declarations(schema)...)
			dba.exec(fmt.Sprintf("GRANT SELECT ON %s.* TO 'ann%d'@'%%'", schema, k))
			ann.exec("USE " + schema)
		}
		s.fresh()
		s.peer.exec("USE f", mysqlMode)
		ann.exec("SET time_zone = '+00:00'", "SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
		sessions = append(sessions, s)
	}
	for _, q := range strings.Split(exactPrivate, "\n") {
		s := sessions[0]
		want, err := s.peer.answer(q)
		got, ours := s.ours.answer(q)
		if err != nil || ours != nil {
			t.Fatalf("%s: MariaDB %v, ours %v", q, err, ours)
		}
		got, want = withoutNobodys(got, want)
		texts := func(a answer) []string { // of keys
			var out []string
			for _, r := range a.rows {
				out = append(out, strings.Join(r[:slices.Index(a.columns, "n")], ", "))
			}
			return slices.Sorted(slices.Values(out))
		}
		if class := s.differ(got, want, false); class != "" || !slices.Equal(texts(got), texts(want)) {
			t.Errorf("%s differs: %s\n%s\n%s", q, class, shown(got, nil), shown(want, nil))
		}
	}
	all, asked := fuzzed(t, 300, sessions, fuzz.Private)
	fuzzReport(t, "protected", all, asked)
	judge(t, all, asked, func(k *fuzzKind) float64 { return k.protected })
}

// fuzzReport writes what differs.
func fuzzReport(t *testing.T, rows string, all []deviation, asked int) {
	t.Helper()
	if *fuzzOut != "" {
		f, err := os.OpenFile(*fuzzOut, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		e := json.NewEncoder(f)
		e.SetEscapeHTML(false)
		for _, d := range all {
			if k := kindOf(d); k != nil {
				d.Kind = k.name
			}
			e.Encode(d)
		}
	}
	numbers := map[uint64]bool{}
	for _, d := range all {
		if k := kindOf(d); d.Class != "refused" && (k == nil || k.public+k.protected < 999) {
			numbers[d.Number] = true
		}
	}
	t.Logf("%s: %d statements asked, %d differ", rows, asked, len(numbers))
	if *fuzzOnly >= 0 {
		for _, d := range all {
			t.Logf("%+v", d)
		}
	}
}
