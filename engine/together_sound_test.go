package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// togetherSchema is a table whose persons are in many groups, with one linked to it; g and kind are
// public keys, h is selected. The relation is replace-one where public is set.
func togetherSchema(schema string, public bool) []string {
	s := strings.NewReplacer("T.", schema+".", "ENTITY", "p"+schema)
	relation := "SET dp_raw = OFF"
	if public {
		relation = "CALL dp_set_neighbours('T.people', 'replace-one')"
	}
	var out []string
	for _, q := range []string{
		"CREATE DATABASE " + schema,
		"CREATE TABLE T.people (person INT PRIMARY KEY)",
		"CREATE TABLE T.visits (id INT PRIMARY KEY, person INT, g INT, h INT, n INT, m DECIMAL(10,2), x DOUBLE)",
		"CREATE TABLE T.items (visit INT, kind VARCHAR(4), price INT)",
		"CALL dp_protect('T.people', 'person', 'ENTITY')", relation,
		"CALL dp_protect('T.visits', 'person', 'ENTITY')",
		"CALL dp_link('T.items', 'visit', 'T.visits', 'id')",
		"CALL dp_set_domain('T.visits', 'g', '{\"min\":0,\"max\":5}')",
		"CALL dp_set_domain('T.items', 'kind', '[\"a\",\"b\",\"c\",null]')",
		"CALL dp_set_budget('T.people', '*', 1000000, 0.001, 'never')",
		"CALL dp_set_budget('T.visits', '*', 1000000, 0.001, 'never')",
		"CALL dp_set_budget('T.items', '*', 1000000, 0.001, 'never')",
	} {
		out = append(out, s.Replace(q))
	}
	return out
}

const togetherPersons = 200

// guest inserts the rows of person p. The first has many rows in all groups, with numbers as large
// as they get on one side; with other, the person in p's place has them on the other side.
func guest(p int, other bool) (visits, items []string) {
	rows := 1 + p%4
	// The second has many rows with large numbers, as far as a clip leaves something of them.
	sign, large := 1, p == 1
	extreme := p == 0 || other && !large
	if extreme || large {
		rows = 60
	}
	if other {
		sign = -1
	}
	for j := range rows {
		id := p*100 + j
		n, m, x := p%7+j, fmt.Sprint(10+p%5, ".25"), fmt.Sprint(float64(p%9)+0.5)
		if large {
			n, m, x = sign*100000, fmt.Sprint(sign*5000, ".25"), fmt.Sprint(sign*1000000)
		} else if extreme {
			n, m, x = sign*2000000000, fmt.Sprint(sign*99999999, ".99"), fmt.Sprint(sign, "e300")
		} else if j == 1 {
			m, x = "NULL", "NULL"
		}
		visits = append(visits, fmt.Sprintf("(%d, %d, %d, %d, %d, %s, %s)", id, p, (p+j)%7, j%2, n, m, x))
		for k := range 1 + j%3 {
			items = append(items, fmt.Sprintf("(%d, '%c', %d)", id, 'a'+rune((p+k)%4), n/(k+1)))
		}
	}
	return visits, items
}

// put replaces the rows of person p.
func put(c *client, schema string, p int, visits, items []string) {
	c.exec(fmt.Sprintf("DELETE FROM %s.items WHERE visit >= %d AND visit < %d", schema, p*100, p*100+100), fmt.Sprintf("DELETE FROM %s.visits WHERE person = %d", schema, p))
	if len(visits) > 0 {
		c.exec("INSERT INTO "+schema+".visits VALUES "+strings.Join(visits, ", "), "INSERT INTO "+schema+".items VALUES "+strings.Join(items, ", "))
	}
}

// jointQueries cover each measure alone and with others, in public groups and in selected ones,
// beside aggregates that stay apart.
var jointQueries = []string{
	"SELECT g, COUNT(*) FROM T.visits GROUP BY g",
	"SELECT g, COUNT(DISTINCT person), COUNT(x) FROM T.visits GROUP BY g",
	"SELECT g, SUM(n) FROM T.visits GROUP BY g",
	"SELECT g, SUM(m), DP_SUM(n, 'lower=0, upper=50') FROM T.visits GROUP BY g",
	"SELECT g, AVG(x) FROM T.visits GROUP BY g",
	"SELECT g, DP_MEAN(n, 'lower=-10, upper=10, weight=row') FROM T.visits GROUP BY g",
	"SELECT g, DP_MEAN(m), DP_MEAN(n, 'lower=-10, upper=10'), COUNT(*) FROM T.visits GROUP BY g",
	"SELECT g, COUNT(*), SUM(n), AVG(m) FROM T.visits WHERE id % 5 > 0 GROUP BY g",
	"SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ g, COUNT(*), VAR_POP(n), DP_MEDIAN(n) FROM T.visits GROUP BY g",
	"SELECT kind, COUNT(*), SUM(price) FROM T.items GROUP BY kind",
	"SELECT h, COUNT(*), SUM(n) FROM T.visits GROUP BY h",
	"SELECT h, g, COUNT(*), DP_COUNT(n, 'rho=2') FROM T.visits WHERE g < 2 GROUP BY h, g",
	"SELECT g, COUNT(DISTINCT CASE WHEN n > 3 THEN person END), COUNT(DISTINCT IF(m > 12, person, NULL)) FROM T.visits WHERE g IN (1, 2, 3) GROUP BY g",
	"SELECT g, SUM(CASE WHEN n > 3 THEN 1 ELSE 0 END) FROM T.visits WHERE g IN (SELECT g FROM (SELECT g, SUM(n) AS s FROM T.visits GROUP BY g ORDER BY s DESC LIMIT 3) t) GROUP BY g",
}

