package lower_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/test/testenv/hostile"
)

// grammar makes random expressions over the columns of t: %n a number, %s a text, %d a date, %b a
// condition, %a anything, %c a small integer constant.
var grammar = map[byte][]string{
	'n': {"i", "j", "k", "u", "m", "w", "x", "y", "b", "s", "i1", "i2", "u1", "u4", "hi", "uh", "f", "m4", "m9", "mw", "mh", "mf", "0", "1", "-1", "2.5", "1e308", "-1e-300", "9223372036854775807", "18446744073709551615", "99999999999999999999999999999.99", "NULL",
		"%n + %n", "%n - %n", "%n * %n", "%n / %n", "%n DIV %n", "%n %% %n", "-(%n)", "ABS(%n)", "SIGN(%n)", "CEIL(%n)", "FLOOR(%n)", "ROUND(%n)", "ROUND(%n, %c)", "TRUNCATE(%n, %c)",
		"SQRT(%n)", "POW(%n, %n)", "EXP(%n)", "LN(%n)", "LOG(%n, %n)", "LOG2(%n)", "LOG10(%n)", "SIN(%n)", "TAN(%n)", "COT(%n)", "ASIN(%n)", "ACOS(%n)", "ATAN(%n, %n)", "DEGREES(%n)", "MOD(%n, %n)",
		"GREATEST(%n, %n)", "LEAST(%n, %n, %n)", "IF(%b, %n, %n)", "IFNULL(%n, %n)", "COALESCE(%n, %n)", "NULLIF(%n, %n)", "CASE WHEN %b THEN %n ELSE %n END", "CASE %n WHEN %n THEN %n END",
		"CAST(%a AS SIGNED)", "CAST(%a AS UNSIGNED)", "CAST(%a AS DECIMAL(20,5))", "CAST(%a AS DECIMAL(38,30))", "CAST(%a AS DOUBLE)", "LENGTH(%s)", "CHAR_LENGTH(%s)", "ASCII(%s)", "INSTR(%s, %s)", "LOCATE(%s, %s, %n)",
		"STRCMP(%s, %s)", "FIELD(%a, %a, %a)", "FIND_IN_SET(%s, %s)", "YEAR(%d)", "MONTH(%d)", "WEEK(%d, 1)", "YEARWEEK(%d, 6)", "HOUR(%d)", "MICROSECOND(%d)", "DAYOFYEAR(%d)", "DATEDIFF(%d, %d)", "TO_DAYS(%d)",
		"FLOOR(%n / %n)", "CEIL(%n / %n)", "FLOOR(i / -1)", "CEIL(i / j)", "HOUR(tm)", "MINUTE(iv)", "MICROSECOND(iv)", "TIMESTAMPDIFF(MONTH, %d, %d)", "TIMESTAMPDIFF(SECOND, %d, %d)", "UNIX_TIMESTAMP(%d)", "EXTRACT(DAY_SECOND FROM %d)", "%b"},
	's': {"s", "r", "uu", "en", "bl", "'abc'", "''", "'12abc'", "'é'", "' 1e999'", "LOWER(%s)", "UPPER(%s)", "CONCAT(%a, %s)", "CONCAT_WS(%s, %a, %s)", "SUBSTRING(%s, %n)", "SUBSTRING(%s, %n, %n)", "LEFT(%s, %n)", "RIGHT(%s, %n)", "TRIM(%s)",
		"TRIM(LEADING 'ab' FROM %s)", "REPLACE(%s, %s, %s)", "LPAD(%s, %n, %s)", "RPAD(%s, %n, %s)", "REVERSE(%s)", "REPEAT(%s, %n)", "SPACE(%n)", "SUBSTRING_INDEX(%s, ',', %n)", "HEX(%a)", "MD5(%s)",
		"CAST(%a AS CHAR)", "CAST(%a AS CHAR(3))", "IF(%b, %s, %a)", "COALESCE(%s, %a)", "NULLIF(%s, %s)", "DATE_FORMAT(%d, '%%Y-%%m %%W %%U %%D')", "MONTHNAME(%d)", "ELT(%n, %s, %a)", "GREATEST(%s, %s)", "BINARY(%s)", "BINARY(%a)"},
	'd': {"d", "ts", "s", "tss", "tms", "tns", "tz", "'2020-02-30'", "'2020-12-31 23:59:59'", "i", "DATE(%d)", "LAST_DAY(%d)", "FROM_DAYS(%n)", "FROM_UNIXTIME(%n)", "DATE_ADD(%d, INTERVAL %n DAY)", "DATE_ADD(%d, INTERVAL %n MONTH)",
		"DATE_SUB(%d, INTERVAL %n SECOND)", "%d + INTERVAL %n YEAR", "CAST(%a AS DATE)", "CAST(%a AS DATETIME(3))", "CAST(%a AS DATETIME)", "STR_TO_DATE(%s, '%%Y-%%m-%%d')", "IF(%b, %d, %d)", "TIMESTAMP(%d)", "COALESCE(%d, d)", "CONVERT_TZ(%d, 'Europe/Zurich', 'America/New_York')", "CONVERT_TZ(%d, '-13:59', '+14:00')", "CONVERT_TZ(%d, '+14:00', '-12:00')", "CONVERT_TZ(%d, 'Pacific/Apia', 'UTC')", "MAKEDATE(%n, %n)", "MAKEDATE(9999, i)",
		"STR_TO_DATE(%s, '%%X%%V %%W')", "STR_TO_DATE(%s, '%%x%%v %%W')", "STR_TO_DATE(CONCAT(%n, 'Sunday'), '%%X%%V %%W')", "STR_TO_DATE(CONCAT(YEARWEEK(%d, 0), ' Sunday'), '%%X%%V %%W')", "STR_TO_DATE(CONCAT(YEARWEEK(%d, 1), ' Monday'), '%%x%%v %%W')"},
	'b': {"b", "TRUE", "%a = %a", "%n < %n", "%a <=> %a", "%s >= %s", "%d > %d", "%n <> %s", "%d = %s", "NOT %b", "%b AND %b", "%b OR %b", "%b XOR %b", "%a IS NULL", "%b IS TRUE", "%n IN (%n, 1, NULL)", "%s IN ('abc', %s)", "%n BETWEEN %n AND %n",
		"%s LIKE 'a%%'", "%s LIKE '%%a_b%%'", "%s REGEXP '^[a-z]+$'", "%s REGEXP '(a|b)*c.{2}'", "tm > '10:00:00'", "iv < tm", "tm IN ('10:00:00', tm)", "%n", "%d IN ('2020-01-01', %d)", "(%n, %s) IN ((1, 'a'), (%n, %s))"},
	'c': {"0", "1", "-1", "2", "5", "-3", "30", "-40"},
}

