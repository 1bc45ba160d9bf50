package vector

import (
	"math/big"
	"runtime"
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
)

// sum returns the exact sums of the clipped vectors y − (0, H) (block.ClipSum). The block of all y
// would be twice as large as the data: they are made piece by piece, once for the norms and once
// for the sums.
func (q squares) sum(b *estimator.Block, norms []float64, radius float64) []*big.Int {
	total := make([]*big.Int, len(q.centre))
	for j := range total {
		total[j] = new(big.Int)
	}
	var mu sync.Mutex
	eachPiece(b, func(piece estimator.Chunk, at int) {
		part := block.ClipSum(q.of(piece), q.centre, norms[at:at+piece.Persons], radius)
		mu.Lock()
		defer mu.Unlock()
		for j, s := range part {
			total[j].Add(total[j], s)
		}
	})
	return total
}

// pieceEntries is about how many entries a piece has: 2 MiB of them.
const pieceEntries = 1 << 18

// eachPiece calls work for runs of persons of a dense block, with the number of the first, on all
// cores.
func eachPiece(b *estimator.Block, work func(piece estimator.Chunk, at int)) {
	type run struct {
		piece estimator.Chunk
		at    int
	}
	next := make(chan run)
	var all fork.Group
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for r := range next {
				work(r.piece, r.at)
			}
		})
	}
	size, at := max(1, pieceEntries/b.Dim), 0
	for i := range b.Chunks {
		ch := &b.Chunks[i]
		for from := 0; from < ch.Persons; from += size {
			to := min(from+size, ch.Persons)
			next <- run{estimator.Chunk{Persons: to - from, Dense: ch.Dense[from*b.Dim : to*b.Dim]}, at + from}
		}
		at += ch.Persons
	}
	close(next)
	all.Wait()
}
