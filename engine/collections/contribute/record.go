package contribute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/refuse"
)

// State says how far a report has come.
type State string

// The states.
const (
	Pending      State = "pending"      // made and charged; it may have been sent
	Acknowledged State = "acknowledged" // the server or the shuffler said that it has it
	// the person gave it up: it counts, and is not sent any more
	Abandoned State = "abandoned"
)

// Record is what a wallet keeps of one report: one collection, once.
type Record struct {
	UUID       string           `json:"uuid"`
	Collection string           `json:"collection"` // with its database
	Protocol   collect.Protocol `json:"protocol"`
	Round      int              `json:"round"`
	Stratum    string           `json:"stratum,omitempty"`
	Cell       uint32           `json:"cell"`
	// of the parameters, the sealing key among them
	Fingerprint Hash   `json:"fingerprint"`
	Cost        Loss   `json:"cost"`
	Made        string `json:"made"` // the day, in UTC
	State       State  `json:"state"`
	Token       Secret `json:"token,omitempty"` // while pending
	TokenHash   Hash   `json:"token_sha256"`
	// the one that the bundle may have been sent to: no other ever gets it
	Shuffler string `json:"shuffler,omitempty"`
	// one operator, to whom its person agreed, can read the value
	Trusted bool `json:"trusted_operator,omitempty"`
	// Report is the report, or the bundle. The report is kept for good; the bundle while it is
	// pending, because with the server's key it would tell the value.
	Report     []byte `json:"report,omitempty"`
	ReportHash Hash   `json:"report_sha256"`
}

// Model returns whom the report goes to.
func (r *Record) Model() collect.Model {
	info, _ := r.Protocol.Info()
	return info.Model
}

// ended returns the record after its report has arrived, or was given up.
func (r Record) ended(as State) Record {
	r.State, r.Token = as, nil
	if r.Model() == collect.Shuffle {
		r.Report = nil
	}
	return r
}

// check tells whether the record can have been written by a wallet.
func (r *Record) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("the record of %.60q %s", r.Collection, fmt.Sprintf(format, args...))
	}
	info, ok := r.Protocol.Info()
	pending := r.State == Pending
	switch {
	case !ok || r.UUID == "" || r.Round < 1 || r.Round > info.Rounds:
		return wrong("is not of a protocol's round")
	case !pending && r.State != Acknowledged && r.State != Abandoned:
		return wrong("has the state %.20q", string(r.State))
	case pending != (len(r.Token) > 0) || (pending || info.Model == collect.Local) != (len(r.Report) > 0):
		return wrong("does not hold what the state %s needs", r.State)
	case pending && (len(r.Token) != len(Token{}.Secret) || sha256.Sum256(r.Token) != r.TokenHash):
		return wrong("has a token that is not the one of its hash")
	case r.Shuffler != "" && (info.Model != collect.Shuffle || !identity.MatchString(r.Shuffler)):
		return wrong("names a shuffler that is none")
	case r.Trusted && info.Model != collect.Shuffle:
		return wrong("names an operator that no report of its model trusts")
	case len(r.Report) > 0 && sha256.Sum256(r.Report) != r.ReportHash:
		return wrong("has a report that is not the one of its hash")
	case len(r.Report) > 0 && !r.carries():
		return wrong("has a report of other parameters than its fingerprint's")
	}
	return nil
}

// carries tells whether the report's own header names the fingerprint.
func (r *Record) carries() bool {
	if r.Model() == collect.Shuffle {
		return bytes.HasPrefix(r.Report, r.Fingerprint[:])
	}
	return len(r.Report) > collect.HeaderSize && bytes.Equal(r.Report[8:collect.HeaderSize], r.Fingerprint[:8])
}

// clone returns a copy that shares nothing.
func (r Record) clone() Record {
	r.Token, r.Report = slices.Clone(r.Token), slices.Clone(r.Report)
	return r
}

// Hash is a SHA-256; its text is hex.
type Hash [32]byte

// String returns the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("contribute: want a SHA-256 of %d digits of hex", 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// Secret are bytes of a token; their text is hex.
type Secret []byte

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) (err error) {
	*s, err = hex.DecodeString(string(text))
	return err
}

// ErrForgotten says that a bundle was acknowledged or given up, after which the wallet keeps its
// hash only.
var ErrForgotten = errors.New("contribute: the bundle has arrived or was given up, and the wallet does not keep it any longer")

