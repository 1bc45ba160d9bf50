package shuffler

import (
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/collect/seal"
)

// Describe says in a line what parameters promise, for a person who is to pin them.
func Describe(p *collect.Params) string {
	b, shape := p.Batch, seal.ShapeOf(p)
	messages := fmt.Sprintf("%d messages", shape.Most)
	if shape.Least != shape.Most {
		messages = fmt.Sprintf("%d to %d messages", shape.Least, shape.Most)
	}
	d := p.Declaration
	epsilon, _ := d.Epsilon.MarshalText()
	return fmt.Sprintf("%s round %d of %d%s: %s, epsilon %s, delta %v, %d to %d reports a batch of %s each, trust %s, fingerprint %x",
		p.Collection, p.Round, p.Rounds(), ofStratum(p), p.Protocol, epsilon, d.Delta, b.Min, b.Max, messages, d.Trust, p.Fingerprint())
}
