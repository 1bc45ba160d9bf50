package collect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Design is a planned collection: what was declared, completed, and all that follows from it.
type Design struct {
	Collection  string
	UUID        string
	Protocol    Protocol
	Declaration Declaration // complete: defaults are filled in
	Derived     Derived

	rounds []roundPlan
	claim  claim
}

// roundPlan is what follows from the declaration for one round.
type roundPlan struct {
	cells []Cell
	min   uint64 // reports of all cells together
	batch *Batch
}

// tooFew says that a declaration is right but for the number of contributors.
type tooFew struct {
	need string // what for
}

func (e *tooFew) Error() string { return e.need }

func few(format string, args ...any) error { return &tooFew{fmt.Sprintf(format, args...)} }

// Plan checks a declaration, fills in its defaults and derives the sizes of every round. uuid is
// the collection's own, in lower case. Refusals say what is wrong and what would do; where only the
// number of contributors is too small, the least that would do is named.
func Plan(name, uuid string, p Protocol, d Declaration) (*Design, error) {
	g, err := plan(name, uuid, p, d)
	if err == nil {
		err = g.prove(math.MaxUint64)
	}
	if err == nil {
		return g, nil
	}
	var short *tooFew
	if !errors.As(err, &short) {
		return nil, err
	}
	refusal := bad("%d contributors are too few for %s: %s.", d.Expected, p, short.need)
	if least, ok := leastExpected(p, d); ok {
		return nil, refusal.With("Declare n_expected of %d or more, or a larger epsilon.", least)
	}
	return nil, refusal.With("Declare fewer buckets or coordinates, a narrower range, or a larger epsilon.")
}

// plan is Plan with *tooFew as it is. A device that verifies parameters has no use for the search.
func plan(name, uuid string, p Protocol, d Declaration) (*Design, error) {
	if err := cmp.Or(checkName(name), checkUUID(uuid)); err != nil {
		return nil, err
	}
	d, err := complete(p, d)
	if err != nil {
		return nil, err
	}
	g := &Design{Collection: name, UUID: uuid, Protocol: p, Declaration: d}
	if err := g.derive(); err != nil {
		return nil, err
	}
	return g, g.checkTime()
}

// derive fills in Derived and rounds from a complete declaration.
func (g *Design) derive() error {
	f := factorsOf(g.Declaration.Epsilon)
	switch g.Protocol {
	case LDPBit:
		return g.deriveBit(f)
	case LDPKV2, LDPKV1:
		return g.deriveKnown(f)
	case LDPUV2, LDPUV1:
		return g.deriveUnknown(f)
	case LDPHier:
		return g.deriveHier(f)
	case LDPHaar:
		return g.deriveHaar(f)
	case LDPSCM3:
		return g.deriveRotatedLocal(f)
	case ShufSum:
		return g.deriveSum()
	case ShufVec:
		return g.deriveVec()
	case ShufHier:
		return g.deriveNodes()
	case ShufSCM3:
		return g.deriveRotatedShuffle()
	}
	panic("collect: protocol without a plan") // complete refuses names that are none
}

// addRound appends a round of the local model. Its minimum is the sum of those of its cells, or
// least if that is more.
func (g *Design) addRound(cells []Cell, least uint64) {
	total, own := uint64(0), uint64(0)
	for i := range cells {
		cells[i].Cell = uint32(i)
		total += cells[i].Quota
		own += cells[i].Min
	}
	g.rounds = append(g.rounds, roundPlan{cells: cells, min: max(least, own)})
	g.Derived.Groups = append(g.Derived.Groups, total)
}

// spread divides n contributors over cells as evenly as possible.
func spread(cells []Cell, n uint64) []Cell {
	k := uint64(len(cells))
	for i := range cells {
		cells[i].Quota = n / k
		if uint64(i) < n%k {
			cells[i].Quota++
		}
	}
	return cells
}

// leastExpected returns the least n_expected for which the declaration can be planned; ok is false
// if even the greatest will not do. That more contributors never make a plan impossible holds but
// for roundings; what is returned has been planned.
func leastExpected(p Protocol, d Declaration) (least uint64, ok bool) {
	fits := func(n uint64) bool {
		d.Expected = n
		_, err := plan("x", "00000000-0000-0000-0000-000000000000", p, d)
		return err == nil
	}
	lo, hi := uint64(0), uint64(1)
	for !fits(hi) {
		if hi == MaxExpected {
			return 0, false
		}
		lo, hi = hi, min(2*hi, MaxExpected)
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}
