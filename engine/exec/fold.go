package exec

import (
	"math"
	"math/bits"

	"scrim/engine/estimator"
)

// foldRecords is how many records of a shard are taken in before those of a (group, unit) are added
// up, so that units with very many rows take the room of their groups in the end: rows of a hundred
// million of 512 shards are not added up before their time.
const foldRecords = 1 << 18

// fold adds up the records of each (group, unit) of a shard, exactly: nothing is clamped before all
// are there. A sum of more than 64 bits stays several records, never more than it was made of.
func (g *dealer) fold(s *shard) error {
	if g.folding == nil {
		g.folding = g.scratch()
	}
	w, b := g.folding, &gathering{grouped: g.grouped, groups: math.MaxInt}
	if err := b.read(w, []shard{*s}); err != nil {
		return err
	}
	if err := b.persons(w); err != nil {
		return err
	}
	old := s.runs()
	*s = shard{}
	for p, unit := range w.units {
		for order := w.order[w.starts[p]:w.starts[p+1]]; len(order) > 0; {
			same := w.sameGroup(order)
			w.add(order[:same])
			for more := true; more; {
				r, err := g.record(s)
				if err != nil {
					return err
				}
				r = estimator.AppendNumber(estimator.AppendNumber(r, unit), int64(w.groups[order[0]]))
				s.run, more = w.take(r)
			}
			order = order[same:]
		}
	}
	for _, run := range old {
		free(g.held, run)
	}
	s.foldAt = max(g.foldAt, 2*s.records)
	return nil
}

// take appends what fits into 64 bits of each of the sums, and tells whether anything is left of
// them.
func (w *scratch) take(r []byte) ([]byte, bool) {
	more := false
	for c := range w.low {
		x := narrowed(w.high[c], w.low[c])
		var borrow uint64
		w.low[c], borrow = bits.Sub64(w.low[c], uint64(x), 0)
		w.high[c] -= x>>63 + int64(borrow)
		more = more || w.low[c] != 0 || w.high[c] != 0
		r = estimator.AppendNumber(r, x)
	}
	return r, more
}
