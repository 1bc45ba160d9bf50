package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
	"scrim/engine/store"
	"scrim/test/stattest"
)

// tape is a source of noise whose every sampler can be had once more.
type tape struct {
	t    *testing.T
	mu   sync.Mutex
	made int
}

func (p *tape) next() noise.Noiser {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return p.at(p.made)
}

func (p *tape) at(i int) noise.Noiser { return stattest.Noiser(p.t, fmt.Sprint("vectors", i)) }

// rewind makes the next query draw from the beginning.
func (p *tape) rewind() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = 0
}

// vectorSchema has vectors in every form: one a person, several, as JSON text, as columns, as
// items.
var vectorSchema = []string{
	"CREATE DATABASE w",
	"CREATE TABLE w.profiles (person INT PRIMARY KEY, g INT, v VECTOR(4) NOT NULL)",
	"CREATE TABLE w.visits (person VARCHAR(10), g INT, v VECTOR(4), j JSON, t TEXT, a DOUBLE, b DOUBLE, c DECIMAL(8,3))",
	"CREATE TABLE w.baskets (person INT, item INT)",
	"CALL dp_protect('w.profiles', 'person', 'p')",
	"CALL dp_protect('w.visits', 'person', 'p')",
	"CALL dp_protect('w.baskets', 'person', 'q')",
	"CALL dp_set_domain('w.profiles', 'g', '[0, 1, 2]')",
	"CALL dp_set_budget('w.profiles', '*', 100000, 0.001, 'never')",
	"CALL dp_set_budget('w.visits', '*', 100000, 0.001, 'never')",
	"CALL dp_set_budget('w.baskets', '*', 100000, 0.001, 'never')",
	"SET dp_raw = ON, dp_rho = 4",
}

const (
	vectorPersons = 600
	vectorRho     = 4
	vectorItems   = 40
)

// vectorOf is row r of person p: numbers with more digits than the grid keeps, around (10, -20, 30,
// 0).
func vectorOf(p, r int) []float64 {
	out := make([]float64, 4)
	for j := range out {
		out[j] = []float64{10, -20, 30, 0}[j] + math.Sin(float64(7*p+3*r+j))*float64(j+1)
	}
	return out
}

func vectorRows(p int) int { return 1 + p%4 }

func list(x []float64) string {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// fillVectors inserts the rows of all persons, and malformed ones of persons of their own and of
// others.
func fillVectors(i *instance, c *client) {
	var profiles, visits, baskets []string
	for p := range vectorPersons {
		profiles = append(profiles, fmt.Sprintf("(%d, %d, '%s')", p, p%2, list(vectorOf(p, 0))))
		for r := range vectorRows(p) {
			x := vectorOf(p, r)
			visits = append(visits, fmt.Sprintf("('p%d', %d, '%s', '%[3]s', '%[3]s', %v, %v, %.3f)", p, r, list(x), x[0], x[1], x[2]))
			baskets = append(baskets, fmt.Sprintf("(%d, %d), (%[1]d, %[2]d)", p, p*(r+1)%vectorItems))
		}
	}
	for n, bad := range []string{"'[1, 2, 3]'", "'[1, 2, 3, 4, 5]'", "'[1, null, 2, 3]'", "'[1, 2, 3, \"x\"]'", "'{\"a\": 1}'", "'7'", "'[[1, 2, 3, 4]]'", "'[]'", "NULL"} {
		for _, who := range []string{"p1", fmt.Sprint("bad", n)} {
			visits = append(visits, fmt.Sprintf("('%s', 1, NULL, %s, %[2]s, NULL, 1, 2)", who, bad))
		}
	}
	visits = append(visits, "('p2', 1, '[1, null, 2, 3]', NULL, '[1, 2', 1, NULL, 2)", "('p3', 1, NULL, NULL, 'NaN', 1, 1, NULL)", "('p4', 1, NULL, NULL, '[1, 2, NaN, 3]', NULL, NULL, NULL)")
	baskets = append(baskets, fmt.Sprintf("(1, -1), (1, NULL), (2, %d), (9999, 100000)", vectorItems))
	for table, rows := range map[string][]string{"profiles": profiles, "visits": visits, "baskets": baskets} {
		c.exec("INSERT INTO w." + table + " VALUES " + strings.Join(rows, ", "))
	}
	// What no client can write, but an import may bring.
	s, err := i.store.Session(context.Background())
	if err != nil {
		i.t.Fatal(err)
	}
	defer s.Close()
	for _, x := range []string{"nan", "inf", "-inf"} {
		q := "INSERT INTO w.visits SELECT who, 1, [1, 2, '" + x + "'::DOUBLE, 4], NULL, NULL, '" + x + "'::DOUBLE, 1, 2 FROM (VALUES ('p1'), ('bad " + x + "')) q(who)"
		if _, err := s.Write(context.Background(), []store.TableRef{{Schema: "w", Name: "visits"}}, q); err != nil {
			i.t.Fatal(err)
		}
	}
}

// denseBlock is made by hand: the sums of the grid indexes of the first dim numbers of the rows of
// each person that rows says the person has.
func denseBlock(dim int, step float64, rows func(p int) int) *estimator.Block {
	c := estimator.Chunk{}
	for p := range vectorPersons {
		if rows(p) == 0 {
			continue
		}
		sum := make([]int64, dim)
		for r := range rows(p) {
			for j := range sum {
				x := vectorOf(p, r)[j]
				if dim == 3 && j == 2 {
					x, _ = strconv.ParseFloat(fmt.Sprintf("%.3f", x), 64) // a DECIMAL
				}
				sum[j] += int64(math.RoundToEven(x / step))
			}
		}
		c.Persons++
		c.Rows = append(c.Rows, int64(rows(p)))
		c.Dense = append(c.Dense, sum...)
	}
	return &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{c}}
}

