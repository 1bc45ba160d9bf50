package everyday

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// made describes a generated table.
type made struct {
	name    string
	persons int
	rows    rowsLaw
	value   valueLaw
	groups  int
	group   groupLaw
	public  bool // its groups have a public domain
	far     func(m float64) bool
	key     bool // the person is the primary key
}

// generated lists the generated tables. Each has a person, a group g from 1, a day of 2025 and a
// value x; rows of a person are in groups and on days of their own.
func generated() []*Table {
	var out []*Table
	for _, m := range []made{
		{"n50_one", 50, one(), normal(50, 10), 2, even(2), true, nil, false},
		{"n100_poisson", 100, poisson(3), coin(0.3), 4, even(4), true, nil, false},
		{"n200_poisson", 200, poisson(3), logNormal(0.5), 5, even(5), true, nil, false},
		{"n200_heavy", 200, one(), logNormal(2), 3, zipf(3), true, nil, false},
		{"n500_geometric", 500, geometric(5), logNormal(1), 12, zipf(12), true, nil, false},
		{"n600_one", 600, one(), logNormal(1), 20, even(20), true, nil, false},
		{"n600_key", 600, one(), logNormal(1), 20, even(20), true, nil, true},
		{"n2000_one", 2000, one(), logNormal(1), 100, even(100), true, nil, false},
		{"n1000_pareto", 1000, poisson(3), pareto(1.5), 20, zipf(20), false, nil, false},
		{"n1000_giant", 1000, giant(), normal(50, 10), 7, even(7), true, always, false},
		{"n1279_regulars", 1279, regulars(), logNormal(0.7), 6, zipf(6), true, nil, false},
		{"n2000_spike", 2000, spike(), coin(0.5), 10, even(10), true, thin, false},
		{"n5000_poisson", 5000, poisson(3), logNormal(1.5), 50, zipf(50), true, nil, false},
		{"n5000_one", 5000, one(), constant(7), 300, zipf(300), true, nil, false},
		{"n10000_holes", 10_000, geometric(3), holes(0.2, normal(50, 10)), 30, even(30), true, nil, false},
		{"n20000_many", 20_000, poisson(3), pareto(1.5), 3000, zipf(3000), true, nil, false},
		{"n20000_spike", 20_000, spike(), logNormal(1), 8, zipf(8), false, thin, false},
		{"n50000_heavy", 50_000, one(), logNormal(2), 16, even(16), true, nil, false},
		{"n100000_poisson", 100_000, poisson(3), logNormal(1), 100, even(100), true, nil, false},
	} {
		out = append(out, m.table())
	}
	return out
}

func (m made) table() *Table {
	t := &Table{Name: m.name, Columns: "person BIGINT NOT NULL, g INT NOT NULL, day DATE NOT NULL, x DOUBLE", Unit: "person", Far: m.far, rows: m.write}
	if m.key {
		t.Columns = strings.Replace(t.Columns, "NOT NULL", "PRIMARY KEY", 1)
	}
	if m.public {
		t.Domains = append(t.Domains, [2]string{"g", numbers(1, m.groups)})
	}
	t.Domains = append(t.Domains, [2]string{"day", days()})
	return t
}

// write draws the rows from a seed that is the table's name.
func (m made) write(_ string, add func(...string) error) error {
	r := seeded(m.name)
	for person, k := range m.rows(r, m.persons) {
		for range k {
			g, day, text := m.group(r)+1, r.IntN(365), ""
			if x, ok := m.value(r); ok {
				text = strconv.FormatFloat(x, 'f', 3, 64)
			}
			if err := add(strconv.Itoa(person+1), strconv.Itoa(g), dayOf(day), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// seeded returns a generator whose draws depend on the name alone.
func seeded(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

var newYear = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// dayOf is a day of 2025, from 0.
func dayOf(i int) string { return newYear.AddDate(0, 0, i).Format(time.DateOnly) }

// days is the domain of the days of 2025.
func days() string {
	var list []string
	for i := range 365 {
		list = append(list, dayOf(i))
	}
	return domain(list)
}

// numbers is the domain of the whole numbers from lo to hi.
func numbers(lo, hi int) string {
	var list []int
	for i := lo; i <= hi; i++ {
		list = append(list, i)
	}
	return domain(list)
}

// domain writes a list of keys as dp_set_domain takes it.
func domain(list any) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("everyday: a domain of %T", list))
	}
	return string(b)
}