// ofOneColumn are calls whose other arguments are constants: those that the store may evaluate on
// all values of a dictionary.
var ofOneColumn = []string{"LEFT('abc', i)", "RIGHT('abc', i)", "SUBSTRING('abc', i)", "SUBSTRING('abc', 2, i)", "SUBSTRING(s, i)", "SUBSTRING(s, 1, 2)", "LOCATE('a', 'abc', i)", "SUBSTRING_INDEX('a,b', ',', i)", "REPEAT('ab', i)", "REPEAT(s, 30000)", "SPACE(i)",
	"LPAD('a', i, 'b')", "RPAD('a', i, 'b')", "LPAD('a', 5, s)", "LPAD(s, 60000, 'x')", "REPLACE(s, 'a', 'bcdefghij')", "HEX(s)", "HEX(i)", "ASCII(s)", "REVERSE(s)", "LAST_DAY(d)", "LAST_DAY(ts)", "LAST_DAY(s)", "FROM_DAYS(i)", "FROM_UNIXTIME(i)",
	"DATE_ADD(d, INTERVAL 1 YEAR)", "DATE_ADD(ts, INTERVAL 1 SECOND)", "DATE_ADD('2020-01-01', INTERVAL i DAY)", "TO_DAYS(d)", "UNIX_TIMESTAMP(ts)", "WEEK(d, 1)", "YEARWEEK(ts, 6)", "DATE_FORMAT(ts, '%W %Y')", "STR_TO_DATE(s, '%Y-%m-%d')", "CONVERT_TZ(ts, 'UTC', 'Europe/Zurich')",
	"CAST(ts AS DATE)", "CAST(tz AS DATE)", "CAST(ts AS DATETIME(3))", "CAST(ts AS DATETIME) < j", "CAST(d AS CHAR)", "CAST(s AS DATE)", "CAST(s AS DECIMAL(10,2))", "CAST(x AS SIGNED)", "CAST(x AS DECIMAL(10,2))", "CAST(mh AS SIGNED)", "CAST(u AS SIGNED)", "YEAR(tz)", "HOUR(tm)", "LN(x)", "LOG(2, x)", "SQRT(x)", "ASIN(x)", "TAN(x)", "COT(x)", "POW(x, 2)", "EXP(x)",
	"i + 1", "i * 3", "i DIV 3", "i % 7", "1 / i", "ABS(i)", "-i", "u + 1", "m * 2", "w * w", "w / 3", "ROUND(w, 2)", "ROUND(i, -3)", "ROUND(x, 2)", "TRUNCATE(w, -2)", "FLOOR(w)", "FLOOR(i / 7)", "SIGN(x)"}

