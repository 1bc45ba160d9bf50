package local

import (
	"runtime"
	"sync"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// leastShare is how many bytes a goroutine is worth.
const leastShare = 1 << 16

// AddAll adds reports of one cell whose payloads, all of one length, follow each other. It works on
// all cores. On an error nothing is added.
func (t *Tally) AddAll(cell uint32, payloads []byte) error {
	i, ok := t.places[cell]
	if !ok {
		return refuse.New(refuse.MalformedReport, "The round has no cell %d.", cell)
	}
	c := t.parts[i].Cell
	size := c.PayloadSize()
	if len(payloads)%size != 0 {
		return malformed(c)
	}
	reports := uint64(len(payloads) / size)
	if err := t.room(reports); err != nil {
		return err
	}
	sums, err := addShares(t.params, c, payloads, size)
	if err != nil {
		return err
	}
	for _, s := range sums {
		t.parts[i].sum.merge(s)
	}
	t.parts[i].reports += reports
	t.total += reports
	return nil
}

// addShares adds payloads to new accumulators, one a core.
func addShares(p *collect.Params, c collect.Cell, payloads []byte, size int) ([]accumulator, error) {
	n := max(1, min(runtime.GOMAXPROCS(0), len(payloads)/leastShare))
	share := (len(payloads)/size + n - 1) / n * size
	sums, errs := make([]accumulator, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		mine := payloads[min(i*share, len(payloads)):min((i+1)*share, len(payloads))]
		all.Go(func() {
			sums[i] = newAccumulator(p, c)
			for ; len(mine) > 0 && errs[i] == nil; mine = mine[size:] {
				errs[i] = sums[i].add(mine[:size], 1)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}
