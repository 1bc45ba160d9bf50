package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// facts are what a server holds of what TestFaults has written, by name: rows with all their
// values, tables, columns, indexes, views, accounts, budgets.
type facts map[string]string

// deed is a statement, or a transaction of several, and what it changes.
type deed struct {
	kind   string
	sql    []string
	load   string // what a file of LOAD DATA holds
	change func(facts)
	asks   string // the column that names a private query
}

// faultSchema makes what deeds work on. Units are texts: a garbled one is another person.
var faultSchema = []string{
	"CREATE DATABASE d",
	"CREATE TABLE d.plain (id INT PRIMARY KEY, s TEXT, b BLOB)",
	"CREATE TABLE d.loose (id INT, s TEXT)",
	"CREATE TABLE d.side (id INT PRIMARY KEY, s TEXT)",
	"CREATE TABLE d.people (id INT NOT NULL, who VARCHAR(2100) NOT NULL, a INT NOT NULL, day DATE NOT NULL)",
	"CREATE TABLE d.shape (id INT NOT NULL, s VARCHAR(700))",
	"CREATE TABLE d.n (id INT)",
	"CREATE TABLE d.big (part INT, id INT, s TEXT)",
	"CALL dp_protect('d.people', 'who', 'person')",
	"CALL dp_set_domain('d.people', 'a', '[0,1,2,3]')",
	"CALL dp_set_budget('d.people', '*', 100000, 1e-6, 'never')",
}

// seedFaults fills the tables, and returns what is there then.
func seedFaults(s *session) error {
	var n, people, shape []string
	for i := range 1000 {
		n = append(n, fmt.Sprintf("(%d)", i))
	}
	for i := range 400 {
		people = append(people, fmt.Sprintf("(%d, '%s', %d, '2015-01-%02d')", i, text(i/2, 1), i%4, 1+i%28))
	}
	for i := range 50 {
		shape = append(shape, fmt.Sprintf("(%d, '%s')", i, text(i, 3)[:min(len(text(i, 3)), 700)]))
	}
	for _, q := range append(faultSchema[:len(faultSchema):len(faultSchema)],
		"INSERT INTO d.n VALUES "+strings.Join(n, ","), "INSERT INTO d.people VALUES "+strings.Join(people, ","), "INSERT INTO d.shape VALUES "+strings.Join(shape, ",")) {
		if _, err := s.ask(q); err != nil {
			return fmt.Errorf("%.60s: %w", q, err)
		}
	}
	return nil
}

// text is that of a row: of 1 to 2000 letters, by which anything that is spliced in shows. Of four
// rows one has a text that others have, too.
func text(id, version int) string {
	if id%4 == 0 {
		return strings.Repeat([]string{"ann", "bob", "carol", "a person of a longer name"}[id/4%4], 1+version%3)
	}
	h := uint32(id*7919+version*104729) * 2654435761
	return fmt.Sprintf("%d.%d.", id, version) + strings.Repeat(string(rune('a'+h>>8%26)), int(h>>16)%[]int{12, 200, 2000}[id%3])
}

// row is a row of d.plain, as SQL and as facts have it.
func row(id, version int) (sql, fact string) {
	t := text(id, version)
	b := hex.EncodeToString([]byte(t[:min(len(t), 300)]))
	return fmt.Sprintf("(%d, '%s', X'%s')", id, t, b), t + "|" + strings.ToUpper(b)
}

