package shuffler

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/intake"
	"scrim/engine/mysql/auth/brake"
	"scrim/engine/mysql/wire"
	"scrim/internal/refuse"
)

// Token is one person's right to report once, in one place. Its hash only is kept.
type Token = issue.Token

// Hash is a token of an independent issuer.
type Hash struct {
	SHA256  [32]byte // of the token's issue.TokenSize bytes
	Round   int
	Cell    uint32
	Stratum string
}

// Issue issues tokens to n further people, in random order: whoever hands them out in the order of
// the result assigns people to rounds and cells at random. Each place has its share of all tokens
// that were issued for the same rounds (issue.Apportion). round 0 means all rounds that are not
// over, by their planned sizes. The secrets are returned once and kept nowhere.
func (s *Shuffler) Issue(name string, n uint64, stratum string, round int) ([]Token, error) {
	s.issuing.Lock()
	defer s.issuing.Unlock()
	of, design, err := s.design(name)
	if err != nil {
		return nil, err
	}
	at, ok := stratumAt(design, stratum)
	switch first := s.present(of, at); {
	case !ok:
		return nil, noStratum(of, stratum)
	case n == 0 || n > issue.Most:
		return nil, refuse.New(refuse.CollectionParameter, "%d tokens cannot be issued at once.", n).With("Ask for 1 to %d.", issue.Most)
	case round < 0 || round > design.Rounds() || round > 0 && round < first:
		return nil, refuse.New(refuse.CollectionParameter, "Tokens of round %d of %s would never be used.", round, of.name).
			With("Give a round from %d to %d, or none for all of them.", first, design.Rounds())
	default:
		shares, err := s.shares(of, design, at, first, round)
		if err != nil {
			return nil, err
		}
		list := issue.Draw(shares, issue.Apportion(shares, n), func(p place) Token {
			return Token{Round: int(p.round), Cell: p.cell, Stratum: stratumName(design, p.stratum)}
		})
		return list, s.keepTokens(list, shares, design)
	}
}

// design plans the collection that a person means.
func (s *Shuffler) design(name string) (*collection, *collect.Design, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pins {
		if p.of.named(name) {
			g, err := collect.Plan(p.params.Collection, p.params.UUID, p.params.Protocol, p.params.Declaration)
			return p.of, g, err
		}
	}
	return nil, nil, refuse.New(refuse.CollectionParameter, "No round of %.130q is pinned.", name).With("Start with --pin NAME:FINGERPRINT, or run scrim shuffle pin.")
}

// stratumAt returns the place of a stratum in the declaration; any case will do.
func stratumAt(g *collect.Design, stratum string) (at int, ok bool) {
	if len(g.Declaration.Strata) == 0 {
		return 0, stratum == ""
	}
	at = slices.IndexFunc(g.Declaration.Strata, func(s string) bool { return strings.EqualFold(s, stratum) })
	return max(0, at), at >= 0
}

func stratumName(g *collect.Design, at uint16) string {
	if len(g.Declaration.Strata) == 0 {
		return ""
	}
	return g.Declaration.Strata[at]
}

func noStratum(of *collection, stratum string) error {
	return refuse.New(refuse.CollectionParameter, "The collection %s has no stratum %.80q.", of.name, stratum).With("Give one of those that were declared; none where there are none.")
}

// present is the last round that is pinned for a stratum, or 1.
func (s *Shuffler) present(of *collection, stratum int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := 1
	for _, p := range s.pins {
		if p.of == of && int(p.place.stratum) == stratum {
			r = max(r, p.params.Round)
		}
	}
	return r
}

// shares lists the places that tokens are issued for, with what was issued.
func (s *Shuffler) shares(of *collection, g *collect.Design, stratum, first, only int) (out []issue.Seat[place], err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		for r := first; r <= g.Rounds(); r++ {
			if only != 0 && r != only {
				continue
			}
			for _, c := range g.Cells(r) {
				p := place{of.id, uint8(r), uint16(stratum), c.Cell}
				out = append(out, issue.Seat[place]{Place: p, Quota: c.Quota, Taken: uint64At(tx.Bucket(bucketIssued).Get(p.key()))})
			}
		}
		return nil
	})
	return out, err
}

