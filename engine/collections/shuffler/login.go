package shuffler

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"math"
	"slices"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/intake"
	"scrim/engine/mysql/auth/brake"
	"scrim/engine/mysql/wire"
	"scrim/internal/refuse"
)

// The accounts of a shuffler.
const (
	// sends bundles; the token is the credential, so that it may have no password
	Contributor = "contributor"
	Operator    = "operator" // pins, issues tokens, closes batches
)

// account is who a connection is.
type account struct{ name string }

// Get implements mysql.Getter.
func (a account) Get() *querypb.VTGateCallerID { return &querypb.VTGateCallerID{Username: a.name} }

// secret is what a password is checked by: by mysql_native_password and by caching_sha2_password,
// neither of which sends it.
type secret struct {
	none   bool
	native [sha1.Size]byte   // SHA1(SHA1(password))
	sha2   [sha256.Size]byte // SHA256(SHA256(password))
}

func newSecret(password string) secret {
	first, second := sha1.Sum([]byte(password)), sha256.Sum256([]byte(password))
	return secret{password == "", sha1.Sum(first[:]), sha256.Sum256(second[:])}
}

// logins decides on logins.
type logins struct {
	accounts map[string]secret
	attempts *brake.Attempts
	log      zerolog.Logger
}

func newLogins(accounts map[string]secret, log zerolog.Logger) *logins {
	return &logins{accounts, brake.New(), log}
}

// login is a wire.LoginFunc. All refusals are the same to the client, whether there is such an
// account or not. After wrong passwords attempts wait as they do at the server, the contributors'
// as well: who sends bundles without a password shows none that is wrong.
func (a *logins) login(l *wire.Login) (mysql.Getter, error) {
	s, known := a.accounts[l.User]
	var failed error
	o := a.attempts.Try(l.User, l.From, func() bool {
		ok, err := s.check(l)
		failed = err
		return ok && known && err == nil
	})
	switch {
	case !o.Looked:
		if o.Unlooked > 0 {
			a.log.Warn().Int("attempts", o.Unlooked).Msg("attempts to log in were refused without a look: too many had failed from their address, which is not told")
		}
		return nil, denied(l, fmt.Sprintf(": too many failed logins from this address; try again in %d seconds", int(math.Ceil(o.Waited.Seconds()))))
	case failed != nil:
		return nil, failed
	case !o.Shown:
		return nil, denied(l, "")
	}
	return account{l.User}, nil
}

func denied(l *wire.Login, more string) error {
	return mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError, "Access denied for user '%s'%s", l.User, more)
}

// check goes through the exchange of the plugin that the client has chosen, or of
// mysql_native_password if it chose one that nobody here knows. A client without a password answers
// with nothing, whatever its plugin.
func (s secret) check(l *wire.Login) (ok bool, err error) {
	if l.Plugin != wire.NativePassword && l.Plugin != wire.CachingSHA2 {
		if err := l.Switch(wire.NativePassword); err != nil {
			return false, err
		}
	}
	empty := len(l.Response) == 0 || len(l.Response) == 1 && l.Response[0] == 0
	if empty && !s.none && !l.Switched() { // some clients wait to be asked
		if err := l.Switch(l.Plugin); err != nil {
			return false, err
		}
		empty = len(l.Response) == 0 || len(l.Response) == 1 && l.Response[0] == 0
	}
	switch {
	case empty:
		return s.none, nil
	case l.Plugin == wire.CachingSHA2:
		if s.none || !l.ShowsSHA2(s.sha2) {
			return false, nil
		}
		return true, l.More(3) // as if the server had remembered it
	}
	return !s.none && l.ShowsNative(s.native), nil
}

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