func generate(r *rand.Rand, kind byte, depth int) string {
	if kind == 'a' {
		kind = "nsdb"[r.IntN(4)]
	}
	choices := grammar[kind]
	var form string
	for {
		form = choices[r.IntN(len(choices))]
		if depth > 0 || !strings.Contains(strings.ReplaceAll(form, "%%", ""), "%") {
			break
		}
	}
	var out strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' {
			out.WriteByte(form[i])
			continue
		}
		i++
		if form[i] == '%' {
			out.WriteByte('%')
			continue
		}
		out.WriteString("(" + generate(r, form[i], depth-1) + ")")
	}
	return strings.ReplaceAll(out.String(), "(%c)", "0")
}

// TestTotal runs random expressions on columns of all types whose rows overflow, divide by zero,
// hold NaN and infinities, days that MySQL does not have, empty and malformed texts: nothing may
// raise, no double may be NaN or infinite, and TestRaises knows each function that is called. Each
// is used in the select list twice, in WHERE, in a sum and in GROUP BY, so that the store's
// optimiser may share, push and fold parts of it.
func TestTotal(t *testing.T) {
	b := newBinder(t)
	for form, in := range forms {
		t.Run(form, func(t *testing.T) {
			each := map[string]int{"memory": 600, "file": 40, "parquet": 60}[form]
			if testing.Short() {
				each /= 4
			}
			db := openHostile(t)
			in(t, db)
			r := rand.New(rand.NewPCG(*fuzzSeed, uint64(len(form))))
			ran := 0
			for _, text := range ofOneColumn {
				totalExpression(t, b, db, text)
			}
			for range each {
				if totalExpression(t, b, db, generate(r, 'a', 1+r.IntN(4))) {
					ran++
				}
				if t.Failed() && *fuzzStop {
					return
				}
			}
			if ran < each/2 {
				t.Errorf("only %d of %d expressions ran", ran, each)
			}
			t.Logf("%d expressions", ran)
		})
	}
}

