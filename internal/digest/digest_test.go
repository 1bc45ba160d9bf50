package digest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"scrim/test/testenv"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{"select region, count(*) from  shop.`orders`\n where amount > -12.5e3 and name='O''Brien'",
			"SELECT region, COUNT(*) FROM shop.orders WHERE amount > ? AND name = ?"},
		{`SELECT "a\"b", 'c\'d' 'e', x'0aff', 0b101, B'11', _utf8mb4'x', n'y', 1.0, .5, 1e-9, 0xAB FROM t`,
			"SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM t"},
		{"SELECT DATE '2024-01-01', interval 5 DAY, NULL, TRUE, a-1, -1, b - -1", "SELECT DATE ?, INTERVAL ? DAY, NULL, TRUE, a - ?, ?, b - ?"},
		{"select * from t where a in (1,2,3) and b in(-4) and c in (select x from u where y in ('p'))",
			"SELECT * FROM t WHERE a IN (...) AND b IN (...) AND c IN (SELECT x FROM u WHERE y IN (...))"},
		{"insert into t (a, b) values (1,'x'),(2,NULL),(3,now()),(4,now()) on duplicate key update a = values(a)",
			"INSERT INTO t(a, b) VALUES (...), (?, NOW()) ON DUPLICATE KEY UPDATE a = VALUES (a)"},
		{"SELECT 1 -- 'secret'\n, 2 # more\n, /* 'x' */ 3 /*!40101 + 'v' */", "SELECT ?, ?, ? + ?"},
		{"SELECT /*+ SET_VAR(dp_epsilon=0.2) SET_VAR(dp_method=plan) */ DP_mean(x) FROM t",
			"SELECT /*+ SET_VAR(dp_epsilon = ?) SET_VAR(dp_method = ?) */ DP_MEAN(x) FROM t"},
		{"SET @x = 5, @'y z' = 'w', @@session.dp_epsilon := 0.5", "SET @x = ?, @ ? = ?, @@session.dp_epsilon := ?"},
		{"CREATE USER 'ann'@'%' IDENTIFIED BY 'pw'", "CREATE USER ? @ ? IDENTIFIED BY ?"},
		{"CREATE USER ann IDENTIFIED BY hunter2, bob IDENTIFIED WITH native AS hunter3 REQUIRE ssl",
			"CREATE USER ann IDENTIFIED BY ?, bob IDENTIFIED WITH native AS ? REQUIRE ssl"},
		{"SET PASSWORD FOR ann = hunter2", "SET PASSWORD FOR ann = ?"},
		{"SELECT count AS `count`, a.`select`, `sum(x = 'bob')`, `total 2024` FROM t", "SELECT count AS count, a.`select`, `SUM(x = ?)`, `total 2024` FROM t"},
		{"CALL dp_protect('shop.orders', 'customer')", "CALL DP_PROTECT(?, ?)"},
		{"SELECT ?, :v1, a->'$.b' FROM t; SELECT 2;", "SELECT ?, ?, a -> ? FROM t; SELECT ?;"},
		{"SELECT 'never ends", "SELECT …"},
		{"SELECT a /* never ends", "SELECT a …"},
		{`SELECT a FROM t WHERE x = 'p\' AND y = 'secret'`, "SELECT a FROM t WHERE x = …"},
		{`SELECT a FROM t WHERE x = 'p\'' AND y = '\'secret'`, "SELECT a FROM t WHERE x = ? AND y = ?"},
		{"SELECT 5--3, 'secret'", "SELECT ? …"},
		{"SELECT ‘bob’", "SELECT ?"},
		{"SELECT größe FROM t", "SELECT größe FROM t"},
		{"INSERT INTO dp_in.commute VALUES (e5998cb64a5c4154aaee652554fae111, 5e998cb64a5c4154aaee652554fae11e)", "INSERT INTO dp_in.commute VALUES (...)"},
		{"SELECT deadbeef, facadefacadefacade, a1b2c3d4e5f60718x FROM c0ffee", "SELECT deadbeef, facadefacadefacade, a1b2c3d4e5f60718x FROM c0ffee"},
		{"SELECT 'a\xff', \xff FROM t", "SELECT ?, ? FROM t"},
	} {
		if got := Redact(c.sql); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.sql, got, c.want)
		}
	}
}

