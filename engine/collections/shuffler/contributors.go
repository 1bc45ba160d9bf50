package shuffler

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"slices"

	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/intake"
	"scrim/internal/refuse"
)

// contributors are served over HTTPS as they are over the MySQL protocol: the inbox is the same
// Accept, and the parameters are those that are pinned. Nothing of a request, of who sent it, or of
// when is logged or kept.
type contributors struct {
	s   *Shuffler
	log zerolog.Logger
}

var _ intake.Backend = contributors{}

// listenContributors opens the socket of contributors over HTTPS. Its certificate is that of the
// MySQL protocol; browsers know it where the operator has given one.
func listenContributors(s *Shuffler, c Config, certificate *tls.Config) (*intake.Server, error) {
	if c.ContributeListen == "" {
		return nil, nil
	}
	origins, err := intake.ParseOrigins(c.ContributeOrigins)
	if err != nil {
		return nil, err
	}
	back := contributors{s, c.Logger}
	return intake.Listen(c.ContributeListen, intake.Options{
		Backend: back, TLS: certificate, Secure: c.TLSCert != "", Origins: origins, Shuffler: s.id,
		MaxBody: back.longest, MaxConnections: c.MaxConnections, Log: c.Logger,
	})
}

// longest bounds the body of a request: that of the longest bundle that is taken.
func (c contributors) longest() int64 {
	most := sha256.Size
	for _, p := range c.s.pinned() {
		most = max(most, p.shape.Size())
	}
	return intake.BodyOf(most)
}

// Round implements intake.Backend: parameters that are pinned, and no others.
func (c contributors) Round(name string, round int, stratum string) (*collect.Params, error) {
	var found *collect.Params
	for _, p := range c.s.pinned() {
		if p.of.named(name) && p.params.Stratum == stratum && (round == 0 || round == p.params.Round) {
			found = p.params // the latest comes last
		}
	}
	if found == nil {
		return nil, refuse.New(refuse.CollectionState, "No such round of a collection is pinned.")
	}
	return found, nil
}

// Accept implements intake.Backend. The name is the address's: a bundle of another collection is
// refused before its token is looked at.
func (c contributors) Accept(ctx context.Context, name string, token, bundle []byte) error {
	if !slices.ContainsFunc(c.s.pinned(), func(p *pin) bool { return p.of.named(name) }) {
		return refuse.New(refuse.CollectionState, "No round of such a collection is pinned.")
	}
	if len(bundle) >= sha256.Size {
		c.s.mu.RLock()
		of := c.s.pins[[32]byte(bundle)]
		c.s.mu.RUnlock()
		if of != nil && !of.of.named(name) {
			return refuse.New(refuse.MalformedReport, "The bundle is of another collection.")
		}
	}
	err := c.s.Accept(ctx, token, bundle)
	if _, refused := refuse.As(err); err != nil && !refused && ctx.Err() == nil {
		c.log.Error().Err(err).Msg("a bundle could not be taken")
	}
	return err
}