// totalExpression checks an expression as TestTotal says; false where it cannot be asked.
func totalExpression(t *testing.T, b *binder, db *stdsql.DB, text string) bool {
	e, err := b.bind(text)
	if err != nil {
		return false // what the server cannot name or fold is none of ours
	}
	var args lower.Binder
	x, err := lower.Lower(b.ctx, e, &args, resolve)
	if err != nil {
		var re *refuse.Error
		if !errors.As(err, &re) {
			t.Fatalf("%s: %v", text, err)
		}
		return false
	}
	if x.Type.Kind != lower.Null {
		if names := hostile.Unlisted(t, db, hostile.Listed(t, "testdata/raises"), "SELECT "+x.SQL); len(names) > 0 {
			t.Errorf("%s: testdata/raises does not say when %s raise", text, names)
		}
	}
	if err := errors.Join(total(db, x, args.Args()), typed(db, x, args.Args())); err != nil {
		t.Errorf("%s\n\t%v\n\t%s %v", text, err, x.SQL, args.Args())
	}
	var args2 lower.Binder
	p, err := lower.LowerPredicate(b.ctx, e, &args2, resolve)
	if err != nil {
		return true
	}
	rs, err := db.Query("SELECT count(*) FROM t WHERE "+p.SQL+" AND t.k < 5", args2.Args()...)
	if err == nil {
		for rs.Next() {
		}
		err = rs.Err()
		rs.Close()
	}
	if err != nil {
		t.Errorf("WHERE %s: %v", text, err)
	}
	return true
}

// stored are the store's types of kinds that scans read as integers: a wider one could not be
// handed over, or not on every row.
var stored = map[lower.Kind]string{lower.Int: "BIGINT", lower.UInt: "UBIGINT", lower.Bool: "BOOLEAN", lower.Double: "DOUBLE"}

func typed(db *stdsql.DB, x lower.Expr, args []any) error {
	want, ok := stored[x.Type.Kind]
	if !ok {
		return nil
	}
	var have string
	if err := db.QueryRow("SELECT typeof("+x.SQL+") FROM t LIMIT 1", args...).Scan(&have); err != nil {
		return err
	}
	if have != want && !(x.Narrow() && have == "INTEGER") {
		return fmt.Errorf("type %s, want %s", have, want)
	}
	return nil
}

func total(db *stdsql.DB, x lower.Expr, args []any) error {
	q := "SELECT " + x.SQL + " AS v, CAST(" + x.SQL + " AS VARCHAR) AS w FROM t"
	if x.Type.Kind == lower.Double {
		q = "SELECT " + x.SQL + " AS v, " + x.SQL + " + 1 AS w FROM t"
	}
	rs, err := db.Query(q, args...)
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		var v, w any
		if err := rs.Scan(&v, &w); err != nil {
			return err
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return fmt.Errorf("value %v", f)
		}
		if v == nil && !x.Nullable {
			return errors.New("NULL although not nullable")
		}
	}
	if err := rs.Err(); err != nil {
		return err
	}
	g, err := db.Query("SELECT "+x.SQL+" AS v, count(*), count(DISTINCT "+x.SQL+") FROM t GROUP BY 1", args...)
	if err != nil {
		return err
	}
	defer g.Close()
	for g.Next() {
	}
	return g.Err()
}

// TestTotalDetects makes sure that the check above can fail: it rejects what is not guarded, also a
// TRY out of which the store shares a part.
func TestTotalDetects(t *testing.T) {
	db := openStore(t)
	for _, s := range []string{"ln(t.x)", "t.i + 1", "t.x * 10", "TRY(ln(t.y) + ln(t.y))", "CAST(t.s AS DOUBLE)", "t.m * t.m"} {
		if total(db, lower.Expr{SQL: s, Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil) == nil {
			t.Errorf("%s passed for total", s)
		}
	}
	if typed(db, lower.Expr{SQL: "sum(t.i) OVER ()", Type: lower.Type{Kind: lower.Int}}, nil) == nil {
		t.Error("a HUGEINT passed for a BIGINT")
	}
}
