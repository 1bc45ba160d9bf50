package planner

import (
	stdsql "database/sql"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/planner/grid"
)

// wide is a product or a sum of decimals of more digits than a machine word has: as an analyst
// writes it, the same in decimals of 38 digits, and its scale and value in integers. The arguments
// are 100 a, 100 b and 10^6 c.
type wide struct {
	text, slow string
	scale      int
	exact      func(a, b, c *big.Int) *big.Int
}

var wides = []wide{
	{"a * b", "CAST(a AS DECIMAL(38,2)) * b", 4, func(a, b, _ *big.Int) *big.Int { return times(a, b) }},
	{"a * (1 - b)", "CAST(a AS DECIMAL(38,2)) * (1 - b)", 4, func(a, b, _ *big.Int) *big.Int { return times(a, minus(num(100), b)) }},
	{"a * c", "CAST(a AS DECIMAL(38,2)) * c", 8, func(a, _, c *big.Int) *big.Int { return times(a, c) }},
	{"a * c - b * c", "CAST(a AS DECIMAL(38,2)) * c - CAST(b AS DECIMAL(38,2)) * c", 8, func(a, b, c *big.Int) *big.Int { return minus(times(a, c), times(b, c)) }},
	{"c + c", "CAST(c AS DECIMAL(38,6)) + c", 6, func(_, _, c *big.Int) *big.Int { return times(c, num(2)) }},
	{"CASE WHEN b > 1 THEN a * (1 - b) ELSE 0 END", "CASE WHEN b > 1 THEN CAST(a AS DECIMAL(38,2)) * (1 - b) ELSE 0 END", 4, func(a, b, _ *big.Int) *big.Int {
		if b.Cmp(num(100)) > 0 {
			return times(a, minus(num(100), b))
		}
		return num(0)
	}},
	{"CASE b WHEN 1 THEN NULL ELSE a * b END", "CASE WHEN b = 1 THEN NULL ELSE CAST(a AS DECIMAL(38,2)) * b END", 4, func(a, b, _ *big.Int) *big.Int {
		if b.Cmp(num(100)) == 0 {
			return num(0)
		}
		return times(a, b)
	}},
	{"IF(b > 1, a * b, a)", "CASE WHEN b > 1 THEN CAST(a AS DECIMAL(38,2)) * b ELSE a END", 4, func(a, b, _ *big.Int) *big.Int {
		if b.Cmp(num(100)) > 0 {
			return times(a, b)
		}
		return times(a, num(100))
	}},
	// Beyond 38 digits a product is NULL, which adds nothing.
	{"a * (1 - b) * (1 + b)", "CASE WHEN abs(CAST(a AS DOUBLE) * CAST(1 - b AS DOUBLE) * CAST(1 + b AS DOUBLE)) < 0.999999e32 " +
		"THEN CAST(a AS DECIMAL(38,2)) * (1 - b) * (1 + b) END", 6, func(a, b, _ *big.Int) *big.Int { return times(times(a, minus(num(100), b)), minus(b, num(-100))) }},
}

func num(n int64) *big.Int         { return big.NewInt(n) }
func times(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
func minus(x, y *big.Int) *big.Int { return new(big.Int).Sub(x, y) }
func tenTo(n int) *big.Int         { return new(big.Int).Exp(num(10), num(int64(n)), nil) }

// point writes n / 10^s.
func point(n *big.Int, s int) string {
	text := fmt.Sprintf("%0*s", s+1, new(big.Int).Abs(n))
	text = text[:len(text)-s] + "." + text[len(text)-s:]
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// onGrid is n / 10^scale in units of 10^-to, rounded half to even.
func onGrid(n *big.Int, scale, to int) *big.Int {
	unit := tenTo(scale - to)
	q, m := new(big.Int).DivMod(n, unit, new(big.Int))
	if c := times(m, num(2)).Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, num(1))
	}
	return q
}

// oddDecimals are integers of at most the digits: the ends, the numbers around the limits of words
// and their shares, ties, and random ones of all sizes.
func oddDecimals(r *rand.Rand, digits int) *big.Int {
	n := minus(tenTo(digits), num(1))
	switch r.IntN(6) {
	case 0:
	case 1:
		n = minus(tenTo(1+r.IntN(digits-1)), num(int64(r.IntN(3)-1)))
	case 2:
		n = num(int64(r.IntN(41)) * 5)
	case 3:
		n = num(int64(r.IntN(400)))
	default:
		n = new(big.Int).Mod(new(big.Int).SetUint64(r.Uint64()), tenTo(1+r.IntN(digits)))
	}
	if r.IntN(2) == 0 {
		n = n.Neg(n)
	}
	return n
}

