package collect

import (
	"crypto/sha256"
	"math"
	"slices"
)

// Rounds returns how many rounds the collection has.
func (g *Design) Rounds() int { return len(g.rounds) }

// Cells returns the cells of a round, from 1, as its parameters will have them: tokens of all
// rounds can be issued before any is open. It is nil for a round that is none.
func (g *Design) Cells(round int) []Cell {
	if round < 1 || round > len(g.rounds) {
		return nil
	}
	return slices.Clone(g.rounds[round-1].cells)
}

// Min returns how many reports a round, from 1, needs in all of its cells together; 0 for a round
// that is none.
func (g *Design) Min(round int) uint64 {
	if round < 1 || round > len(g.rounds) {
		return 0
	}
	return g.rounds[round-1].min
}

// Params returns the public parameters of one round (from 1) of one stratum: "" where none are
// declared. pub is what the rounds before published, zero for round 1. sealKey is the server's
// public key of the round (shuffle), signs the seed of the rotation (*_SCM3, the same in every
// round); both have 32 bytes, and are nil for other protocols. It refuses what Verify would refuse.
func (g *Design) Params(round int, stratum string, pub Published, sealKey, signs []byte) (*Params, error) {
	p, err := g.params(round, stratum, pub, sealKey, signs)
	if err != nil {
		return nil, err
	}
	canonical := p.Canonical()
	if len(canonical) > MaxParams {
		return nil, bad("The parameters of a round are longer than %d bytes.", MaxParams).With("Declare fewer strata or coordinates.")
	}
	p.keep(canonical)
	return p, nil
}

func (g *Design) params(round int, stratum string, pub Published, sealKey, signs []byte) (*Params, error) {
	if round < 1 || round > len(g.rounds) {
		return nil, bad("%s has no round %d.", g.Protocol, round)
	}
	if err := firstError(g.checkStratum(stratum), g.checkKeys(sealKey, signs), g.checkPublished(round, pub)); err != nil {
		return nil, err
	}
	r := g.rounds[round-1]
	p := &Params{
		Version: Version, Collection: g.Collection, UUID: g.UUID, Protocol: g.Protocol, Round: round, Stratum: stratum,
		Declaration: g.Declaration, Derived: g.Derived, Published: pub, Min: r.min, Cells: r.cells, Batch: r.batch,
		SealKey: sealKey, Signs: signs,
	}
	p = p.Clone()
	if g.Protocol == ShufSCM3 && round == 3 {
		p.Batch.Clip = pub.Clip
	}
	return p, nil
}

func (g *Design) checkStratum(stratum string) error {
	if strata := g.Declaration.Strata; len(strata) == 0 && stratum != "" || len(strata) > 0 && !slices.Contains(strata, stratum) {
		return bad("The collection has no stratum %.80q.", stratum)
	}
	return nil
}

// checkKeys demands the server's key exactly of shuffle protocols and the seed of signs exactly of
// *_SCM3.
func (g *Design) checkKeys(sealKey, signs []byte) error {
	info, _ := g.Protocol.Info()
	if err := checkBytes("seal_key", sealKey, info.Model == Shuffle); err != nil {
		return err
	}
	return checkBytes("sign_seed", signs, g.Protocol == LDPSCM3 || g.Protocol == ShufSCM3)
}

func checkBytes(key string, b []byte, want bool) error {
	switch {
	case !want && len(b) > 0:
		return bad("The parameters have a %s, and the protocol has none.", key)
	case want && (len(b) != 32 || !slices.ContainsFunc(b, func(x byte) bool { return x != 0 })):
		return bad("The parameters' %s is not 32 bytes, or all of them are zero.", key)
	}
	return nil
}

// Clone returns a deep copy without the kept fingerprint: what a test takes to change one field.
func (p *Params) Clone() *Params {
	q := *p
	q.kept = nil
	q.Declaration.NullDefault = slices.Clone(p.Declaration.NullDefault)
	q.Declaration.Strata = slices.Clone(p.Declaration.Strata)
	q.Derived.Groups = slices.Clone(p.Derived.Groups)
	q.Published.Centre = slices.Clone(p.Published.Centre)
	q.Cells = slices.Clone(p.Cells)
	q.SealKey, q.Signs = slices.Clone(p.SealKey), slices.Clone(p.Signs)
	if p.Batch != nil {
		b := *p.Batch
		q.Batch = &b
	}
	return &q
}

// Fingerprint returns the SHA-256 of Canonical. Parameters made by Parse or Design.Params keep it
// and must not be changed any more.
func (p *Params) Fingerprint() [32]byte {
	if p.kept != nil {
		return p.kept.print
	}
	return sha256.Sum256(p.Canonical())
}

// kept is what every report needs and takes long to compute.
type kept struct {
	print      [32]byte
	gaussLimit uint64 // 0 without DGAUSS
}

// keep fills in kept from the parameters' canonical bytes.
func (p *Params) keep(canonical []byte) {
	p.kept = &kept{print: sha256.Sum256(canonical)}
	if len(p.Cells) > 0 && p.Cells[0].Randomiser == DGAUSS && p.Declaration.Epsilon != 0 {
		p.kept.gaussLimit = gaussLimit(&p.Declaration)
	}
}

// Cell returns a cell of the round; ok is false for a number that is none.
func (p *Params) Cell(cell uint32) (c Cell, ok bool) {
	if uint64(cell) >= uint64(len(p.Cells)) || p.Cells[cell].Cell != cell {
		return Cell{}, false
	}
	return p.Cells[cell], true
}

// Null returns the value that verified parameters have for NULL: one number, or as many as the
// declared dimension.
func (p *Params) Null() Value { return p.Declaration.null() }

// Rounds returns how many rounds the collection has.
func (p *Params) Rounds() int { return len(p.Derived.Groups) }

// GaussVariance returns σ² of DGAUSS in squared steps of the grid, on which a vector of norm
// Published.Clip is 65536·sqrt(Padded) long. It follows from the declaration alone.
func (p *Params) GaussVariance() uint64 {
	v := Derived{Padded: padded(p.Declaration.Dimension), Rho: rhoOf(&p.Declaration)}
	return v.gaussVariance()
}

// GaussBound returns S², the bound of the sum of squares of a vector on the grid of DGAUSS.
func (p *Params) GaussBound() uint64 {
	v := Derived{Padded: padded(p.Declaration.Dimension)}
	return v.gaussBound()
}

// windowFactor returns 2 + sqrt(ln 4n), the half width of LDP_UV2's window in estimated standard
// deviations for n contributors [JKMW19].
func windowFactor(n uint64) float64 { return 2 + math.Sqrt(math.Log(4*float64(n))) }