func TestDigestsTellStatementsApart(t *testing.T) {
	one := Of(Redact("SELECT a FROM t WHERE b = 1 AND c IN (1, 2)"))
	for _, same := range []string{"select a\tfrom t where b=2 and c in(3)", "SELECT a FROM t WHERE b = 'x' AND c IN (1,2,3) -- tail", "SELECT `a` FROM t WHERE b = -1 AND c IN (NULL)"} {
		if Of(Redact(same)) != one {
			t.Errorf("%s has another digest: %s", same, Redact(same))
		}
	}
	for _, other := range []string{"SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE c = 1 AND b IN (1, 2)", "SELECT a FROM u WHERE b = 1 AND c IN (1, 2)"} {
		if Of(Redact(other)) == one {
			t.Errorf("%s has the same digest", other)
		}
	}
	if len(one) != 32 {
		t.Errorf("got a digest of %d characters", len(one))
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for name, sql := range map[string]string{
		"columns": "SELECT " + strings.Repeat("größe, ", 20_000) + "1",
		"rows":    "INSERT INTO t VALUES " + strings.Repeat("('secret', 1), ", 100_000),
		"string":  "SELECT '" + strings.Repeat("x", 1<<20) + "'",
		"quotes":  strings.Repeat("`", 1<<20),
	} {
		got := Redact(sql)
		if len(got) > MaxBytes || !utf8.ValidString(got) || !strings.HasSuffix(got, cut) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %d bytes that end with %q", name, len(got), got[max(0, len(got)-20):])
		}
	}
}

// TestTimeIsLinear: no text takes long.
func TestTimeIsLinear(t *testing.T) {
	start := testenv.Processor(t)
	for _, piece := range []string{"IN (", "VALUES (", "(", "`", "'\\'", "/*!", "/*+ SELECT ", "`a``", "IDENTIFIED BY ", "- ", "a ", "1 ", "'' ", "``"} {
		Redact("SELECT " + strings.Repeat(piece, 1<<20/len(piece)))
	}
	if d := testenv.Processor(t) - start; d > time.Minute {
		t.Errorf("took %v of a processor", d)
	}
}

// writer makes random statements, and remembers the literals in them.
type writer struct {
	*rand.Rand
	literals []string
}

// value is a random text in an alphabet that no identifier of a generated statement has.
func (w *writer) value() string {
	const letters = "qzjQZJ479'\"\\`% #-;()/*\n€"
	r := []rune(letters)
	var b strings.Builder
	for range 3 + w.IntN(8) {
		b.WriteRune(r[w.IntN(len(r))])
	}
	return b.String()
}

func (w *writer) quote(s string, q string) string {
	w.literals = append(w.literals, s)
	return q + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), q, []string{q + q, `\` + q}[w.IntN(2)]) + q
}

func (w *writer) literal() string {
	switch w.IntN(9) {
	case 0:
		return w.quote(w.value(), `"`)
	case 1:
		s := fmt.Sprintf("%X", w.Int64())
		w.literals = append(w.literals, s)
		return []string{"0x" + s, "x'" + s + "'", "X'" + s + "'"}[w.IntN(3)]
	case 2:
		s := fmt.Sprintf("%b", 8+w.IntN(1000))
		w.literals = append(w.literals, s)
		return []string{"0b" + s, "b'" + s + "'"}[w.IntN(2)]
	case 3:
		s := fmt.Sprint(4000 + w.IntN(1e6))
		w.literals = append(w.literals, s)
		return []string{"", "-", "- "}[w.IntN(3)] + s + []string{"", ".25", "e3", "E-4"}[w.IntN(4)]
	case 4:
		return "_utf8mb4" + w.quote(w.value(), "'")
	case 5:
		return "TIMESTAMP" + w.quote(w.value(), "'")
	}
	return w.quote(w.value(), "'")
}

