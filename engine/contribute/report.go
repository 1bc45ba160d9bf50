package contribute

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"scrim/engine/collect"
	"scrim/engine/collect/device"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/seal"
	"scrim/internal/refuse"
)

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
		Fingerprint: p.Fingerprint(), Cost: cost, Made: today(), State: Pending,
		Token: slices.Clone(t.Secret[:]), TokenHash: hash, Trusted: Trusting(p),
	}, nil
}
