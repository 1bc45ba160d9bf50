package tpch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// written generates the data and reads a table: rows of text under a header.
func written(t *testing.T, scale float64) func(table string) (header []string, rows [][]string) {
	t.Helper()
	dir := t.TempDir()
	if err := Write(context.Background(), dir, Options{Scale: scale, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return func(table string) ([]string, [][]string) {
		f, err := os.Open(FileOf(dir, table))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all[0], all[1:]
	}
}

// TestTablesAreTheSpecifications checks what the queries rest on, of every row.
func TestTablesAreTheSpecifications(t *testing.T) {
	read := written(t, 0.01)
	cents := func(s string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(s, ".", ""))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	days := func(from, to string) int { return int(day(to).Sub(day(from)).Hours() / 24) }
	for table, want := range map[string]int{"region": 5, "nation": 25, "supplier": 100, "part": 2000, "partsupp": 8000, "customer": 1500, "orders": 15000} {
		if _, rows := read(table); len(rows) != want {
			t.Errorf("%s: got %d rows, want %d", table, len(rows), want)
		}
	}
	for _, table := range Tables() {
		header, rows := read(table.Name)
		for _, row := range rows {
			comment := row[len(row)-1]
			if strings.TrimSpace(comment) != comment || comment == "" {
				t.Fatalf("%s: comment %q", table.Name, comment)
			}
		}
		for _, column := range header {
			if !strings.Contains(table.Columns, column+" ") {
				t.Errorf("%s: the column %s is in the file and not in the table", table.Name, column)
			}
		}
		if got, want := len(header), strings.Count(table.Columns, ", ")+1; got != want {
			t.Errorf("%s: got %d columns, want %d", table.Name, got, want)
		}
	}
	offers := map[[2]string]bool{}
	_, partsupp := read("partsupp")
	for _, r := range partsupp {
		if offers[[2]string{r[0], r[1]}] {
			t.Fatalf("the supplier %s offers the part %s twice", r[1], r[0])
		}
		offers[[2]string{r[0], r[1]}] = true
	}
	_, parts := read("part")
	price := map[string]int{}
	for _, r := range parts {
		price[r[0]] = cents(r[7])
		if words := strings.Fields(r[1]); len(words) != 5 || !strings.HasSuffix(r[2], r[3][6:7]) {
			t.Fatalf("part %v", r)
		}
	}
	if got := price["1000"]; got != 90_100 {
		t.Errorf("got a price of %d of part 1000, want 90100", got)
	}
	type sums struct {
		total, lines, open int
		date               string
	}
	byOrder := map[string]*sums{}
	_, orders := read("orders")
	special := 0
	for _, r := range orders {
		key, _ := strconv.Atoi(r[0])
		customer, _ := strconv.Atoi(r[1])
		if (key-1)%32 >= 8 || customer%3 == 0 || r[4] < "1992-01-01" || r[4] > "1998-08-02" || byOrder[r[0]] != nil {
			t.Fatalf("order %v", r)
		}
		byOrder[r[0]] = &sums{date: r[4]}
		if i := strings.Index(r[8], "special"); i >= 0 && strings.Contains(r[8][i:], "requests") {
			special++
		}
	}
	if share := float64(special) / float64(len(orders)); share < 0.005 || share > 0.02 {
		t.Errorf("got a share of %.4f special requests, want about 0.01", share)
	}
	_, lines := read("lineitem")
	for _, r := range lines {
		o := byOrder[r[0]]
		if !offers[[2]string{r[1], r[2]}] || cents(r[5]) != cents(r[4])*price[r[1]] {
			t.Fatalf("line %v", r)
		}
		shipped, committed, received := days(o.date, r[10]), days(o.date, r[11]), days(r[10], r[12])
		if shipped < 1 || shipped > 121 || committed < 30 || committed > 90 || received < 1 || received > 30 {
			t.Fatalf("line %v of an order of %s", r, o.date)
		}
		if open := r[10] > "1995-06-17"; open != (r[9] == "O") || (r[12] > "1995-06-17") != (r[8] == "N") {
			t.Fatalf("line %v", r)
		} else if open {
			o.open++
		}
		o.lines++
		o.total += cents(r[5]) * (100 - cents(r[6])) / 100 * (100 + cents(r[7])) / 100
	}
	for _, r := range orders {
		o := byOrder[r[0]]
		status := map[bool]string{true: "P"}[o.open > 0 && o.open < o.lines]
		if o.open == 0 {
			status = "F"
		} else if o.open == o.lines {
			status = "O"
		}
		if r[2] != status || cents(r[3]) != o.total {
			t.Fatalf("order %v, want the status %s and %d cents", r, status, o.total)
		}
	}
	if each := float64(len(lines)) / float64(len(orders)); math.Abs(each-4) > 0.1 {
		t.Errorf("got %.3f lines an order, want 4", each)
	}
	_, suppliers := read("supplier")
	for _, end := range []string{"Complaints", "Recommends"} {
		n := 0
		for _, r := range suppliers {
			if i := strings.Index(r[6], "Customer"); i >= 0 && strings.Contains(r[6][i:], end) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("got %d suppliers with Customer … %s, want one in this size", n, end)
		}
	}
}

// TestSameSeedSameFiles: files follow from scale factor and seed.
func TestSameSeedSameFiles(t *testing.T) {
	hash := func(seed uint64) [sha256.Size]byte {
		dir := t.TempDir()
		if err := Write(context.Background(), dir, Options{Scale: 0.001, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for _, table := range Tables() {
			b, err := os.ReadFile(FileOf(dir, table.Name))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
		return sha256.Sum256(all.Bytes())
	}
	first, again := hash(1), hash(1)
	if first != again {
		t.Error("the same seed gave other files")
	}
	if first == hash(2) {
		t.Error("another seed gave the same files")
	}
}

func TestWriteStopsAndRefuses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, t.TempDir(), Options{Scale: 0.01}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
	for _, scale := range []float64{0, -1, math.NaN(), 1000} {
		if err := Write(context.Background(), t.TempDir(), Options{Scale: scale}); err == nil {
			t.Errorf("the scale factor %v was taken", scale)
		}
	}
}