// keepTokens keeps the hashes of tokens and how many there are, before anybody sees one.
func (s *Shuffler) keepTokens(list []Token, shares []issue.Seat[place], g *collect.Design) error {
	entries := make([]tokenEntry, len(list))
	for i, t := range list {
		at, _ := stratumAt(g, t.Stratum)
		entries[i] = tokenEntry{sha256.Sum256(t.Secret[:]), place{shares[0].Place.collection, uint8(t.Round), uint16(at), t.Cell}}
	}
	return s.db.Update(func(tx *bolt.Tx) error {
		for _, h := range shares {
			if err := tx.Bucket(bucketIssued).Put(h.Place.key(), binary.BigEndian.AppendUint64(nil, h.Taken)); err != nil {
				return err
			}
		}
		_, err := addTokens(tx, entries)
		return err
	})
}

// tokenEntry is what is kept of a token.
type tokenEntry struct {
	hash  [32]byte
	place place
}

// addTokens adds tokens that nobody has used, and returns how many were not there before. One that
// is there, elsewhere, is refused.
func addTokens(tx *bolt.Tx, list []tokenEntry) (added int, err error) {
	slices.SortFunc(list, func(a, b tokenEntry) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	b := tx.Bucket(bucketTokens)
	for _, e := range list {
		if p, _, ok := tokenAt(tx, e.hash); ok {
			if p != e.place {
				return 0, refuse.New(refuse.CollectionParameter, "A token in the list has been issued for another place.").With("A token is for one place only.")
			}
			continue
		}
		if err := b.Put(e.hash[:], batchKey(e.place, 0)); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// AddHashes takes the hashes of tokens that an independent issuer has made. Those that are there
// already change nothing; all are taken or none.
func (s *Shuffler) AddHashes(name string, list []Hash) (added int, err error) {
	s.issuing.Lock()
	defer s.issuing.Unlock()
	of, design, err := s.design(name)
	if err != nil {
		return 0, err
	}
	if len(list) > issue.Most {
		return 0, refuse.New(refuse.CollectionParameter, "%d tokens cannot be taken at once.", len(list)).With("Send at most %d.", issue.Most)
	}
	entries := make([]tokenEntry, len(list))
	for i, h := range list {
		at, ok := stratumAt(design, h.Stratum)
		if !ok {
			return 0, noStratum(of, h.Stratum)
		}
		if uint64(h.Cell) >= uint64(len(design.Cells(h.Round))) {
			return 0, refuse.New(refuse.CollectionParameter, "The collection %s has no cell %d in a round %d.", of.name, h.Cell, h.Round)
		}
		entries[i] = tokenEntry{h.SHA256, place{of.id, uint8(h.Round), uint16(at), h.Cell}}
	}
	err = s.db.Update(func(tx *bolt.Tx) (err error) {
		counts := map[place]uint64{}
		for _, e := range entries {
			if _, _, ok := tokenAt(tx, e.hash); !ok {
				counts[e.place]++
			}
		}
		if added, err = addTokens(tx, entries); err != nil {
			return err
		}
		issued := tx.Bucket(bucketIssued)
		for p, n := range counts {
			if err := issued.Put(p.key(), binary.BigEndian.AppendUint64(nil, n+uint64At(issued.Get(p.key())))); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// place is where a token reports: a cell of a stratum of a round of a collection. Each has its own
// batches.
type place struct {
	collection uint32 // number, in the order of first pins
	round      uint8
	stratum    uint16 // in the declaration's list; 0 where there is none
	cell       uint32
}

const placeSize = 4 + 1 + 2 + 4

// key is the place in the order of its parts.
func (p place) key() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, placeSize+4), p.collection)
	b = binary.BigEndian.AppendUint16(append(b, p.round), p.stratum)
	return binary.BigEndian.AppendUint32(b, p.cell)
}

// placeOf reads a key.
func placeOf(b []byte) place {
	return place{binary.BigEndian.Uint32(b), b[4], binary.BigEndian.Uint16(b[5:]), binary.BigEndian.Uint32(b[7:])}
}

// file names a batch's files, without their suffix.
func (p place) file(batch uint32) string {
	return fmt.Sprintf("%d-%d-%d-%d-%d", p.collection, p.round, p.stratum, p.cell, batch)
}

// batchKey is the key of a batch's record.
func batchKey(p place, batch uint32) []byte { return binary.BigEndian.AppendUint32(p.key(), batch) }

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
