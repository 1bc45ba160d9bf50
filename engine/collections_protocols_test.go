package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/test/testenv"
)

// finish takes a collection through its rounds.
func (i *instance) finish(root *client, name string, perRound []int, value func(n int, stratum string) collect.Value) {
	i.t.Helper()
	for round, n := range perRound {
		i.gather(root, name, n, value)
		if round < len(perRound)-1 {
			root.query("CALL dp_next_round('" + name + "')")
		}
	}
}

// TestEveryQuestion asks the functions that only some protocols answer.
func TestEveryQuestion(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "USE survey")
	root.collection("survey.age", "LDP_HIER", `{"epsilon": 4, "lo": 0, "hi": 64, "levels": 3, "n_expected": 6000}`)
	root.collection("survey.place", "LDP_SCM3", `{"epsilon": 4, "dimension": 2, "centre_norm": 8, "sigma_min": 0.5, "sigma_max": 2, "n_expected": 30000}`)
	i.finish(root, "age", []int{6000}, func(n int, _ string) collect.Value { return collect.Value{float64(n % 32)} })
	var groups []int
	c, _ := i.collections.Lookup("place")
	design, err := collect.Plan("survey.place", c.UUID, c.Protocol, c.Declaration)
	if err != nil {
		t.Fatal(err)
	}
	for r := range design.Rounds() {
		groups = append(groups, int(design.Derived.Groups[r]))
	}
	i.finish(root, "place", groups, func(n int, _ string) collect.Value {
		return collect.Value{2 + float64(n%3-1)/2, -1 + float64(n%5-2)/4}
	})
	ranges := root.query("SELECT LDP_RANGE(report, 0, 16), LDP_RANGE(report, ?, 64), LDP_QUANTILE(report, 0.5), LDP_MEAN(report), LDP_STDERR(report) FROM age", 32)[0]
	for k, want := range []float64{0.5, 0, 16, 16} {
		tolerance := []float64{0.1, 0.1, 4, 3}[k]
		if got := numeral(t, ranges[k]); math.Abs(got-want) > tolerance {
			t.Errorf("age, column %d: %v, want about %v", k+1, got, want)
		}
	}
	root.refused(1644, "", "SELECT LDP_QUANTILE(report, 1.5) FROM age")
	root.refused(1644, "", "SELECT LDP_SD(report) FROM age")
	// A Gaussian of mean 60 and deviation 5, by its quantiles. One collection in fifty does not
	// look Gaussian (two tests at 1 %) and has no standard error; five in a row are 3e-9.
	var wide []string
	for n := 0; n < 5 && (wide == nil || wide[1] == "NULL"); n++ {
		name := fmt.Sprint("wide", n)
		root.collection("survey."+name, "LDP_UV1", `{"epsilon": 4, "lo": 0, "hi": 100, "sigma_min": 2, "sigma_max": 10, "n_expected": 8000}`)
		i.finish(root, name, []int{8000}, func(n int, _ string) collect.Value {
			u := (float64(n*4999%8000) + 0.5) / 8000
			return collect.Value{60 + 5*math.Sqrt2*math.Erfinv(2*u-1)}
		})
		wide = root.query("SELECT LDP_MEAN(report), LDP_STDERR(report), LDP_SD(report), LDP_INFO(report) FROM " + name)[0]
		if poor := strings.Contains(wide[3], "do not look Gaussian"); poor != (wide[1] == "NULL") {
			t.Errorf("a standard error of %s beside %s", wide[1], wide[3])
		}
	}
	within(t, "the mean", numeral(t, wide[0]), 60, numeral(t, wide[1]))
	if sd := numeral(t, wide[2]); sd < 2.5 || sd > 10 {
		t.Errorf("the standard deviation is %v", sd)
	}
	place := root.query("SELECT LDP_VECTOR_MEAN(report), LDP_STDERR(report), LDP_INFO(report) FROM place")[0]
	var mean []float64
	if err := json.Unmarshal([]byte(place[0]), &mean); err != nil || len(mean) != 2 {
		t.Fatalf("vector mean %v", place)
	}
	within(t, "the vector", math.Hypot(mean[0]-2, mean[1]+1), 0, numeral(t, place[1]))
	if !strings.Contains(place[2], "clip_target") {
		t.Errorf("info %s", place[2])
	}
}

// TestShuffledFunctions asks a collection of the shuffle model.
func TestShuffledFunctions(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "USE survey")
	root.collection("survey.income", "SHUF_SUM", `{"epsilon": 1, "delta": 1e-6, "lo": 0, "hi": 100, "n_expected": 100, "trust": "same_operator"}`)
	root.refused(1644, "45D20", "SELECT SHUFFLE_SUM(msg) FROM income")
	i.load("income", func(n int) collect.Value { return collect.Value{float64(n)} })
	rows := root.query("SELECT SHUFFLE_SUM(msg), SHUFFLE_MEAN(msg), SHUFFLE_STDERR(msg), SHUFFLE_LOW(msg, 0.9), SHUFFLE_HIGH(msg, 0.9), SHUFFLE_COUNT(msg), SHUFFLE_INFO(msg) FROM income")[0]
	sum, mean, se := numeral(t, rows[0]), numeral(t, rows[1]), numeral(t, rows[2])
	n := numeral(t, rows[5])
	within(t, "the mean", mean, (n-1)/2, se)
	if math.Abs(sum-n*mean) > 1e-6*sum || numeral(t, rows[3]) > mean || numeral(t, rows[4]) < mean || !strings.Contains(rows[6], "SHUF_SUM") {
		t.Errorf("shuffled: %v", rows)
	}
	if e := root.refused(1644, "45005", "SELECT LDP_MEAN(msg) FROM income"); !strings.Contains(e.Message, "SHUFFLE_MEAN(msg)") {
		t.Errorf("the wrong model: %v", e)
	}
	root.refused(1644, "", "SELECT SHUFFLE_RANGE(msg, 0, 1) FROM income")
	root.refused(1644, "45D12", "SELECT SHUFFLE_SUM(msg) FROM income WHERE batch_id = 1")
}

