package shuffler

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/rs/zerolog"

	"scrim/engine/mysql/auth/brake"
	"scrim/engine/mysql/wire"
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
