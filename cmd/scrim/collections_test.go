package main

import (
	"database/sql"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"scrim/engine/contribute"
)

var (
	collectionsFull = flag.Bool("collections.full", false, "collections with 20,000 and 10,000 contributors, for minutes")
	collectionsSeed = flag.Uint64("collections.seed", 1, "seed of people's values, and of what breaks when; devices and tokens have no seed")
)

// A survey is a collection with the people whom it asks.
type survey struct {
	protocol    string
	declaration string  // without n_expected
	people      int     // who report
	absent      int     // who have a token and never report
	programs    int     // how many of the people use `scrim randomize`, in each round
	mean, sd    float64 // of the values, which are Gaussian
	rounds      int
	often       int // writes that a connection lives for, about
}

// commutes is the survey of the local model: in full, two rounds that find a mean in a wide range with an unknown spread.
func commutes() survey {
	if *collectionsFull {
		return survey{"LDP_UV2", `"epsilon": 1, "lo": 0, "hi": 600, "sigma_min": 2, "sigma_max": 120`, 20_000, 200, 100, 87.3, 14, 2, 200}
	}
	return survey{"LDP_BIT", `"epsilon": 1, "lo": 0, "hi": 120`, 300, 10, 4, 45, 20, 1, 40}
}

func (s survey) create(name string) string {
	return fmt.Sprintf(`CALL dp_create_collection('survey.%s', '%s', '{%s, "n_expected": %d}')`, name, s.protocol, s.declaration, s.people)
}

// values draws what people know of themselves.
func (s survey) values(r *rand.Rand) (values []float64, mean float64) {
	values = make([]float64, s.people)
	for i := range values {
		values[i] = s.mean + s.sd*r.NormFloat64()
		mean += values[i] / float64(s.people)
	}
	return values, mean
}

// TestLocalCollection runs a collection from its declaration to its estimate, with real processes: a server, which is killed
// while people report, and people who report through package contribute over connections that break, or by
// `scrim randomize`. Everybody who was told that a report arrived is counted once, and nobody else.
func TestLocalCollection(t *testing.T) { estimated(t, localCollection) }

// estimated runs a collection and holds its estimate against the truth. The noise of devices has no seed, so that a right
// estimate is beyond three of its standard errors in 0.27 % of all runs. The full run fails only if a second, independent
// collection is beyond as well: 7e-6 of all runs. The small one fails beyond five: 6e-7.
func estimated(t *testing.T, collection func(t *testing.T, seed uint64) (errors float64)) {
	start := time.Now()
	z := collection(t, *collectionsSeed)
	t.Logf("the estimate is %.2f standard errors from the truth, after %v", z, time.Since(start).Round(time.Millisecond))
	if *collectionsFull && math.Abs(z) > 3 && !t.Failed() {
		z = collection(t, *collectionsSeed+1)
		t.Logf("a second collection's estimate is %.2f standard errors from the truth", z)
		if !(math.Abs(z) <= 3) {
			t.Errorf("two estimates in turn are beyond three standard errors")
		}
	}
	if !(math.Abs(z) <= 5) {
		t.Errorf("the estimate is beyond five standard errors")
	}
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