func (w *writer) expression(depth int) string {
	if depth <= 0 {
		return w.literal()
	}
	switch w.IntN(7) {
	case 0:
		return "a.b"
	case 1:
		return "COALESCE(" + w.expression(depth-1) + "," + w.expression(depth-1) + ")"
	case 2:
		return "x in (" + w.literal() + ", " + w.literal() + ")"
	case 3:
		return "(SELECT " + w.expression(depth-1) + "/* " + strings.ReplaceAll(w.value(), "*/", "") + "*/)"
	case 4:
		return "CASE WHEN " + w.expression(depth-1) + " THEN " + w.literal() + " END"
	}
	return w.expression(depth-1) + []string{" = ", "+", " AND ", "<>"}[w.IntN(4)] + w.expression(depth-1)
}

func (w *writer) statement() string {
	switch w.IntN(6) {
	case 0:
		return "INSERT INTO t VALUES (" + w.literal() + ", " + w.expression(1) + "), (" + w.literal() + ", NULL)"
	case 1:
		return "CREATE USER " + w.quote(w.value(), "'") + "@" + w.quote(w.value(), "'") + " IDENTIFIED BY " + w.quote(w.value(), "'")
	case 2:
		return "SET @v = " + w.literal() + ", PASSWORD = " + w.quote(w.value(), "'")
	case 3:
		return "SELECT a AS `sum(x = " + strings.ReplaceAll(w.quote(strings.ReplaceAll(w.value(), "`", ""), "'"), "`", "") + ")` FROM t -- " + strings.ReplaceAll(w.value(), "\n", " ")
	}
	return "SELECT /*+ SET_VAR(dp_epsilon=" + w.literal() + ") */ " + w.expression(3) + " FROM t WHERE " + w.expression(2) + " LIMIT " + w.literal()
}

// TestNoLiteralSurvives: whatever a statement holds, no literal of three characters or more is in
// its redacted form. Texts that are cut off at a random place lose their literals as well.
func TestNoLiteralSurvives(t *testing.T) {
	w := &writer{Rand: rand.New(rand.NewPCG(1, 2))}
	whole := 0
	for range 20_000 {
		w.literals = nil
		sql := w.statement()
		for _, text := range []string{sql, sql[:w.IntN(len(sql)+1)]} {
			got := Redact(text)
			for _, s := range w.literals {
				// others are punctuation
				if strings.ContainsAny(s, "qzjQZJ0123456789") && strings.Contains(got, s) {
					t.Fatalf("%q survives in\n%s\nof\n%s", s, got, text)
				}
			}
			if strings.ContainsAny(strings.ReplaceAll(got, "_utf8mb4", ""), "qzjQZJ479€") {
				t.Fatalf("a part of a literal survives in\n%s\nof\n%s", got, text)
			}
			if text == sql && !strings.HasSuffix(got, cut) {
				whole++
			}
		}
	}
	if whole < 15_000 {
		t.Errorf("only %d of 20000 statements were read to their end", whole)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("SELECT 'a\\'b', `c``d`, 0x1 /* x */ -- y", "secret")
	f.Fuzz(func(t *testing.T, sql, value string) {
		got := Redact(sql)
		if len(got) > MaxBytes || !utf8.ValidString(got) {
			t.Fatalf("got %q", got)
		}
		if value = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, value); len(value) < 3 || strings.Contains(sql, value) {
			return
		}
		if out := Redact("SELECT '" + value + "' FROM (" + sql + ")"); strings.Contains(out, value) && !strings.Contains(Redact("SELECT 1 FROM ("+sql+")"), value) {
			t.Fatalf("%q survives in %q", value, out)
		}
	})
}
