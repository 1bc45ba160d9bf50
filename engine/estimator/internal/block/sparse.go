package block

import (
	"runtime"
	"sync/atomic"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/fork"
)

// A sparse block is never turned into a dense one: with nnz entries in all, each pass takes O(nnz +
// n + d) time.
//
// NormsIn and ClipSumIn take a centre that is finer than the grid of the values: both are measured
// in steps of 1/unit, where an entry x counts as unit·x and the centre as it is. For unit = 1 they
// are Norms and ClipSum. unit·x and the centre are within ±2^61, so that their differences fit a
// word.

// run is a number of persons that one core works on at a time.
type run struct {
	chunk    *estimator.Chunk
	from, to int // persons of the chunk
	at       int // number of the first of them in the block
}

// runPersons is the length of a run: some ten thousand entries, so that cores share the work
// evenly.
const runPersons = 1024

// runs cuts a block into runs.
func runs(b *estimator.Block) []run {
	var out []run
	at := 0
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		for from := 0; from < ch.Persons; from += runPersons {
			out = append(out, run{ch, from, min(from+runPersons, ch.Persons), at + from})
		}
		at += ch.Persons
	}
	return out
}

// spread calls work once on each core; work asks next for the numbers 0 to n−1, each of which comes
// once.
func spread(n int, work func(next func() (int, bool))) {
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	var wait fork.Group
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() { work(next) })
	}
	wait.Wait()
}

// entries returns the coordinates of person i of a chunk, and the values: nil where all are 1.
func entries(ch *estimator.Chunk, i int) (index []int32, values []int64) {
	from, to := ch.Starts[i], ch.Starts[i+1]
	if ch.Values == nil {
		return ch.Index[from:to], nil
	}
	return ch.Index[from:to], ch.Values[from:to]
}