// observe reads all that facts are of.
func observe(s *session) (facts, error) {
	f := facts{}
	var failed error
	read := func(kind, query string) {
		if failed != nil {
			return
		}
		rows, err := s.ask(query)
		if err != nil {
			failed = fmt.Errorf("%s: %w", query, err)
		}
		for _, r := range rows {
			name := kind + " " + r[0]
			if _, twice := f[name]; twice {
				name += " again"
			}
			f[name] = strings.Join(r[1:], "|")
		}
	}
	if _, err := s.ask("SET dp_raw = ON"); err != nil {
		return nil, err
	}
	read("plain", "SELECT id, s, HEX(b) FROM d.plain")
	read("loose", "SELECT id, s FROM d.loose")
	read("side", "SELECT id, s FROM d.side")
	read("person", "SELECT id, who FROM d.people")
	read("shape", "SELECT id, s FROM d.shape")
	read("part", "SELECT part, COUNT(*), SUM(s <> REPEAT(SUBSTRING('abcdefghijklmnopqrstuvwxyz', 1 + id % 26, 1), 400 + id % 100)) FROM d.big GROUP BY part")
	read("column", "SELECT column_name FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'shape'")
	read("index", "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = 'd' AND table_name = 'shape'")
	read("table", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd'")
	read("view", "SELECT view_name, cells FROM dp.views")
	read("synthetic", "SELECT table_name, synthetic_rows FROM dp.synthetic")
	read("series", "SELECT series_name FROM dp.continual")
	read("account", "SELECT user FROM mysql.user")
	read("budget", "SELECT account, epsilon FROM dp.budgets WHERE account = 'd.people'")
	for name := range maps.Clone(f) {
		kind, table, _ := strings.Cut(name, " ")
		switch kind {
		case "view", "synthetic": // their numbers are noisy: whether all rows are there is what is compared
			rows, err := s.ask("SELECT COUNT(*) FROM " + table)
			if err != nil {
				return nil, err
			}
			if rows[0][0] == f[name] {
				f[name] = "whole"
			} else {
				f[name] = rows[0][0] + " rows of " + f[name]
			}
		case "series":
			rows, err := s.ask("SELECT COUNT(*) FROM " + table)
			if err != nil {
				return nil, err
			}
			f[name] = rows[0][0]
		case "account":
			if strings.HasPrefix(table, "u") {
				rows, err := s.ask("SHOW GRANTS FOR '" + table + "'@'%'")
				if err != nil {
					return nil, err
				}
				f[name] = fmt.Sprint(slices.ContainsFunc(rows, func(r []string) bool { return strings.Contains(r[0], "ON `d`.*") || strings.Contains(r[0], "ON d.*") }))
			}
		}
	}
	_, err := s.ask("SET dp_raw = OFF")
	if failed == nil {
		failed = err
	}
	return f, failed
}

// differ tells how two facts differ, in a few lines.
func (f facts) differ(got facts) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := f[name]; !ok {
			lines = append(lines, fmt.Sprintf("%s is there: %.80q", name, got[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if v, ok := got[name]; !ok {
			lines = append(lines, fmt.Sprintf("%s is gone: %.80q", name, f[name]))
		} else if v != f[name] {
			at := 0
			for at < min(len(v), len(f[name])) && v[at] == f[name][at] {
				at++
			}
			lines = append(lines, fmt.Sprintf("%s has %d bytes, want %d; from byte %d on %.40q, want %.40q", name, len(v), len(f[name]), at, v[at:], f[name][at:]))
		}
	}
	if len(lines) > 8 {
		lines = append(lines[:8], fmt.Sprintf("and %d more", len(lines)-8))
	}
	return strings.Join(lines, "\n")
}

// ids are the numbers of the rows of one kind.
func (f facts) ids(kind string) (list []int) {
	for name := range f {
		var id int
		if n, _ := fmt.Sscanf(name, kind+" %d", &id); n == 1 {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// names are the names of one kind with a prefix.
func (f facts) names(kind, prefix string) (list []string) {
	for name := range f {
		if rest, ok := strings.CutPrefix(name, kind+" "); ok && strings.HasPrefix(rest, prefix) {
			list = append(list, rest)
		}
	}
	slices.Sort(list)
	return list
}

// put is a change that sets facts, take one that removes them.
func put(pairs ...string) func(facts) {
	return func(f facts) {
		for i := 0; i < len(pairs); i += 2 {
			f[pairs[i]] = pairs[i+1]
		}
	}
}

func take(names ...string) func(facts) {
	return func(f facts) {
		for _, n := range names {
			delete(f, n)
		}
	}
}

// pick chooses one of a list; ok is false where there is none.
func pick[T any](r *rand.Rand, list []T) (x T, ok bool) {
	if len(list) == 0 {
		return x, false
	}
	return list[r.IntN(len(list))], true
}

// rowsFrom are n new rows of d.plain.
func rowsFrom(id, n, version int) (values string, change func(facts)) {
	var list, pairs []string
	for i := range n {
		sql, fact := row(id+i, version)
		list, pairs = append(list, sql), append(pairs, fmt.Sprint("plain ", id+i), fact)
	}
	return strings.Join(list, ", "), put(pairs...)
}

// deeds are the kinds of statements. Each makes one, from a number that no other has and from what
// is there; without a text it has nothing to do.
var deeds = []func(r *rand.Rand, n int, have facts) deed{
	func(r *rand.Rand, n int, _ facts) deed {
		values, change := rowsFrom(n, 1, n)
		return deed{kind: "INSERT", sql: []string{"INSERT INTO d.plain VALUES " + values}, change: change}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		return deed{kind: "INSERT without a key", sql: []string{fmt.Sprintf("INSERT INTO d.loose VALUES (%d, '%s')", n, text(n, n))}, change: put(fmt.Sprint("loose ", n), text(n, n))}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		values, change := rowsFrom(n, 2+r.IntN(80), n)
		return deed{kind: "INSERT of many", sql: []string{"INSERT INTO d.plain VALUES " + values}, change: change}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		a, first := rowsFrom(n, 1, n)
		b, second := rowsFrom(n+1, 1+r.IntN(20), n)
		return deed{kind: "transaction", sql: []string{"BEGIN", "INSERT INTO d.plain VALUES " + a, "INSERT INTO d.plain VALUES " + b, "COMMIT"},
			change: func(f facts) { first(f); second(f) }}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		var lines, pairs []string
		for i := range 1 + r.IntN(60) {
			lines, pairs = append(lines, fmt.Sprintf("%d\t%s", n+i, text(n+i, n))), append(pairs, fmt.Sprint("loose ", n+i), text(n+i, n))
		}
		return deed{kind: "LOAD DATA", sql: []string{"LOAD DATA LOCAL INFILE 'Reader::faults' INTO TABLE d.loose"}, load: strings.Join(lines, "\n") + "\n", change: put(pairs...)}
	},
	func(r *rand.Rand, n int, have facts) deed {
		k, m := 2+r.IntN(7), 0
		m = r.IntN(k)
		var pairs []string
		for _, id := range have.ids("plain") {
			if id%k == m {
				pairs = append(pairs, fmt.Sprint("plain ", id), text(n, n)+"|"+have[fmt.Sprint("plain ", id)][strings.LastIndex(have[fmt.Sprint("plain ", id)], "|")+1:])
			}
		}
		return deed{kind: "UPDATE", sql: []string{fmt.Sprintf("UPDATE d.plain SET s = '%s' WHERE id %% %d = %d", text(n, n), k, m)}, change: put(pairs...)}
	},
	func(r *rand.Rand, n int, have facts) deed {
		id, ok := pick(r, have.ids("plain"))
		if !ok {
			return deed{}
		}
		from, to := fmt.Sprint("plain ", id), fmt.Sprint("plain ", n)
		return deed{kind: "UPDATE of a key", sql: []string{fmt.Sprintf("UPDATE d.plain SET id = %d WHERE id = %d", n, id)},
			change: func(f facts) { f[to] = f[from]; delete(f, from) }}
	},
	func(r *rand.Rand, n int, have facts) deed {
		kind := []string{"plain", "loose"}[r.IntN(2)]
		k := 2 + r.IntN(5)
		if len(have.ids(kind)) > 300 {
			k = 1 + r.IntN(2)
		}
		m := r.IntN(k)
		var gone []string
		for _, id := range have.ids(kind) {
			if id%k == m {
				gone = append(gone, fmt.Sprint(kind, " ", id))
			}
		}
		return deed{kind: "DELETE", sql: []string{fmt.Sprintf("DELETE FROM d.%s WHERE id %% %d = %d", kind, k, m)}, change: take(gone...)}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if name, ok := pick(r, have.names("column", "c")); ok && r.IntN(2) == 0 {
			return deed{kind: "DROP COLUMN", sql: []string{"ALTER TABLE d.shape DROP COLUMN " + name}, change: take("column " + name)}
		}
		if len(have.names("index", "i")) == 0 && r.IntN(2) == 0 { // both, or none of them
			q := fmt.Sprintf("ALTER TABLE d.shape ADD COLUMN c%[1]d VARCHAR(20) DEFAULT 'x', ADD UNIQUE KEY i%[1]d (id)", n)
			return deed{kind: "ALTER of two parts", sql: []string{q}, change: put(fmt.Sprintf("column c%d", n), "", fmt.Sprintf("index i%d", n), "")}
		}
		return deed{kind: "ADD COLUMN", sql: []string{fmt.Sprintf("ALTER TABLE d.shape ADD COLUMN c%d VARCHAR(20) DEFAULT 'x'", n)}, change: put(fmt.Sprintf("column c%d", n), "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if name, ok := pick(r, have.names("index", "i")); ok {
			return deed{kind: "DROP INDEX", sql: []string{"DROP INDEX " + name + " ON d.shape"}, change: take("index " + name)}
		}
		return deed{kind: "CREATE INDEX", sql: []string{fmt.Sprintf("CREATE UNIQUE INDEX i%d ON d.shape (id)", n)}, change: put(fmt.Sprintf("index i%d", n), "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		id, ok := pick(r, have.ids("shape"))
		if !ok || r.IntN(3) == 0 {
			s := text(n, n)[:min(len(text(n, n)), 700)]
			return deed{kind: "INSERT beside an index", sql: []string{fmt.Sprintf("INSERT INTO d.shape (id, s) VALUES (%d, '%s')", n, s)}, change: put(fmt.Sprint("shape ", n), s)}
		}
		return deed{kind: "UPDATE beside an index", sql: []string{fmt.Sprintf("UPDATE d.shape SET s = 'new %d' WHERE id = %d", n, id)}, change: put(fmt.Sprint("shape ", id), fmt.Sprint("new ", n))}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if parts := have.ids("part"); len(parts) > 2 {
			return deed{kind: "DELETE of a load", sql: []string{fmt.Sprintf("DELETE FROM d.big WHERE part = %d", parts[0])}, change: take(fmt.Sprint("part ", parts[0]))}
		}
		times := 1 + r.IntN(12)
		return deed{kind: "load", sql: []string{fmt.Sprintf(`INSERT INTO d.big SELECT %d, n.id + 1000 * m.id, REPEAT(SUBSTRING('abcdefghijklmnopqrstuvwxyz', 1 + (n.id + 1000 * m.id) %% 26, 1), 400 + (n.id + 1000 * m.id) %% 100)
			FROM d.n n JOIN d.n m ON m.id < %d`, n, times)}, change: put(fmt.Sprint("part ", n), fmt.Sprintf("%d|0", 1000*times))}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if name, ok := pick(r, have.names("table", "t")); ok && r.IntN(2) == 0 {
			return deed{kind: "DROP TABLE", sql: []string{"DROP TABLE d." + name}, change: take("table " + name)}
		}
		return deed{kind: "CREATE TABLE", sql: []string{fmt.Sprintf("CREATE TABLE d.t%d (a INT PRIMARY KEY, b TEXT)", n)}, change: put(fmt.Sprintf("table t%d", n), "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if list := have.names("view", "d.v"); len(list) > 3 {
			return deed{kind: "dp_drop_view", sql: []string{"CALL dp_drop_view('" + list[0] + "')"}, change: take("view "+list[0], "table "+list[0][2:])}
		} else if name, ok := pick(r, list); ok && r.IntN(3) == 0 {
			return deed{kind: "dp_refresh_view", sql: []string{"CALL dp_refresh_view('" + name + "')"}, change: put()}
		}
		name := fmt.Sprint("v", n)
		return deed{kind: "dp_create_view", sql: []string{fmt.Sprintf(`CALL dp_create_view('d.%s', 'SELECT a, COUNT(*) AS n FROM d.people WHERE id < %d GROUP BY a', '{"rho": 2}')`, name, n)},
			change: put("view d."+name, "whole", "table "+name, "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		list := have.names("series", "d.s")
		switch name, ok := pick(r, list); {
		case len(list) > 2:
			return deed{kind: "dp_drop_continual", sql: []string{"CALL dp_drop_continual('" + list[0] + "')"}, change: take("series "+list[0], "table "+list[0][2:])}
		case ok && r.IntN(3) > 0:
			var days int
			fmt.Sscan(have["series "+name], &days)
			return deed{kind: "dp_continue", sql: []string{fmt.Sprintf("CALL dp_continue('%s', '2015-01-%02d')", name, days+1)}, change: put("series "+name, fmt.Sprint(days+1))}
		}
		name := fmt.Sprint("s", n)
		return deed{kind: "dp_continual", sql: []string{fmt.Sprintf(`CALL dp_continual('d.%s', 'SELECT day, COUNT(*) AS n FROM d.people GROUP BY 1', '{"rho": 1, "from": "2015-01-01", "days": 28, "per_person": 2}')`, name)},
			change: put("series d."+name, "0", "table "+name, "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if list := have.names("synthetic", "d.y"); len(list) > 2 {
			return deed{kind: "dp_drop_view of a synthetic table", sql: []string{"CALL dp_drop_view('" + list[0] + "')"}, change: take("synthetic "+list[0], "table "+list[0][2:])}
		}
		name := fmt.Sprint("y", n)
		return deed{kind: "dp_synthesize", sql: []string{fmt.Sprintf(`CALL dp_synthesize('d.people', 'd.%s', '{"rho": 2, "columns": ["a"]}')`, name)},
			change: put("synthetic d."+name, "whole", "table "+name, "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		if name, ok := pick(r, have.names("table", "l")); ok && name != "loose" && r.IntN(2) == 0 {
			return deed{kind: "dp_detach", sql: []string{"CALL dp_detach('d." + name + "')"}, change: take("table " + name)}
		}
		name := fmt.Sprint("l", n)
		return deed{kind: "dp_attach", sql: []string{fmt.Sprintf(`CALL dp_attach('d.%s', 'parquet', '{"path": "LAKE/%s.parquet"}')`, name, name)}, change: put("table "+name, "")}
	},
	func(r *rand.Rand, n int, have facts) deed {
		switch name, ok := pick(r, have.names("account", "u")); {
		case ok && have["account "+name] == "false":
			return deed{kind: "GRANT", sql: []string{"GRANT SELECT ON d.* TO '" + name + "'@'%'"}, change: put("account "+name, "true")}
		case ok && r.IntN(2) == 0:
			return deed{kind: "DROP USER", sql: []string{"DROP USER '" + name + "'@'%'"}, change: take("account " + name)}
		}
		return deed{kind: "CREATE USER", sql: []string{fmt.Sprintf("CREATE USER 'u%d'@'%%' IDENTIFIED BY 'pw'", n)}, change: put(fmt.Sprintf("account u%d", n), "false")}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		return deed{kind: "dp_set_budget", sql: []string{fmt.Sprintf("CALL dp_set_budget('d.people', '*', %d, 1e-6, 'never', 'more')", 100000+n)}, change: put("budget d.people", fmt.Sprint(100000+n))}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		name := fmt.Sprintf("q%x", n)
		return deed{kind: "private query", sql: []string{fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=0.01) */ COUNT(*) AS %s FROM d.people WHERE id < %d", name, n)}, change: put(), asks: name}
	},
	func(r *rand.Rand, n int, have facts) deed {
		var gone []string
		for _, id := range have.ids("side") {
			gone = append(gone, fmt.Sprint("side ", id))
		}
		if len(gone) < 500 {
			return deed{}
		}
		last := have.ids("side")[len(gone)-1]
		return deed{kind: "DELETE beside a writer", sql: []string{fmt.Sprintf("DELETE FROM d.side WHERE id <= %d", last)}, change: take(gone...)}
	},
	func(r *rand.Rand, n int, _ facts) deed {
		return deed{kind: "INSERT of a person", sql: []string{fmt.Sprintf("INSERT INTO d.people VALUES (%d, '%s', 1, '2015-01-03')", n, text(n, n))}, change: put(fmt.Sprint("person ", n), text(n, n))}
	},
}

// try sends a deed.
func (d deed) try(s *session) (err error) {
	mysql.RegisterReaderHandler("faults", func() io.Reader { return strings.NewReader(d.load) })
	for _, q := range d.sql {
		if _, err = s.ask(q); err != nil {
			return err
		}
	}
	return nil
}
