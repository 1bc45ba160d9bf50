package main

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
)

var (
	collectionsFull = flag.Bool("collections.full", false, "collections with 20,000 and 10,000 contributors, for minutes")
	collectionsSeed = flag.Uint64("collections.seed", 1, "seed of people's values, and of what breaks when; devices and tokens have no seed")
)

// A survey is a collection with the people whom it asks.
type survey struct {
	protocol    string
	declaration string  // without n_expected, lo and hi
	people      int     // who report
	absent      int     // who have a token and never report
	programs    int     // how many of the people use `scrim randomize`, in each round
	lo, hi      float64 // values are within
	mean, sd    float64 // of the values, which are Gaussian apart from that
	rounds      int
	often       int // writes that a connection lives for, about
}

// commutes is the survey of the local model: in full, two rounds that find a mean in a wide range
// with an unknown spread.
func commutes() survey {
	if *collectionsFull {
		return survey{protocol: "LDP_UV2", declaration: `"epsilon": 1, "sigma_min": 2, "sigma_max": 120`, lo: 0, hi: 600, mean: 87.3, sd: 14,
			people: 20_000, absent: 200, programs: 100, rounds: 2, often: 200}
	}
	return survey{protocol: "LDP_BIT", declaration: `"epsilon": 1`, lo: 0, hi: 120, mean: 45, sd: 20,
		people: 300, absent: 10, programs: 4, rounds: 1, often: 40}
}

func (s survey) create(name string) string {
	return fmt.Sprintf(`CALL dp_create_collection('survey.%s', '%s', '{%s, "lo": %v, "hi": %v, "n_expected": %d}')`,
		name, s.protocol, s.declaration, s.lo, s.hi, s.people)
}

// values draws what people know of themselves.
func (s survey) values(r *rand.Rand) (values []float64, mean float64) {
	values = make([]float64, s.people)
	for i := range values {
		values[i] = min(max(s.mean+s.sd*r.NormFloat64(), s.lo), s.hi)
		mean += values[i] / float64(s.people)
	}
	return values, mean
}

// TestLocalCollection runs a collection from its declaration to its estimate, with real processes:
// a server, which is killed while people report, and people who report through package contribute
// over connections that break, or by `scrim randomize`. Everybody who was told that a report
// arrived is counted once, and nobody else.
func TestLocalCollection(t *testing.T) { estimated(t, farForGauss, localCollection) }

// Estimates are held against the truth in their standard errors. The noise of devices has no seed,
// so right estimates are far off now and then: beyond three standard errors a Gaussian one in 0.27
// % of all runs, and one with Laplace noise, as SHUF_SUM's, in exp(-3·√2) = 1.4 %. The full run
// fails if three independent collections in turn are beyond three: in 2e-8 and 3e-6 of all runs.
// The small one fails beyond as many as make it fail in fewer than one of a million.
const (
	farForGauss   = 5  // 6e-7
	farForLaplace = 10 // exp(-10·√2) = 7e-7
)

// estimated runs a collection, which returns how many standard errors its estimate is from the
// truth, and judges that.
func estimated(t *testing.T, far float64, collection func(t *testing.T, seed uint64) float64) {
	t.Helper()
	trials := 1
	if *collectionsFull {
		far, trials = 3, 3
	}
	for i := range trials {
		start := time.Now()
		z := collection(t, *collectionsSeed+uint64(i))
		t.Logf("the estimate is %.2f standard errors from the truth, after %v", z, time.Since(start).Round(time.Millisecond))
		if t.Failed() || z <= far {
			return
		}
	}
	t.Errorf("the estimate is beyond %v standard errors, %d times in turn", far, trials)
}

func localCollection(t *testing.T, seed uint64) float64 {
	s, r := commutes(), rand.New(rand.NewPCG(seed, 1))
	host := newHost(t)
	root := host.root()
	root.must(t, "CREATE DATABASE survey", "CREATE USER contributor IDENTIFIED BY 'no secret'", "GRANT INSERT ON dp_in.* TO contributor", s.create("commute"))
	tokens := tokensOf(t, root.must(t, fmt.Sprintf("CALL dp_issue_tokens('commute', %d)", s.people+s.absent)))
	root.must(t, "CALL dp_open_collection('commute')")
	absent, tokens := tokens[s.people:], tokens[:s.people]
	values, truth := s.values(r)
	for round := 1; round <= s.rounds; round++ {
		c := &crowd{collection: "commute"}
		for i, token := range tokens {
			if token.Round == round {
				c.people = append(c.people, &person{token: token, value: values[i]})
			}
		}
		localRound(t, host, s, c, absent, round, r)
		if t.Failed() {
			return 0
		}
		host.root().must(t, "CALL dp_next_round('commute')")
	}
	return host.deviation(t, "SELECT LDP_MEAN(report), LDP_STDERR(report) FROM survey.commute", truth)
}

// localRound has the people of a round report, and checks what is there then.
func localRound(t *testing.T, host *host, s survey, c *crowd, absent []contribute.Token, round int, r *rand.Rand) {
	t.Helper()
	start := time.Now()
	b := &breaks{rand: rand.New(rand.NewPCG(r.Uint64(), 1)), often: s.often}
	c.server = [2]*sql.DB{b.pool(t, host.addr, "contributor", "no secret", false), b.pool(t, host.addr, "contributor", "no secret", true)}
	all := len(c.people)
	users := c.people[:s.programs]
	c.people = c.people[s.programs:]
	programs := host.randomize(t, "commute", users)
	c.contribute(t, map[float64]func(){0.1 + 0.8*r.Float64(): host.again})
	programs.Wait()
	t.Logf("round %d: %d people, %d of them by scrim randomize; %d connections broke, %d calls more than one a person; %v",
		round, all, s.programs, b.count.Load(), c.tries.Load(), time.Since(start).Round(time.Millisecond))
	if *collectionsFull && b.count.Load() < 10 {
		t.Error("too few connections broke to say anything")
	}
	host.wantReports(t, round, all)
	direct := (*breaks)(nil).pool(t, host.addr, "contributor", "no secret", false)
	params := host.params(t, direct, "commute", round)
	for _, p := range c.others(r, 50) {
		p.again(t, direct, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)")
		p.cheat(t, direct, params)
	}
	host.refuses(t, direct, params, absent, round)
	host.wantReports(t, round, all)
}
