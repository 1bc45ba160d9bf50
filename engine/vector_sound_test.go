package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// vectorQueries cover every aggregate of vectors, every method and every form in which vectors are
// scanned.
var vectorQueries = []struct {
	sql string
	// matched queries compare secretly matched persons. Their loss shows only where the matchings
	// of the neighbours are coupled, which tests of the core do; here they must ask the same number
	// of queries with the same noise.
	matched bool
}{
	{"SELECT DP_MEAN(v), DP_MEAN(v, 'method=shifted'), DP_MEAN(v, 'method=plan') FROM w.visits", true},
	{"SELECT g, DP_MEAN(v), COUNT(*) FROM w.profiles GROUP BY g", true},
	{"SELECT DP_MEAN(v, 'method=clipped'), DP_SUM(v), COUNT(*) FROM w.visits", false},
	{"SELECT DP_MEAN(v, 'method=coinpress, sigma=2, radius=100') FROM w.visits", false},
	{"SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ g, DP_MEAN(v, 'method=clipped'), COUNT(*), DP_SUM(v) FROM w.visits WHERE g < 3 GROUP BY g", false},
	{"SELECT DP_MEAN(j, 'dimension=4, method=clipped'), DP_SUM(t, 'dimension=4') FROM w.visits", false},
	{"SELECT DP_SUM(DP_VECTOR(a, b, c)), DP_MEAN(DP_VECTOR(c, g), 'method=clipped'), AVG(a) FROM w.visits", false},
	{"SELECT g, DP_SUM(v), DP_SUM(DP_VECTOR(g, person)) FROM w.profiles GROUP BY g", false},
	{"SELECT DP_MEAN(DP_ONEHOT(item, 'dimension=40')), DP_SUM(DP_ONEHOT(item, 'dimension=40')) FROM w.baskets", false},
}

// fillSound inserts 120 persons. The first twenty have many rows, all with extreme numbers on one
// side, and baskets of everything.
func fillSound(c *client, without map[int]bool) {
	c.exec("DELETE FROM w.profiles", "DELETE FROM w.visits", "DELETE FROM w.baskets")
	var profiles, visits, baskets []string
	for p := range 120 {
		if without[p] {
			continue
		}
		rows, items := 1+p%3, 3
		if p < 20 {
			rows, items = 12, vectorItems
		}
		for r := range rows {
			x := vectorOf(p, r)
			if p < 20 {
				x = []float64{4000, 5000, 6000, 7000}
			}
			if r == 0 {
				profiles = append(profiles, fmt.Sprintf("(%d, %d, '%s')", p, p%2, list(x)))
			}
			visits = append(visits, fmt.Sprintf("('p%d', %d, '%s', '%[3]s', '%[3]s', %v, %v, %.3f)", p, (p+r)%4, list(x), x[0], x[1], x[2]))
		}
		for k := range items {
			baskets = append(baskets, fmt.Sprintf("(%d, %d)", p, k*(p%5+1)%vectorItems))
		}
	}
	for table, rows := range map[string][]string{"profiles": profiles, "visits": visits, "baskets": baskets} {
		c.exec("INSERT INTO w." + table + " VALUES " + strings.Join(rows, ", "))
	}
}

// TestVectorReleasesMoveByAtMostTheirLoss is TestReleasesMoveByAtMostTheirLoss for vectors.
func TestVectorReleasesMoveByAtMostTheirLoss(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec(vectorSchema...)
	root.exec("CALL dp_set_domain('w.visits', 'g', '[0, 1, 2]')", "SET dp_rho = 24")
	fillSound(root, nil)
	ann := i.analyst(root, "ann", "w")
	ann.exec("SET dp_rho = 24")
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, c := range vectorQueries {
		q := c.sql
		source.again(false)
		for _, v := range ann.query(q)[0] {
			if v == "NULL" {
				t.Errorf("%s has no answer, and checks little", q)
			}
		}
		runs[q] = source.again(false)
		charged[q] = lastCharge(t, root)
	}
	for name, without := range map[string]map[int]bool{"two": {0: true, 1: true}, "an extreme one": {3: true}, "another": {119: true}} {
		fillSound(root, without)
		exceeded := 0
		for _, c := range vectorQueries {
			q := c.sql
			source.mu.Lock()
			source.list, source.replay = nil, runs[q]
			source.mu.Unlock()
			ann.query(q)
			got := source.again(false)
			if len(got) != len(runs[q]) {
				t.Errorf("%s without %s: %d noise sources, want %d", q, name, len(got), len(runs[q]))
				continue
			}
			loss := lossOf(t, runs[q], got)
			if c.matched {
				continue
			}
			share, _ := new(big.Rat).Quo(loss, charged[q]).Float64()
			if share > 1 {
				exceeded++
			}
			t.Logf("without %s: %.3f of the charge: %s", name, share, q)
			if share > 1 && len(without) == 1 {
				t.Errorf("%s without %s: loss %s, charged %s", q, name, loss.FloatString(6), charged[q].FloatString(6))
			}
		}
		if len(without) == 2 && exceeded == 0 {
			t.Error("two persons at once stay within the charge everywhere: the test cannot fail")
		}
	}
}