// TestEstimatesBesidePrivateAnswers: both in one statement, each by its own rules.
func TestEstimatesBesidePrivateAnswers(t *testing.T) {
	i, root := simulated(t)
	root.exec("CALL dp_open_collection('commute')")
	i.gather(root, "commute", 500, func(int, string) collect.Value { return collect.Value{50} })
	want := root.value("SELECT LDP_MEAN(report) FROM survey.commute")
	before, _, _, _, _ := root.charges("shop.people")
	for _, q := range []string{
		"SELECT e.m, a.n FROM (SELECT LDP_MEAN(report) m FROM survey.commute) e JOIN (SELECT COUNT(*) n FROM shop.people) a",
		"SELECT (SELECT LDP_MEAN(report) FROM survey.commute), n FROM (SELECT COUNT(*) n FROM shop.people) a",
		"SELECT LDP_MEAN(report), 1 FROM survey.commute UNION ALL SELECT COUNT(*) * 0, 2 FROM shop.people",
	} {
		rows, err := root.try(q)
		if err != nil {
			if e := root.refused(1644, "", q); e.Message == "" {
				t.Errorf("%s: %v", q, err)
			}
			t.Logf("%s: %v", q, err)
			continue
		}
		if rows[0][0] != want {
			t.Errorf("%s: %v, want %s", q, rows, want)
		}
		if after, _, _, _, _ := root.charges("shop.people"); after == before {
			t.Errorf("%s: nothing is charged for the private answer", q)
		}
	}
	// Rows of persons do not reach an estimate, nor an estimate their rows, without an aggregate of
	// their own.
	for _, q := range []string{
		"SELECT p.minutes FROM shop.people p JOIN (SELECT LDP_MEAN(report) m FROM survey.commute) e ON p.minutes > e.m",
		"SELECT minutes - (SELECT LDP_MEAN(report) FROM survey.commute) FROM shop.people",
	} {
		root.refused(1644, "", q)
	}
}

// TestSimulationLimits: pure accounts, caps of a statement, KILL and the time limit.
func TestSimulationLimits(t *testing.T) {
	i, root := simulated(t)
	root.exec("CREATE TABLE shop.pure (person INT PRIMARY KEY, minutes INT)", "INSERT INTO shop.pure SELECT id, minutes FROM shop.sample", "CALL dp_protect('shop.pure', 'row', 'guest')",
		"CALL dp_set_budget('shop.pure', '*', 100, 0, 'never')", "CREATE TABLE shop.capped (person INT PRIMARY KEY, minutes INT)", "CALL dp_protect('shop.capped', 'person', 'visitor')",
		"CALL dp_set_budget('shop.capped', '*', 100, 1e-6, 'never')", `CALL dp_set_defaults('shop.capped', '{"max_epsilon": 3}')`, "CALL dp_set_neighbours('shop.capped', 'replace-one')")
	root.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.pure', 500, 2)")
	if _, _, pure, _, _ := root.charges("shop.pure"); math.Abs(pure-4) > 1e-9 {
		t.Errorf("the pure account was charged %v, want 4", pure)
	}
	root.refused(1644, "45D50", "CALL dp_simulate_collection('income', 'SELECT minutes FROM shop.pure', 400, 1)")
	// epsilon 2 of an empty table
	root.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.capped', 500, 1)")
	root.refused(1644, "", "CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.capped', 500, 2)")
	if n, _, pure, _, _ := root.charges("shop.capped"); n != 1 || math.Abs(pure-2) > 1e-9 {
		t.Errorf("the capped table has %d charges of %v", n, pure)
	}

	long := "CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 200000, 400)"
	id := root.value("SELECT CONNECTION_ID()")
	killer := i.root()
	ended := make(chan error, 1)
	go func() {
		_, err := root.try(long)
		ended <- err
	}()
	testenv.Until(t, time.Minute, "the simulation in the process list, and its charge", func() bool {
		return strings.Contains(fmt.Sprint(killer.query("SHOW PROCESSLIST")), "simulated runs of survey.commute") &&
			killer.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND table_name = 'shop.people'") != "0"
	})
	killer.exec("KILL QUERY " + id)
	select {
	case err := <-ended:
		if err == nil || strings.Contains(err.Error(), "1105") {
			t.Errorf("a killed simulation: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a killed simulation goes on")
	}
	if n, _, pure, _, outcome := killer.charges("shop.people"); n != 1 || outcome != "cancelled" || math.Abs(pure-800) > 1e-6 {
		t.Errorf("a killed simulation: %d charges of %v, %s", n, pure, outcome)
	}
	limited := i.root()
	limited.exec("SET max_execution_time = 300")
	began := time.Now()
	if _, err := limited.try("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.sample', 200000, 400)"); err == nil || time.Since(began) > time.Minute {
		t.Errorf("max_execution_time: %v after %v", err, time.Since(began))
	}
	if _, err := limited.conn.ExecContext(context.Background(), "SELECT 1"); err != nil {
		t.Error(fmt.Errorf("the connection after a time out: %w", err))
	}
}
