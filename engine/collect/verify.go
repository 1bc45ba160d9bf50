package collect

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"scrim/internal/refuse"
)

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
