package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// seeded is a source of seeded noise: every estimator gets a stream of its own. With shrink > 1 the
// variance of its Gaussian noise is too small by that factor.
func seeded(t *testing.T, name string, shrink int64) func() noise.Noiser {
	var mu sync.Mutex
	n := 0
	return func() noise.Noiser {
		mu.Lock()
		defer mu.Unlock()
		n++
		s := stattest.Noiser(t, fmt.Sprint(name, n))
		if shrink > 1 {
			return stattest.Shrunk{Noiser: s, Factor: shrink}
		}
		return s
	}
}

// auditQueries ask with every aggregate for a quantity that the person who leaves moves as much as
// one person can. All use ρ = 0.05.
var auditQueries = []string{
	"SELECT COUNT(*) FROM a.rows",
	"SELECT DP_COUNT(x) FROM a.rows",
	"SELECT COUNT(DISTINCT p) FROM a.rows",
	"SELECT COUNT(DISTINCT x) FROM a.rows",
	"SELECT SUM(x) FROM a.rows",
	"SELECT AVG(x) FROM a.rows",
	"SELECT VAR_SAMP(x) FROM a.rows",
	"SELECT DP_MEAN(x) FROM a.rows",
	"SELECT DP_MEAN(x, 'lower=0, upper=500') FROM a.rows",
	"SELECT DP_VARIANCE(x) FROM a.rows",
	"SELECT DP_STDDEV(x) FROM a.rows",
	"SELECT DP_MEDIAN(x, 'quantile=search') FROM a.rows",
	chosenQuantile,
	"SELECT n FROM (SELECT k, COUNT(*) AS n FROM a.rows GROUP BY k) d WHERE k = 1",
	"SELECT m FROM (SELECT k, AVG(x) AS m FROM a.rows GROUP BY k) d WHERE k = 1",
	"SELECT COUNT(*) FROM (SELECT p, SUM(x) AS s FROM a.rows GROUP BY p HAVING s > 300) d",
}

// auditSide is one of the two neighbours of the audit, the table of the persons 1 to persons who
// own their number, with noise whose variance is too small by shrink.
type auditSide struct {
	persons int
	shrink  int64
}

// chosenQuantile is found by the exponential mechanism, where the person more moves it by a rank.
// It draws no noise that could be shrunk: the broken variant takes ten thousand times the loss.
const chosenQuantile = "SELECT DP_QUANTILE(x, 0.7512) FROM a.rows"

// TestAuditOfEveryAggregate samples each aggregate through SQL on a database and on the neighbour
// without its most extreme person, and checks that no lower bound on the loss exceeds what was
// charged. The same audit with a hundredth of the noise's standard deviation must catch every one.
//
// Every side has a server of its own, which one client asks one query after another, and noise of
// its own: what is drawn follows from the seed alone, whatever runs at the same time. False alarms:
// one bound a query at stattest.Alpha. The broken variant is caught as long as no more than 1 of 48
// draws falls on the wrong side of the cut, 3 of 60 with -stat.whole; hardly any does.
func TestAuditOfEveryAggregate(t *testing.T) {
	const rho = 0.05
	runs := stattest.Runs(32, 40)
	sides := []auditSide{{401, 1}, {400, 1}, {401, 10_000}, {400, 10_000}}
	samples := make([][][]float64, len(sides))
	t.Run("samples", func(t *testing.T) {
		for k, s := range sides {
			t.Run(fmt.Sprintf("%d persons, shrink %d", s.persons, s.shrink), func(t *testing.T) {
				t.Parallel()
				samples[k] = s.sample(t, runs)
			})
		}
	})
	if slices.ContainsFunc(samples, func(s [][]float64) bool { return s == nil }) {
		return // a side failed, or was not run
	}
	for k, q := range auditQueries {
		if bound := stattest.LossBound(samples[0][k], samples[1][k]); bound > rho {
			t.Errorf("seed %d, %d runs: %s: loss at least %.3f, charged %.3f", stattest.Seed(t), runs, q, bound, rho)
		}
		if bound := stattest.LossBound(samples[2][k], samples[3][k]); bound <= rho {
			t.Errorf("seed %d, %d runs: %s: a hundredth of the noise was not caught: loss at least %.3f, charged %.3f", stattest.Seed(t), runs, q, bound, rho)
		}
	}
}

// sample asks every query n times, each time with another condition that is always true, so that
// none is a replay. NULL counts as −Inf.
func (s auditSide) sample(t *testing.T, n int) [][]float64 {
	i := startWith(t, "", seeded(t, fmt.Sprintf("audit %d %d ", s.persons, s.shrink), s.shrink))
	root := i.root()
	root.exec("CREATE DATABASE a", "CREATE TABLE a.rows (p INT, x INT, k INT)")
	rows := "(1, 1, 1)"
	for p := 2; p <= s.persons; p++ {
		rows += fmt.Sprintf(", (%d, %d, %d)", p, p, p%2)
	}
	root.exec("INSERT INTO a.rows VALUES "+rows, "CALL dp_protect('a.rows', 'p', 'p')",
		"CALL dp_set_domain('a.rows', 'k', '[0,1]')", "CALL dp_set_budget('a.rows', '*', 100000, 0.001, 'never')", "SET dp_rho = 0.05", "SET dp_group_by = 'vector'")
	out := make([][]float64, len(auditQueries))
	for k, q := range auditQueries {
		if q == chosenQuantile && s.shrink > 1 {
			q = strings.Replace(q, "0.7512", "0.7512, 'rho=500'", 1)
		}
		for r := range n {
			answer := root.value(strings.Replace(q, "a.rows", fmt.Sprintf("(SELECT * FROM a.rows WHERE p <> %d) t", -1-r), 1))
			v, err := strconv.ParseFloat(answer, 64)
			if err != nil {
				v = math.Inf(-1)
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}