// oneRow drops the counts of a block of persons with one row each.
func oneRow(b *estimator.Block) *estimator.Block {
	b.Chunks[0].Rows = nil
	return b
}

func basketBlock() *estimator.Block {
	c := estimator.Chunk{Starts: []int{0}}
	for p := range vectorPersons {
		has := make([]bool, vectorItems)
		for r := range vectorRows(p) {
			has[p*(r+1)%vectorItems] = true
		}
		for k, yes := range has {
			if yes {
				c.Index = append(c.Index, int32(k))
			}
		}
		c.Persons++
		c.Starts = append(c.Starts, len(c.Index))
	}
	return &estimator.Block{Dim: vectorItems, Sparse: true, Chunks: []estimator.Chunk{c}}
}

// doubles is the grid of a DOUBLE without bounds.
var doubles = estimator.Grid{Step: 0x1p-20, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

// perRow and perPerson are the public facts of a table with one row a person, and of one with any
// number.
func perRow(dim int) vector.Params {
	p := perPerson(dim)
	p.MaxRows = 1
	return p
}

func perPerson(dim int) vector.Params {
	return vector.Params{Params: estimator.Params{Rho: vectorRho, Grid: doubles}, Dim: dim}
}

func with(p vector.Params, change func(*vector.Params)) vector.Params {
	change(&p)
	return p
}

func mean(p vector.Params) (estimator.Estimator, error) { return vector.NewMean(p) }
func sum(p vector.Params) (estimator.Estimator, error)  { return vector.NewSum(p) }
func variance(p vector.Params) (estimator.Estimator, error) {
	return vector.NewVariance(p, false, false)
}

// TestVectorAnswersAreTheCores: what a client reads is, bit for bit, what the core makes of the
// same vectors with the same noise; malformed rows are absent.
func TestVectorAnswersAreTheCores(t *testing.T) {
	source := &tape{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec(vectorSchema...)
	fillVectors(i, root)
	ann := i.analyst(root, "ann", "w")
	ann.exec("SET dp_rho = " + fmt.Sprint(vectorRho))
	profiles := oneRow(denseBlock(4, doubles.Step, func(int) int { return 1 }))
	visits := denseBlock(4, doubles.Step, vectorRows)
	columns := denseBlock(3, doubles.Step, vectorRows)
	for _, c := range []struct {
		query string
		block *estimator.Block
		build func(vector.Params) (estimator.Estimator, error)
		p     vector.Params
	}{
		{"SELECT DP_MEAN(v) FROM w.profiles", profiles, mean, perRow(4)},
		{"SELECT DP_MEAN(v, 'method=clipped') FROM w.profiles", profiles, mean, with(perRow(4), func(p *vector.Params) { p.Method = vector.Clipped })},
		{"SELECT DP_MEAN(v, 'method=shifted') FROM w.profiles", profiles, mean, with(perRow(4), func(p *vector.Params) { p.Method = vector.Shifted })},
		{"SELECT DP_MEAN(v, 'method=plan, p=1') FROM w.profiles", profiles, mean, with(perRow(4), func(p *vector.Params) { p.Method, p.P = vector.Plan, 1 })},
		{"SELECT DP_SUM(v) FROM w.profiles", profiles, sum, perRow(4)},
		{"SELECT DP_VARIANCE(v) FROM w.profiles", profiles, variance, perRow(4)},
		{"SELECT DP_MEAN(v) FROM w.visits", visits, mean, perPerson(4)},
		{"SELECT DP_SUM(v) FROM w.visits", visits, sum, perPerson(4)},
		{"SELECT DP_MEAN(j, 'dimension=4') FROM w.visits", visits, mean, perPerson(4)},
		{"SELECT DP_MEAN(t, 'dimension=4') FROM w.visits", visits, mean, perPerson(4)},
		{"SELECT DP_MEAN(DP_VECTOR(a, b, c)) FROM w.visits", columns, mean, with(perPerson(3), func(p *vector.Params) { p.Relative = true })},
		{"SELECT DP_MEAN(DP_VECTOR(a, b, c), 'relative=off') FROM w.visits", columns, mean, perPerson(3)},
		{"SELECT DP_MEAN(DP_ONEHOT(item, 'dimension=40')) FROM w.baskets", basketBlock(), mean, with(perPerson(vectorItems), func(p *vector.Params) {
			lo, hi := int64(0), int64(1)
			p.Sparse, p.Scale, p.Lower, p.Upper, p.Grid = true, vector.Binary, &lo, &hi, estimator.Grid{Step: 1, Lo: 0, Hi: 1}
		})},
	} {
		t.Run(c.query, func(t *testing.T) {
			e, err := c.build(c.p)
			if err != nil {
				t.Fatal(err)
			}
			// the first sampler draws the secrets of the scans
			want := e.Release(source.at(2), estimator.Input{Vectors: c.block})
			if want.Status != estimator.OK {
				t.Fatalf("the core has no answer; %d persons would do", want.Needed)
			}
			source.rewind()
			sameVector(t, ann.value(c.query), want.Values)
		})
	}
}

// sameVector compares a JSON array with numbers, bit for bit.
func sameVector(t *testing.T, text string, want []float64) {
	t.Helper()
	var got []float64
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %d numbers, want %d", len(got), len(want))
	}
	for j := range got {
		if math.Float64bits(got[j]) != math.Float64bits(want[j]) {
			t.Errorf("coordinate %d: got %v, want %v", j, got[j], want[j])
		}
	}
}

// TestVectorsByGroup: each group is answered as if it were alone, with scalars beside vectors, and
// an empty group too; a second asking is a replay.
func TestVectorsByGroup(t *testing.T) {
	source := &tape{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec(vectorSchema...)
	fillVectors(i, root)
	root.exec("SET dp_raw = OFF")
	const query = "SELECT g, DP_MEAN(v) FROM w.profiles GROUP BY g ORDER BY g"
	source.rewind()
	rows := root.query(query)
	e, err := vector.NewMean(perRow(4))
	if err != nil {
		t.Fatal(err)
	}
	for g := range 3 {
		b := oneRow(denseBlock(4, doubles.Step, func(p int) int {
			if p%2 == g {
				return 1
			}
			return 0
		}))
		want := e.Release(source.at(2+g), estimator.Input{Vectors: b})
		switch {
		case want.Status == estimator.OK:
			sameVector(t, rows[g][1], want.Values)
		case rows[g][1] != "NULL":
			t.Errorf("group %d: got %s, want NULL", g, rows[g][1])
		}
	}
	if rows[0][1] == "NULL" || rows[2][1] != "NULL" {
		t.Errorf("got %v: 300 persons are too few, or none are enough", rows)
	}
	if again := root.query(query); fmt.Sprint(again) != fmt.Sprint(rows) {
		t.Errorf("got %v at the second asking, first %v", again, rows)
	}
	prepared := root.query("SELECT g, DP_MEAN(v) FROM w.profiles WHERE person >= ? GROUP BY g ORDER BY g", 0)
	if len(prepared) != 3 || len(prepared[0][1]) < 9 {
		t.Errorf("prepared: got %v", prepared)
	}
	mixed := root.query("SELECT g, COUNT(*), DP_MEAN(v), DP_VALUE(DP_MEAN(v), 3), AVG(person) FROM w.profiles GROUP BY g ORDER BY g")
	count, err := strconv.ParseFloat(mixed[0][1], 64)
	third, err3 := strconv.ParseFloat(mixed[0][3], 64)
	if err != nil || err3 != nil || math.Abs(count-300) > 30 || math.Abs(third-30) > 3 || !strings.Contains(mixed[0][2], ",") {
		t.Errorf("mixed: got %v", mixed)
	}
}
