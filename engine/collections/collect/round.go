package collect

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"scrim/internal/refuse"
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
	if err := cmp.Or(g.checkStratum(stratum), g.checkKeys(sealKey, signs), g.checkPublished(round, pub)); err != nil {
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

// Verify tells whether the parameters are what their declaration demands. It plans the collection
// again and compares everything: integers must be equal, floats too but for 1e-9 of their size.
// Only numbers of earlier rounds, the key and the signs cannot be derived; those are checked for
// form and range, and privacy rests on none of them but the key, which binds the fingerprint.
//
// Parameters whose report costs more than the declaration names are refused too.
//
// Parameters that pass give every report the declared guarantee whatever the server meant by them.
// A device reports nothing on an error.
func (p *Params) Verify() error {
	if p.Version != Version {
		return p.doubt("are of version %d, and this library knows version %d", p.Version, Version)
	}
	if !p.sane() {
		return p.doubt("have numbers that are not finite, or too many cells")
	}
	g, err := plan(p.Collection, p.UUID, p.Protocol, p.Declaration)
	var short *tooFew
	if errors.As(err, &short) {
		return p.doubt("declare too few contributors: %s", short.need)
	}
	if err != nil {
		return err
	}
	want, err := g.params(p.Round, p.Stratum, p.Published, p.SealKey, p.Signs)
	if err != nil {
		return err
	}
	want.adopt(p)
	if err := p.compare(want); err != nil {
		return err
	}
	if checkNamed(p.Cost(), &p.Declaration) != nil {
		return p.doubt("cost epsilon %v with delta %v, and their declaration names %v", p.Cost().Epsilon, p.Cost().Delta, p.Declaration.Epsilon)
	}
	return g.prove(quick)
}

func (p *Params) doubt(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if len(what) > 400 {
		what = what[:400] + "…"
	}
	return refuse.New(refuse.CollectionParameter, "The parameters of %.130q %s.", p.Collection, what).
		With("Report nothing with them, and tell whoever runs the collection.")
}

// sane bounds what Verify does with parameters that were not read by Parse.
func (p *Params) sane() bool {
	floats := slices.Concat(p.Declaration.NullDefault, p.Published.Centre, []float64{
		p.Published.Width, p.Published.Clip, p.Derived.Range, p.Derived.Scales, p.Derived.Ball, p.Derived.Box,
		p.Derived.ClipTarget, p.Derived.Rho,
	})
	if p.Batch != nil {
		floats = append(floats, p.Batch.Mu, p.Batch.Clip)
	}
	notFinite := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	return !slices.ContainsFunc(floats, notFinite) && len(p.Cells) <= MaxRotated*MaxLeaves && len(floats) <= 4*MaxVector
}

// adopt takes over floats of p that are near enough, so that what differs after it differs.
func (p *Params) adopt(from *Params) {
	near := func(x *float64, y float64) {
		if math.Abs(*x-y) <= tolerance*math.Abs(*x) {
			*x = y
		}
	}
	v, w := &p.Derived, &from.Derived
	near(&v.Range, w.Range)
	near(&v.Scales, w.Scales)
	near(&v.Ball, w.Ball)
	near(&v.Box, w.Box)
	near(&v.ClipTarget, w.ClipTarget)
	near(&v.Rho, w.Rho)
	near(&p.Declaration.Resolution, from.Declaration.Resolution)
	if p.Batch != nil && from.Batch != nil {
		near(&p.Batch.Mu, from.Batch.Mu)
	}
}

// compare names the first part in which p is not want.
func (p *Params) compare(want *Params) error {
	if len(p.Cells) != len(want.Cells) {
		return p.doubt("have %d cells, and their declaration gives %d", len(p.Cells), len(want.Cells))
	}
	for i, c := range p.Cells {
		if w := want.Cells[i]; c != w {
			return p.doubt("have a cell %d (%.20q of %d, keep_num %d, quota %d) that their declaration does not give (%s of %d, keep_num %d, quota %d)",
				i, c.Randomiser, c.Domain, c.Keep, c.Quota, w.Randomiser, w.Domain, w.Keep, w.Quota)
		}
	}
	if (p.Batch == nil) != (want.Batch == nil) || p.Batch != nil && *p.Batch != *want.Batch {
		return p.doubt("have a batch that their declaration does not give: %+v, want %+v", deref(p.Batch), deref(want.Batch))
	}
	have, err := p.encode()
	if err != nil {
		return p.doubt("have no canonical form")
	}
	if !bytes.Equal(have, want.Canonical()) {
		return p.doubt("have derived numbers that their declaration does not give: %+v and %d, want %+v and %d",
			p.Derived, p.Min, want.Derived, want.Min)
	}
	if p.kept != nil && p.kept.print != sha256.Sum256(have) {
		return p.doubt("were changed after their fingerprint was taken")
	}
	return nil
}

func deref(b *Batch) Batch {
	if b == nil {
		return Batch{}
	}
	return *b
}