// Report returns the report of a value to a collection of the local model: randomised once, charged
// to the wallet and on disk before it is returned. Called again for the same collection it returns
// the same bytes, and looks at the value no more.
//
// The parameters are verified again: nothing rests on where they come from. It refuses, and changes
// nothing, if they are not what their declaration demands, if the token is of another place or was
// used for another collection, if the wallet has reported to the collection by other parameters or
// with another token, and beyond the caps.
func (w *Wallet) Report(p *Params, t Token, v Value) ([]byte, error) {
	return w.once(p, t, collect.Local, nil, func(cell uint32) ([]byte, error) {
		return device.Report(exact.Secure(), p, cell, v)
	})
}

// Bundle is Report for a collection of the shuffle model: it returns the bundle of messages, each
// split, drawn and sealed once. A bundle that was acknowledged or given up is gone: ErrForgotten.
// Before the first one is made, a shuffler has to have pinned the parameters, and its person to
// have agreed to what they leave unprotected; a bundle that was made comes without either.
func (w *Wallet) Bundle(pin Pin, p *Params, t Token, v Value, consents ...Consent) ([]byte, error) {
	allow := func() error {
		if err := agreed(p, consents); err != nil {
			return err
		}
		return pin.fits(p)
	}
	return w.once(p, t, collect.Shuffle, allow, func(cell uint32) ([]byte, error) {
		messages, err := device.Messages(exact.Secure(), p, cell, v)
		if err != nil {
			return nil, err
		}
		sealer, err := seal.NewSealer(p.SealKey, p.Fingerprint())
		if err != nil {
			return nil, err
		}
		return seal.ShapeOf(p).Bundle(sealer, messages)
	})
}

// once returns the bytes that the wallet keeps for a collection, or has them made, charged and
// kept, if allow, where it is not nil, does.
func (w *Wallet) once(p *Params, t Token, model collect.Model, allow func() error, create func(cell uint32) ([]byte, error)) ([]byte, error) {
	cell, err := ready(p, t, model)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return nil, err
	}
	if r := w.book.find(p.UUID); r != nil {
		return r.again(p, t)
	}
	if allow != nil {
		if err := allow(); err != nil {
			return nil, err
		}
	}
	r, err := w.admit(p, t, cell)
	if err != nil {
		return nil, err
	}
	if r.Report, err = create(cell); err != nil {
		return nil, err
	}
	r.ReportHash = sha256.Sum256(r.Report)
	if err := w.commit(w.book.with(r)); err != nil {
		return nil, err
	}
	return slices.Clone(r.Report), nil
}

// ready verifies the parameters and places the token in them.
func ready(p *Params, t Token, model collect.Model) (cell uint32, err error) {
	if p == nil {
		return 0, errors.New("contribute: no parameters")
	}
	if err := p.Verify(); err != nil {
		return 0, err
	}
	if info, _ := p.Protocol.Info(); info.Model != model {
		return 0, refuse.New(refuse.CollectionState, "%.130q is a collection of the %s model.", p.Collection, info.Model).
			With("Local collections take Report and Send, shuffle collections Bundle and SendBundle.")
	}
	return t.fit(p)
}

// again returns what was made before. The value given now is not looked at.
func (r *Record) again(p *Params, t Token) ([]byte, error) {
	if err := r.same(p); err != nil {
		return nil, err
	}
	if r.TokenHash != sha256.Sum256(t.Secret[:]) {
		return nil, refuse.New(refuse.SpentToken, "The wallet has reported to %.130q with another token.", r.Collection).
			With("Nobody reports twice to a collection, whatever tokens they hold.")
	}
	if r.Report == nil {
		return nil, ErrForgotten
	}
	return bytes.Clone(r.Report), nil
}

// admit returns the record of a report that is to be made, or the refusal to make it.
func (w *Wallet) admit(p *Params, t Token, cell uint32) (Record, error) {
	hash := Hash(sha256.Sum256(t.Secret[:]))
	if r := w.book.redeemed(hash); r != nil {
		return Record{}, refuse.New(refuse.SpentToken, "The token has been used for %.130q (%s), and these are the parameters of %.130q (%s).",
			r.Collection, r.UUID, p.Collection, p.UUID).
			With("A token is for one collection. If this is the same one, it was made anew to have you report again: tell whoever runs it.")
	}
	cost, err := CostOf(p)
	if err != nil {
		return Record{}, err
	}
	if err := w.book.allows(p, cost); err != nil {
		return Record{}, err
	}
	return Record{
		UUID: p.UUID, Collection: p.Collection, Protocol: p.Protocol, Round: p.Round, Stratum: p.Stratum, Cell: cell,
		Fingerprint: p.Fingerprint(), Cost: cost, Made: time.Now().UTC().Format(time.DateOnly), State: Pending,
		Token: slices.Clone(t.Secret[:]), TokenHash: hash, Trusted: Trusting(p),
	}, nil
}
