package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
)

// TestSimulationChoosesAtRandom: where there are more persons than slots, who is chosen follows no
// pattern of their identities, which are the places of rows where each row is a person: another row
// that was never there would have moved them.
func TestSimulationChoosesAtRandom(t *testing.T) {
	source := rand.NewPCG(5, 6)
	i := startWith(t, "", func() noise.Noiser { return noise.New(source) })
	var seen [][]float64
	i.simulator.Scanned = func(values [][]float64) { seen = values }
	const persons, slots, times = 40, 30, 400
	var rows []string
	for n := range persons {
		rows = append(rows, fmt.Sprintf("(%d)", n))
	}
	root := i.root()
	root.exec("CREATE DATABASE shop", "CREATE DATABASE survey", "CREATE TABLE shop.visits (minutes INT)", "INSERT INTO shop.visits VALUES "+strings.Join(rows, ","),
		"CALL dp_protect('shop.visits', 'row', 'visit')", "CALL dp_set_budget('shop.visits', '*', 1e6, 1e-4, 'never')")
	root.query(`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon": 8, "lo": 0, "hi": 100, "n_expected": 2000}')`)
	var together [persons][persons]int
	for range times {
		root.query(fmt.Sprintf("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.visits', %d, 1)", slots))
		if len(seen) != slots {
			t.Fatalf("%d values for %d slots", len(seen), slots)
		}
		for _, a := range seen {
			for _, b := range seen {
				together[int(a[0])][int(b[0])]++
			}
		}
	}
	// Of 780 pairs none is chosen together, or apart, 6 standard deviations more often than chance
	// has it.
	const pair, off = float64(slots*(slots-1)) / (persons * (persons - 1)), 0.15
	for a := range persons {
		for b := range a {
			if share := float64(together[a][b]) / times; share < pair-off || share > pair+off {
				t.Errorf("rows %d and %d are chosen together in %.2f of the simulations, want about %.2f", b, a, share, pair)
			}
		}
	}
}
