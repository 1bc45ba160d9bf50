package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/internal/stattest"
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
	"SELECT SUM(x) FROM a.rows",
	"SELECT AVG(x) FROM a.rows",
	"SELECT VAR_SAMP(x) FROM a.rows",
	"SELECT DP_MEAN(x) FROM a.rows",
	"SELECT DP_MEAN(x, 'lower=0, upper=500') FROM a.rows",
	"SELECT DP_VARIANCE(x) FROM a.rows",
	"SELECT DP_STDDEV(x) FROM a.rows",
	"SELECT DP_MEDIAN(x) FROM a.rows",
	"SELECT DP_QUANTILE(x, 0.75) FROM a.rows",
	"SELECT COUNT(*) FROM (SELECT p, SUM(x) AS s FROM a.rows GROUP BY p HAVING s > 300) d",
}

// lossBound is a lower bound on the zCDP loss between two samples, from the event "above cut": ρ-zCDP
// bounds the Kullback-Leibler divergence by ρ [BS16, Definition 1.1 as α → 1], which by the
// data-processing inequality is at least that of the event's two probabilities. The cut comes from the
// first halves; the probabilities, each moved towards the other by Hoeffding's √(ln(4/α)/2n), from the
// second: the bound is too large with probability at most stattest.Alpha.
func lossBound(x, y []float64) float64 {
	h := len(x) / 2
	best, cut := -1.0, 0.0
	for _, c := range x[:h] {
		if d := math.Abs(above(x[:h], c) - above(y[:h], c)); d > best {
			best, cut = d, c
		}
	}
	p, q := above(x[h:], cut), above(y[h:], cut)
	slack := math.Sqrt(math.Log(4/stattest.Alpha) / (2 * float64(len(x)-h)))
	if p > q {
		p, q = p-slack, q+slack
		if p <= q {
			return 0
		}
	} else {
		p, q = p+slack, q-slack
		if p >= q {
			return 0
		}
	}
	return math.Max(divergence(p, q), divergence(q, p))
}

func above(x []float64, c float64) float64 {
	n := 0
	for _, v := range x {
		if v >= c {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

// divergence is the Kullback-Leibler divergence of two coins.
func divergence(p, q float64) float64 {
	term := func(a, b float64) float64 {
		if a <= 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	q = min(max(q, 1e-12), 1-1e-12)
	return term(p, q) + term(1-p, 1-q)
}

// TestAuditOfEveryAggregate samples each aggregate through SQL on a database and on the neighbour
// without its most extreme person, and checks that no lower bound on the loss exceeds what was
// charged. The same audit with a hundredth of the noise's standard deviation must catch every one.
//
// False alarms: one bound a query at stattest.Alpha.
func TestAuditOfEveryAggregate(t *testing.T) {
	const runs, rho = 240, 0.05
	for _, shrink := range []int64{1, 10_000} {
		i := startWith(t, "", seeded(t, "audit", shrink))
		root := i.root()
		clients := []*client{i.root(), i.root(), i.root(), i.root()}
		root.exec("CREATE DATABASE a", "CREATE TABLE a.rows (p INT, x INT)")
		rows := "(401, 401)"
		for p := 1; p <= 400; p++ {
			rows += fmt.Sprintf(", (%d, %d)", p, p)
		}
		root.exec("INSERT INTO a.rows VALUES "+rows,
			"CALL dp_protect('a.rows', 'p', 'p')", "CALL dp_set_budget('a.rows', '*', 100000, 0.001, 'never')")
		for _, c := range clients {
			c.exec("SET dp_rho = 0.05")
		}
		var with [][]float64
		for _, q := range auditQueries {
			with = append(with, fresh(clients, q, runs))
		}
		root.exec("SET dp_raw = ON", "DELETE FROM a.rows WHERE p = 401", "SET dp_raw = OFF")
		for k, q := range auditQueries {
			bound := lossBound(with[k], fresh(clients, q, runs))
			switch {
			case shrink == 1 && bound > rho:
				t.Errorf("seed %d: %s: loss at least %.3f, charged %.3f", stattest.Seed(t), q, bound, rho)
			case shrink > 1 && bound <= rho:
				t.Errorf("seed %d: %s: a hundredth of the noise was not caught: loss at least %.3f, charged %.3f", stattest.Seed(t), q, bound, rho)
			}
		}
		i.end()
	}
}

// fresh samples a query n times on the database as it is, over several connections at once, each time
// with another condition that is always true, so that none is a replay. NULL counts as −Inf.
func fresh(clients []*client, q string, n int) []float64 {
	out := make([]float64, n)
	var wg sync.WaitGroup
	for k, c := range clients {
		wg.Go(func() {
			for i := k; i < n; i += len(clients) {
				rows, err := c.try(strings.Replace(q, "a.rows", fmt.Sprintf("(SELECT * FROM a.rows WHERE p <> %d) t", -1-i), 1))
				if err != nil {
					c.t.Errorf("%s: %v", q, err)
					return
				}
				f, err := strconv.ParseFloat(rows[0][0], 64)
				if err != nil {
					f = math.Inf(-1)
				}
				out[i] = f
			}
		})
	}
	wg.Wait()
	return out
}
