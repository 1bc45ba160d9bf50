package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// answer is what a statement returned: names and types of its columns, and rows of text; NULL is
// "NULL".
type answer struct {
	columns, types []string
	rows           [][]string
}

// answer runs a statement and reads its rows.
func (c *client) answer(query string) (answer, error) {
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return answer{}, err
	}
	var a answer
	for _, t := range types {
		a.columns, a.types = append(a.columns, t.Name()), append(a.types, t.DatabaseTypeName())
	}
	for rows.Next() {
		values, into := make([]*string, len(types)), make([]any, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return answer{}, err
		}
		row := make([]string, len(types))
		for i, v := range values {
			if row[i] = "NULL"; v != nil {
				row[i] = *v
			}
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// TestDifferences asks MariaDB and the server the statements that tools write, of the same data:
// public copies are answered as MariaDB does, and so are protected tables when there is no noise,
// nothing is clipped and every key is public. Statements that are not asked of protected tables are
// asked by a DBA with raw access. What is refused says what to write instead.
func TestDifferences(t *testing.T) {
	reference := mariadb(t)
	public, private := startWith(t, "", silence, byBytes).root(), startWith(t, "", silence, byBytes)
	root := private.root()
	for _, c := range []*client{reference, public, root} {
		c.exec("CREATE DATABASE shop", "USE shop", "SET time_zone = '+00:00'")
		c.exec(shopTables...)
		c.exec(shopRows()...)
	}
	public.exec("CALL dp_public('shop.customers')", "CALL dp_public('shop.orders')", "CALL dp_public('shop.products')", "CALL dp_public('shop.regions')")
	root.exec(shopDeclarations()...)
	ann := private.analyst(root, "ann", "shop")
	ann.exec("USE shop", "SET time_zone = '+00:00'", "SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	raw := private.root()
	raw.exec("USE shop", "SET time_zone = '+00:00'", "SET dp_raw = ON")
	compared := map[string]int{}
	for _, d := range differences(t) {
		if strings.HasPrefix(d.text, "SET ") {
			for _, c := range []*client{reference, public, ann, raw} {
				c.exec(d.text)
			}
			continue
		}
		t.Run(d.place, func(t *testing.T) {
			want := answer{}
			if len(d.expect) > 0 {
				want.columns, want.rows = d.expect[0], d.expect[1:]
			} else if got, err := reference.answer(d.asked()); err != nil {
				t.Fatalf("MariaDB: %v\n%s", err, d.text)
			} else {
				want = got
			}
			if !d.noPublic {
				compared["public"]++
				if got, err := public.answer(d.text); err != nil {
					t.Errorf("public: %v\n%s", err, d.text)
				} else if diff := d.compare(got, want, 1e-12); diff != "" {
					t.Errorf("public: %s\n%s", diff, d.text)
				}
			}
			if d.noPriv { // a DBA's raw statements on protected tables are as those on public ones
				compared["raw"]++
				if got, err := raw.answer(d.text); err != nil {
					t.Errorf("raw: %v\n%s", err, d.text)
				} else if diff := d.compare(got, want, 1e-12); diff != "" {
					t.Errorf("raw: %s\n%s", diff, d.text)
				}
			}
			if d.noPriv {
				return
			}
			got, err := ann.answer(d.text)
			if d.state != "" {
				compared["refused"]++
				d.refusal(t, got, err)
				return
			}
			compared["protected"]++
			if d.missing {
				got.rows = withoutNobody(t, got.rows)
			}
			if err != nil {
				t.Errorf("protected: %v\n%s", err, d.text)
			} else if diff := d.compare(got, want, d.tolerance()); diff != "" {
				t.Errorf("protected: %s\n%s", diff, d.text)
			}
		})
	}
	t.Logf("compared: %v", compared)
	if compared["public"] < 550 || compared["protected"] < 200 {
		t.Errorf("got %v statements compared, want 550 public and 200 protected ones and more", compared)
	}
}

// withoutNobody leaves out the group of the missing side of a LEFT JOIN, which is there because
// public facts allow for it, and which nobody is in.
func withoutNobody(t *testing.T, rows [][]string) [][]string {
	t.Helper()
	var kept [][]string
	for _, row := range rows {
		if slices.ContainsFunc(row, func(c string) bool { x, err := strconv.ParseFloat(c, 64); return c != "NULL" && (err != nil || x != 0) }) {
			kept = append(kept, row)
		}
	}
	if len(kept) != len(rows)-1 {
		t.Errorf("%d of %d rows are of nobody, want one", len(rows)-len(kept), len(rows))
	}
	return kept
}

// asked is what MariaDB is asked.
func (d *difference) asked() string {
	if d.mariadb != "" {
		return d.mariadb
	}
	return d.text
}

// tolerance is the relative tolerance of a number on protected tables: releases stand on a grid as
// fine as their noise.
func (d *difference) tolerance() float64 {
	if d.within != "" {
		w, err := strconv.ParseFloat(d.within, 64)
		if err != nil {
			panic("differential: " + d.within)
		}
		return w
	}
	return 1e-5
}

// refusal checks that a statement is refused as its comment says.
func (d *difference) refusal(t *testing.T, got answer, err error) {
	var e *mysql.MySQLError
	switch {
	case !errors.As(err, &e):
		t.Errorf("protected: got %v, %v, want a refusal %s\n%s", got.rows, err, d.state, d.text)
	case string(e.SQLState[:]) != d.state || !strings.Contains(e.Message, d.words):
		t.Errorf("protected: got %v, want %s and %q\n%s", e, d.state, d.words, d.text)
	}
}

// compare tells the first difference, "" where there is none. Rows are compared in their order
// where the statement orders them.
func (d *difference) compare(got, want answer, within float64) string {
	if fmt.Sprint(got.columns) != fmt.Sprint(want.columns) && (!d.noNames || len(got.columns) != len(want.columns)) {
		return fmt.Sprintf("got columns %q, want %q", got.columns, want.columns)
	}
	if len(got.rows) != len(want.rows) {
		return fmt.Sprintf("got %d rows %v, want %d %v", len(got.rows), first(got.rows), len(want.rows), first(want.rows))
	}
	a, b := got.rows, want.rows
	if !d.ordered() {
		a, b = inOrder(a), inOrder(b)
	}
	for i := range a {
		for j := range a[i] {
			typ := ""
			if want.types != nil {
				typ = want.types[j]
			}
			if !sameCell(a[i][j], b[i][j], typ, within) {
				return fmt.Sprintf("row %d, %s: got %s, want %s\ngot  %v\nwant %v", i, want.columns[j], a[i][j], b[i][j], a[i], b[i])
			}
		}
	}
	return ""
}

func first(rows [][]string) [][]string { return rows[:min(len(rows), 5)] }

// ordered reports whether the outermost query has an ORDER BY.
func (d *difference) ordered() bool {
	text := strings.ToUpper(d.text)
	at := strings.LastIndex(text, "ORDER BY")
	return at >= 0 && !strings.Contains(text[at:], ")\n") && strings.Count(text[at:], "(") == strings.Count(text[at:], ")") && !strings.Contains(text[at:], "ORDER BY NULL")
}

// inOrder sorts rows, numbers rounded so that a tolerance does not change the order.
func inOrder(rows [][]string) [][]string {
	key := func(r []string) string {
		var b strings.Builder
		for _, c := range r {
			if f, err := strconv.ParseFloat(c, 64); err == nil {
				c = strconv.FormatFloat(f, 'e', 3, 64)
			}
			b.WriteString(c + "\x00")
		}
		return b.String()
	}
	out := append([][]string(nil), rows...)
	sort.SliceStable(out, func(i, j int) bool { return key(out[i]) < key(out[j]) })
	return out
}

// moment is a date or a date with time without a time or a fraction that is zero: on which columns
// of dates show it, versions of MySQL differ.
func moment(cell string) string {
	if len(cell) > len("2006-01-02 15:04:05") && cell[4] == '-' {
		cell = strings.TrimSuffix(cell, ".000000")
	}
	if len(cell) == len("2006-01-02 15:04:05") && cell[4] == '-' {
		cell = strings.TrimSuffix(cell, " 00:00:00")
	}
	return cell
}

// sameCell compares two cells: as text, or as numbers. A DECIMAL of MariaDB's has been rounded to
// its digits.
func sameCell(got, want, typ string, within float64) bool {
	if got == want {
		return true
	}
	if moment(got) == moment(want) {
		return true
	}
	g, err1 := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(want, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	tolerance := within * math.Max(1, math.Abs(w))
	if _, digits, ok := strings.Cut(want, "."); ok {
		if typ == "DECIMAL" || len(digits) <= 6 {
			tolerance += 0.500001 * math.Pow10(-len(digits))
		}
	}
	return math.Abs(g-w) <= tolerance
}