// TestWideDecimals compares the indexes of wide decimals, which are computed in machine words where
// they fit, with those in decimals of 38 digits, and with integers where DOUBLE tells every tenth
// power's multiple from its neighbours. NULL gives 0.
func TestWideDecimals(t *testing.T) {
	h := newHarness(t)
	if out := h.define("CREATE TABLE t (id BIGINT PRIMARY KEY, a DECIMAL(15,2), b DECIMAL(15,2), c DECIMAL(18,6))"); out != "ok" {
		t.Fatal(out)
	}
	if out := h.declare("protect shop.t id person"); out != "ok" {
		t.Fatal(out)
	}
	db := duckDB(t)
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([][3]*big.Int, 20000)
	items := make([]string, len(rows))
	for i := range rows {
		rows[i] = [3]*big.Int{oddDecimals(r, 15), oddDecimals(r, 15), oddDecimals(r, 18)}
		texts := []string{point(rows[i][0], 2), point(rows[i][1], 2), point(rows[i][2], 6)}
		if j := r.IntN(60); j < 3 {
			rows[i][j], texts[j] = nil, "NULL"
		}
		items[i] = fmt.Sprintf("(%d, %s)", i, strings.Join(texts, ", "))
	}
	for _, q := range []string{"CREATE SCHEMA shop", "CREATE TABLE shop.t (id BIGINT PRIMARY KEY, a DECIMAL(15,2), b DECIMAL(15,2), c DECIMAL(18,6))",
		"INSERT INTO shop.t VALUES " + strings.Join(items, ", ")} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range wides {
		free := estimator.Grid{Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
		unit := tenTo(w.scale).Int64()
		for call, g := range map[string]estimator.Grid{"SUM(%s)": free, "DP_SUM(%s, 'lower=-700, upper=900.5')": {Scale: w.scale, Lo: -700 * unit, Hi: 1801 * unit / 2}} {
			s, _, err := h.plan("SELECT " + fmt.Sprintf(call, w.text) + " FROM t")
			if err != nil {
				t.Fatalf("%s: %v", w.text, err)
			}
			a := s.Releases[0].Aggregates[0]
			sc := s.Releases[0].Scans[a.Scan]
			if !strings.Contains(sc.SQL, "DECIMAL(18,") && !strings.Contains(sc.SQL, "BETWEEN CAST('-") {
				t.Errorf("%s: nothing is computed in words\n%s", w.text, sc.SQL)
			}
			got := runScan(t, db, sc)
			slow := slowIndexes(t, db, w.slow, g)
			for i := range got {
				k := got[i][a.Columns[len(a.Columns)-1]].(int64)
				if k != slow[i] {
					t.Fatalf("%s of %s: index %d, in 38 digits %d", w.text, items[i], k, slow[i])
				}
				if want, ok := w.index(rows[i], g); ok && k != want {
					t.Fatalf("%s of %s: index %d, want %d", w.text, items[i], k, want)
				}
			}
		}
	}
}

// index is the index of a row, computed in integers; false where a number is too large for DOUBLE
// to have its last digit, or halfway between two indexes, where DOUBLE may be on either side.
func (w wide) index(row [3]*big.Int, g estimator.Grid) (int64, bool) {
	for i, n := range row {
		if n == nil {
			if strings.Contains(w.text, string(rune('a'+i))) {
				return 0, false
			}
			row[i] = num(0)
		}
	}
	n := w.exact(row[0], row[1], row[2])
	if n.BitLen() > 52 {
		return 0, false
	}
	if unit := tenTo(w.scale - g.Scale); g.Scale > 0 && new(big.Int).Mod(times(n, num(2)), times(unit, num(2))).Cmp(unit) == 0 {
		return 0, false
	}
	k := onGrid(n, w.scale, g.Scale).Int64()
	return min(max(k, g.Lo), g.Hi), true
}

// slowIndexes are the indexes of an expression of the store, 0 where it is NULL, in the order of
// rows.
func slowIndexes(t *testing.T, db *stdsql.DB, slow string, g estimator.Grid) (out []int64) {
	t.Helper()
	inverse, _ := new(big.Float).SetInt(tenTo(g.Scale)).Float64()
	d := "CAST(" + slow + " AS DOUBLE)"
	k := fmt.Sprintf("CASE WHEN %[1]s < %[2]d / %[4]s THEN %[2]d WHEN %[1]s > %[3]d / %[4]s THEN %[3]d ELSE TRY_CAST(%[1]s * %[4]s AS BIGINT) END", d, g.Lo, g.Hi, grid.Float(inverse))
	rows, err := db.Query("SELECT coalesce(" + k + ", 0) FROM shop.t ORDER BY id")
	if err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
