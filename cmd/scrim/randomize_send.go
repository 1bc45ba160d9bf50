package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"scrim/engine/collect"
	"scrim/engine/contribute"
)

// contribute makes the report, unless the wallet has it, and sends it when it is due. The wallet is
// free meanwhile.
func (r *randomizing) contribute(ctx context.Context, s streams, server *sql.DB, p *contribute.Params) error {
	info, _ := p.Protocol.Info()
	to := server
	if info.Model == collect.Shuffle {
		var err error
		if to, err = r.mixer(s.err); err != nil {
			return err
		}
		defer to.Close()
	}
	ended := false
	err := withWallet(r.wallet, func(w *contribute.Wallet) (err error) {
		ended, err = r.make(ctx, s, w, to, p, info.Model)
		return err
	})
	if err != nil || ended {
		return err
	}
	if err := r.wait(ctx, s); err != nil {
		return err
	}
	return withWallet(r.wallet, func(w *contribute.Wallet) error { return deliver(ctx, s, w, to, p, info.Model) })
}

// make has the wallet make the report once; ended tells that it was acknowledged or given up
// before.
func (r *randomizing) make(ctx context.Context, s streams, w *contribute.Wallet, to *sql.DB, p *contribute.Params, model collect.Model) (ended bool, err error) {
	kept, again := w.Record(p.UUID)
	if !again && !r.given() {
		return false, errors.New("want --value, --vector or --null: the wallet has no report to this collection yet")
	}
	if model == collect.Shuffle {
		err = r.bundle(ctx, w, to, p, again)
	} else {
		_, err = w.Report(p, r.parsedToken, r.parsedValue)
	}
	if err != nil && !errors.Is(err, contribute.ErrForgotten) {
		return false, err
	}
	if again {
		return r.found(s, kept), nil
	}
	kept, _ = w.Record(p.UUID)
	fmt.Fprintf(s.out, "%s\n%s\nmade, and kept in %s: %s\n", heading(p, r.parsedToken), balance(w.Spent(), kept.Cost, w.Caps()), w.Path(), shown(kept))
	return false, nil
}

// bundle has the wallet make a bundle once the shuffler has said that it has pinned the parameters;
// one that was made before needs no word.
func (r *randomizing) bundle(ctx context.Context, w *contribute.Wallet, to *sql.DB, p *contribute.Params, again bool) (err error) {
	var pin contribute.Pin
	if !again {
		if pin, err = contribute.AskPin(ctx, to, p); err != nil {
			return fmt.Errorf("%w\nNothing was made or charged", err)
		}
	}
	var consents []contribute.Consent
	if r.trustOperator {
		consents = append(consents, contribute.TrustedOperator)
	}
	_, err = w.Bundle(pin, p, r.parsedToken, r.parsedValue, consents...)
	return err
}

// unprotected is what is added to a line about a report whose operator can read the value.
func unprotected(r contribute.Record) string {
	if !r.Trusted {
		return ""
	}
	return "; " + oneOperator
}

// found says that the wallet has a report; ended that nothing is to be sent.
func (r *randomizing) found(s streams, kept contribute.Record) (ended bool) {
	if kept.State == contribute.Abandoned {
		fmt.Fprintf(s.out, "%s: the report of %s was given up; nobody reports twice, and nothing was sent%s\n", kept.Collection, kept.Made, unprotected(kept))
		return true
	}
	if kept.State == contribute.Acknowledged {
		fmt.Fprintf(s.out, "%s: the report of %s has arrived; nobody reports twice, and nothing was sent%s\n", kept.Collection, kept.Made, unprotected(kept))
		return true
	}
	fmt.Fprintf(s.out, "%s: the report of %s is sent again, unchanged", kept.Collection, kept.Made)
	if r.given() {
		fmt.Fprint(s.out, "; the value given now was not looked at")
	}
	fmt.Fprintln(s.out, unprotected(kept))
	return false
}

// shown is a report as it is sent: of the local model, all of it.
func shown(r contribute.Record) string {
	if r.Model() == collect.Local {
		return fmt.Sprintf("%d bytes, %s", len(r.Report), hex.EncodeToString(r.Report))
	}
	if len(r.Report) == 0 {
		return fmt.Sprintf("a bundle with the SHA-256 %v, which is not kept any longer", r.ReportHash)
	}
	return fmt.Sprintf("a bundle of %d bytes with the SHA-256 %v", len(r.Report), r.ReportHash)
}

// deliver sends what the wallet keeps.
func deliver(ctx context.Context, s streams, w *contribute.Wallet, to *sql.DB, p *contribute.Params, model collect.Model) error {
	send := func() error { return w.Send(ctx, to, p.UUID) }
	if model == collect.Shuffle {
		send = func() error { return w.SendBundle(ctx, to, p.UUID) }
	}
	if err := send(); err != nil {
		return fmt.Errorf("%w\nThe report is kept and charged%s", err, remedy(err))
	}
	kept, _ := w.Record(p.UUID)
	fmt.Fprintf(s.out, "arrived at %s%s\n", time.Now().UTC().Format(time.DateTime+" UTC"), unprotected(kept))
	return nil
}

// remedy says what may follow an error of sending.
func remedy(err error) string {
	var answer *contribute.Refused
	if errors.As(err, &answer) && !answer.Temporary() {
		return ", and was not taken"
	}
	return "; the same command sends it again, unchanged"
}

// wait waits until the report is due: when it is sent must not depend on how long it took to make.
func (r *randomizing) wait(ctx context.Context, s streams) error {
	due := r.dueAt
	if r.within > 0 {
		after, err := rand.Int(rand.Reader, big.NewInt(int64(r.within)))
		if err != nil {
			return err
		}
		due = time.Now().Add(time.Duration(after.Int64()))
	}
	if due.IsZero() || !due.After(time.Now()) {
		return nil
	}
	fmt.Fprintf(s.err, "scrim: sending at %s; ending this command before sends nothing, and the same command goes on\n", due.UTC().Format(time.DateTime+" UTC"))
	select {
	case <-time.After(time.Until(due)):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ended before the report was sent; it is kept, and the same command sends it: %w", ctx.Err())
	}
}