// jointLosses runs the queries on a database and on its neighbours, whose person p has the rows
// that neighbour tells, with the same answers forced after every noisy step, and returns the
// largest share of its charge that each query loses.
func jointLosses(t *testing.T, schema string, public bool, persons []int, neighbour func(p int) (visits, items []string)) map[string]float64 {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec(togetherSchema(schema, public)...)
	root.exec("SET dp_raw = ON")
	var people, allVisits, allItems []string
	for p := range togetherPersons {
		visits, items := guest(p, false)
		people, allVisits, allItems = append(people, fmt.Sprintf("(%d)", p)), append(allVisits, visits...), append(allItems, items...)
	}
	root.insert(schema+".people", people)
	root.insert(schema+".visits", allVisits)
	root.insert(schema+".items", allItems)
	ann := i.analyst(root, "ann", schema)
	ann.exec("SET dp_rho = 10", "SET dp_group_by = 'vector'")
	runs, charged, most := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}, map[string]float64{}
	for _, q := range jointQueries {
		text := strings.ReplaceAll(q, "T.", schema+".")
		if plan := fmt.Sprint(ann.query("EXPLAIN " + text)); !strings.Contains(plan, "groups as one vector") {
			t.Errorf("%s: got the plan %s", q, plan)
		}
		source.again(false)
		for _, row := range ann.query(text) {
			if strings.Contains(fmt.Sprint(row[2:]), "NULL") {
				t.Errorf("%s has no answer, and checks little: %v", q, row)
			}
		}
		runs[q] = source.again(false)
		charged[q] = lastCharge(t, root)
		if rho, _ := charged[q].Float64(); rho <= 0 || rho > 10 {
			t.Errorf("%s was charged %g, of at most 10", q, rho)
		}
	}
	for _, p := range persons {
		visits, items := neighbour(p)
		put(root, schema, p, visits, items)
		for _, q := range jointQueries {
			source.mu.Lock()
			source.list, source.replay = nil, runs[q]
			source.mu.Unlock()
			ann.query(strings.ReplaceAll(q, "T.", schema+"."))
			got := source.again(false)
			if len(got) != len(runs[q]) {
				t.Errorf("%s with another person %d: %d noise sources, want %d", q, p, len(got), len(runs[q]))
				continue
			}
			share, _ := new(big.Rat).Quo(lossOf(t, runs[q], got), charged[q]).Float64()
			most[q] = max(most[q], share)
		}
		visits, items = guest(p, false)
		put(root, schema, p, visits, items)
	}
	return most
}

// TestGroupsTogetherMoveByAtMostTheirLoss is TestReleasesMoveByAtMostTheirLoss, and its twin for
// exchanges, for groups that are answered together: each person leaves, or is exchanged for one as
// far away as numbers get. The losses of some queries are beyond half of their charge, so that a
// plan that charged half would be caught; and an exchange under add-remove is beyond the whole.
func TestGroupsTogetherMoveByAtMostTheirLoss(t *testing.T) {
	nobody := func(int) (visits, items []string) { return nil, nil }
	other := func(p int) (visits, items []string) { return guest(p, true) }
	for _, c := range []struct {
		name      string
		public    bool
		neighbour func(int) (visits, items []string)
		persons   []int
		sound     bool
	}{
		{"removal", false, nobody, []int{0, 1, 50, 199}, true},
		{"exchange", true, other, []int{0, 1, 50}, true},
		{"exchange under add-remove", false, other, []int{0, 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			large, beyond := 0, 0
			for q, share := range jointLosses(t, "t", c.public, c.persons, c.neighbour) {
				t.Logf("%.3f of the charge: %s", share, q)
				if share > 0.5 {
					large++
				}
				if share > 1 {
					if beyond++; c.sound {
						t.Errorf("%s: loses %.3f of the charge", q, share)
					}
				}
				if share == 0 && c.sound {
					t.Errorf("%s: loses nothing, and checks nothing", q)
				}
			}
			if large == 0 {
				t.Error("no query loses more than half of its charge: a plan that charged half would not be caught")
			}
			if !c.sound && beyond < 2 {
				t.Errorf("an exchange exceeds the charge of %d queries: the test can hardly fail", beyond)
			}
		})
	}
}
