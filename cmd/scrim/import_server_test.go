package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that goes away in the middle of an import has none of it afterwards: no new table's
// rows, and the old ones of a table that was to be replaced.
func TestImportThroughAServerThatGoesAway(t *testing.T) {
	dir := t.TempDir()
	p := serveFor(t, filepath.Join(dir, "d"))
	p.root(t).must(t, "CREATE DATABASE shop", "CREATE TABLE shop.old (id BIGINT, text VARCHAR(80))", "INSERT INTO shop.old VALUES (1, 'kept')")
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range 300_000 {
		fmt.Fprintf(&rows, "%d,%s\n", i, strings.Repeat("x", 60))
	}
	file := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	type started struct {
		cmd  *exec.Cmd
		said *output
	}
	var all []started
	for _, args := range [][]string{{"--table", "shop.new"}, {"--table", "shop.old", "--replace"}} {
		s := started{exec.Command("scrim", append(append([]string{"import", "--server", p.addr}, args...), file)...), &output{}}
		s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), clientPassword+"="+rootPassword), s.said, s.said
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for start := time.Now(); loading(t, p) < len(all); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatal("no load has begun")
		}
	}
	p.kill()
	for _, s := range all {
		if err := s.cmd.Wait(); err == nil {
			t.Errorf("%v ended well: %s", s.cmd.Args, s.said)
		}
		if said := s.said.String(); !strings.Contains(said, "nothing of "+file+" was imported") || !strings.Contains(said, "went away") {
			t.Errorf("got %q", said)
		}
	}
	if said := all[0].said.String(); !strings.Contains(said, "DROP TABLE it, or import with --append") {
		t.Errorf("nothing is said of the new table, which may be there: %q", said)
	}
	c := serveFor(t, filepath.Join(dir, "d")).root(t)
	if got := fmt.Sprint(c.must(t, "SET dp_raw = ON", "SELECT COUNT(*), MAX(text) FROM shop.old")); got != "[[1 kept]]" {
		t.Errorf("got %s, want the old row", got)
	}
	if got := fmt.Sprint(c.must(t, "SELECT COUNT(*) FROM shop.new")); got != "[[0]]" {
		t.Errorf("got %s rows of an import that has failed", got)
	}
}

// loading is how many loads the server is at.
func loading(t *testing.T, p *process) (n int) {
	for _, r := range p.root(t).must(t, "SHOW FULL PROCESSLIST") {
		if strings.Contains(strings.Join(r, " "), "LOAD DATA LOCAL") {
			n++
		}
	}
	return n
}

// What is found out of names: which column identifies a row, a person, a parent.
func TestGuesses(t *testing.T) {
	table := func(name string, columns ...string) *described {
		d := &described{schema: "s", table: name, state: "undeclared"}
		for _, c := range columns {
			d.columns = append(d.columns, describedColumn{c, "longtext"})
		}
		return d
	}
	for _, c := range []struct {
		table            *described
		own, unit, named string
	}{
		{table("ratings", "userId", "movieId"), "", "userId", "user"},
		{table("movies", "movieId", "title"), "movieId", "", ""},
		{table("people", "id", "age"), "id", "id", "person"},
		{table("categories", "category_id"), "category_id", "", ""},
		{table("orders", "id", "Customer_ID"), "id", "Customer_ID", "customer"},
	} {
		column, entity := c.table.unit(hints{})
		if own := c.table.own(); own != c.own || column != c.unit || entity != c.named {
			t.Errorf("%s: got %q, %q, %q; want %q, %q, %q", c.table.table, own, column, entity, c.own, c.unit, c.named)
		}
	}
	// A link rests on the parent's key: it is not left out as other keys are.
	got := propose(held{tables: []*described{table("visits", "customer_id", "visit_id"), table("customers", "customer_id"), table("notes", "visit_id")}}, hints{})
	for _, s := range got.steps {
		if forLink := strings.Contains(s.sql, "s.visits"); strings.HasPrefix(s.sql, "ALTER") && s.optional == forLink {
			t.Errorf("%s may be left out: %v", s.sql, s.optional)
		}
	}
	if len(got.open) != 0 || !strings.Contains(fmt.Sprint(got.steps), "dp_link('s.notes', 'visit_id', 's.visits', 'visit_id')") {
		t.Errorf("got %v", got)
	}
}

// TestLinksAreProposed: by a foreign key, and by a key of the column's name; a table that names its
// persons itself is said to have another way to them, by what joins find one row by.
func TestLinksAreProposed(t *testing.T) {
	table := func(name string, key string, columns ...string) *described {
		d := &described{schema: "s", table: name, state: "undeclared", keys: []string{key}, primary: true}
		for _, c := range append(columns, key) {
			d.columns = append(d.columns, describedColumn{c, "int"})
		}
		return d
	}
	lines := table("lines", "n", "belongs")
	lines.refers = []refersTo{{"belongs", "s.sales", "code"}}
	got := propose(held{tables: []*described{table("sales", "code", "customer_id"), lines, table("scans", "id", "code"), table("payment", "id", "customer_id", "code"), table("nations", "id", "n2")}}, hints{})
	for _, want := range []string{"CALL dp_link('s.lines', 'belongs', 's.sales', 'code')", "CALL dp_link('s.scans', 'code', 's.sales', 'code')"} {
		if !strings.Contains(fmt.Sprint(got.steps), want) {
			t.Errorf("%s is not in %v", want, got.steps)
		}
	}
	if open := fmt.Sprint(got.open); !strings.Contains(open, "CALL dp_link('s.payment', 'code', 's.sales', 'code')") || strings.Contains(open, "'s.sales', 'code', ") ||
		!strings.Contains(open, "dp_public('s.nations')") {
		t.Errorf("got %v", got.open)
	}
}
