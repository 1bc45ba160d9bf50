package contribute

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
	"scrim/test/testenv"
)

// TestSend: the report goes into the collection's table, and is then acknowledged and not sent
// again.
func TestSend(t *testing.T) {
	p := first(t, "bit")
	db := servingParams(t, p)
	w := newWallet(t)
	token := tokenOf(p, 0, 1)
	for range 3 {
		if err := w.Contribute(t.Context(), db, nil, "commute", token, Number(3)); err != nil {
			t.Fatal(err)
		}
	}
	r, ok := w.Record(p.UUID)
	if !ok || r.State != Acknowledged || len(db.fake.inserts) != 1 {
		t.Fatalf("%+v, %d statements", r, len(db.fake.inserts))
	}
	want := insert{"INSERT INTO `dp_in`.`commute` (token, report) VALUES (?, ?)", string(token.Secret[:]), string(r.Report)}
	if got := db.fake.inserts[0]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if cell, _, err := p.DecodeReport(r.Report); err != nil || cell != 0 {
		t.Errorf("report: %v", err)
	}
}

// TestSendAgain: lost connections, lost answers and a busy server lead to the same bytes again.
func TestSendAgain(t *testing.T) {
	p := first(t, "haar")
	db := servingParams(t, p)
	db.fake.failures = []error{errFake, errors.New("Error 1040: Too many connections"), errFake}
	db.fake.lost = true
	w := newWallet(t)
	if err := w.Contribute(t.Context(), db, nil, "commute", tokenOf(p, 0, 1), Number(0.3)); err != nil {
		t.Fatal(err)
	}
	if n := len(db.fake.inserts); n != 4 {
		t.Fatalf("%d statements", n)
	}
	for _, i := range db.fake.inserts {
		if i != db.fake.inserts[0] {
			t.Errorf("got %q, want %q", i, db.fake.inserts[0])
		}
	}
}

// TestSendRefused: what the server refuses is not sent again by itself, stays pending and charged,
// and goes out unchanged when asked.
func TestSendRefused(t *testing.T) {
	p := first(t, "haar")
	db := servingParams(t, p)
	db.fake.failures = []error{errors.New("Error 1644 (45D22): The token has brought another report already. \x1b[31mNobody\nreports twice.")}
	db.fake.lost = true
	w := newWallet(t)
	err := w.Contribute(t.Context(), db, nil, "commute", tokenOf(p, 0, 1), Number(0.3))
	var r *Refused
	if !errors.As(err, &r) || r.Number != 1644 || r.SQLState != "45D22" || r.Temporary() || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("got %v", err)
	}
	refusedWith(t, err, "SPENT_TOKEN")
	if n := len(db.fake.inserts); n != 1 {
		t.Errorf("%d statements", n)
	}
	if kept := w.Records()[0]; kept.State != Pending || w.Spent().Epsilon != 10_000 {
		t.Errorf("%+v, spent %v", kept, w.Spent())
	}
	if err := w.Send(t.Context(), db, p.UUID); err != nil {
		t.Fatal(err)
	}
	if i := db.fake.inserts; i[0] != i[1] {
		t.Errorf("got %q, want %q", i[1], i[0])
	}
}

// TestSendGivesUp: a certificate that does not verify is not tried again, nor what the context has
// ended.
func TestSendGivesUp(t *testing.T) {
	p := first(t, "bit")
	db := servingParams(t, p)
	w := newWallet(t)
	if _, err := w.Report(p, tokenOf(p, 0, 1), Number(3)); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	untrusted := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	db.fake.failures = []error{fmt.Errorf("dial: %w", untrusted), nil}
	if err := w.Send(t.Context(), db, p.UUID); !errors.As(err, &untrusted) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	db.fake.failures = []error{errFake, errFake, errFake, errFake, errFake, errFake}
	if err := w.Send(ctx, db, p.UUID); !errors.Is(err, errFake) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if waited := time.Since(start); waited > time.Minute {
		t.Errorf("waited %v", waited)
	}
	if w.Records()[0].State != Pending {
		t.Error("acknowledged")
	}
	if err := w.Send(t.Context(), db, otherUUID); err == nil {
		t.Error("sent what is not there")
	}
}

// TestSendBundle: a bundle goes to a shuffler that has pinned its fingerprint, and to nobody else.
func TestSendBundle(t *testing.T) {
	p, _ := roundOf(t, planned(t, "sum", someUUID), 1)
	server := servingParams(t, p)
	w := newWallet(t)
	token := tokenOf(p, 0, 1)
	refusedWith(t, w.Contribute(t.Context(), server, nil, "commute", token, Number(1)), "COLLECTION_STATE")
	if len(w.Records()) != 0 {
		t.Error("charged without a shuffler to send to")
	}
	stranger := pool(t, &fakeServer{pins: [][]byte{make([]byte, 32)}})
	refusedWith(t, w.Contribute(t.Context(), server, stranger, "commute", token, Number(1)), "MALFORMED_REPORT")
	if n := stranger.fake.sent() + server.fake.sent(); n != 0 {
		t.Fatalf("%d statements to who had pinned nothing", n)
	}
	if len(w.Records()) != 0 || w.Spent().Epsilon != 0 {
		t.Fatalf("parameters that nobody has pinned cost %v and bind %d reports", w.Spent(), len(w.Records()))
	}
	if _, err := w.Bundle(Pin{}, p, token, Number(1)); Code(err) != "MALFORMED_REPORT" || len(w.Records()) != 0 {
		t.Errorf("a bundle without a pin: %v", err)
	}
	if _, err := w.Bundle(pinOf(p), p, token, Number(1)); err != nil {
		t.Fatal(err)
	}
	refusedWith(t, w.Contribute(t.Context(), server, stranger, "commute", token, Number(1)), "MALFORMED_REPORT")
	if err := w.Send(t.Context(), server, p.UUID); Code(err) != "COLLECTION_STATE" || server.fake.sent() != 0 {
		t.Errorf("a bundle goes to the server: %v", err)
	}
	shape := seal.ShapeOf(p)
	print := p.Fingerprint()
	shuffler := pool(t, &fakeServer{pins: [][]byte{print[:]}, accept: func(_ string, args []driver.NamedValue) error {
		_, err := shape.Check(args[1].Value.([]byte))
		return err
	}})
	for range 2 {
		if err := w.Contribute(t.Context(), server, shuffler, "commute", token, Number(1)); err != nil {
			t.Fatal(err)
		}
	}
	if i := shuffler.fake.inserts; len(i) != 1 || i[0].statement != "INSERT INTO inbox (token, bundle) VALUES (?, ?)" || i[0].token != string(token.Secret[:]) {
		t.Errorf("%d statements", len(i))
	}
	if refusedWith(t, w.SendBundle(t.Context(), shuffler, withLocal(t, w)), "COLLECTION_STATE"); shuffler.fake.sent() != 1 {
		t.Error("a local report goes to the shuffler")
	}
}

// TestOneShuffler: a bundle that may have reached one shuffler goes to no other, also after the
// wallet was closed.
func TestOneShuffler(t *testing.T) {
	p, _ := roundOf(t, planned(t, "sum", someUUID), 1)
	server, print := servingParams(t, p), p.Fingerprint()
	down := errors.New("connection lost")
	first := pool(t, &fakeServer{pins: [][]byte{print[:]}, failures: slices.Repeat([]error{down}, 100), lost: true})
	second := pool(t, &fakeServer{pins: [][]byte{print[:]}, id: strings.Repeat("5", 32)})
	nobody := pool(t, &fakeServer{pins: [][]byte{print[:]}, id: "no identity"})
	w, token := newWallet(t), tokenOf(p, 0, 1)
	refusedWith(t, w.Contribute(t.Context(), server, nobody, "commute", token, Number(1)), "MALFORMED_REPORT")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tried := make(chan error, 1)
	go func() { tried <- w.Contribute(ctx, server, first, "commute", token, Number(1)) }()
	testenv.Until(t, time.Minute, "a bundle at the first shuffler", func() bool { return first.fake.sent() > 0 })
	stop()
	if err := <-tried; err == nil {
		t.Fatal("arrived")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = walletAt(t, w.Path())
	refusedWith(t, w.Contribute(t.Context(), server, second, "commute", token, Number(1)), "COLLECTION_STATE")
	if second.fake.sent()+nobody.fake.sent() != 0 || first.fake.sent() == 0 {
		t.Errorf("%d bundles at the first shuffler, %d at the second", first.fake.sent(), second.fake.sent())
	}
	first.fake.mu.Lock()
	first.fake.failures = nil
	first.fake.mu.Unlock()
	if err := w.Contribute(t.Context(), server, first, "commute", token, Number(1)); err != nil || w.Records()[0].State != Acknowledged {
		t.Errorf("sent again to the first: %v", err)
	}
}

// withLocal has a wallet report to a local collection and returns its uuid.
func withLocal(t *testing.T, w *Wallet) string {
	p := withUUID(t, "bit", otherUUID)
	if _, err := w.Report(p, tokenOf(p, 0, 9), Number(1)); err != nil {
		t.Fatal(err)
	}
	return p.UUID
}

// TestBadInput: NULL, NaN and infinite values are reported as what they count for, and look like
// any other.
func TestBadInput(t *testing.T) {
	for _, name := range []string{"bit", "uv2", "hier", "scm3"} {
		p := first(t, name)
		for i, v := range []Value{Null(), Number(nan), Number(infinite), Number(-infinite), Vector(), Vector(1, nan), make(Value, 5000)} {
			w := InMemory(generous(t))
			report, err := w.Report(p, tokenOf(p, 0, byte(i)), v)
			if err != nil {
				t.Errorf("%s, %v: %v", name, v, err)
				continue
			}
			if _, _, err := p.DecodeReport(report); err != nil || len(report) != collect.HeaderSize+p.Cells[0].PayloadSize() {
				t.Errorf("%s, %v: %d bytes, %v", name, v, len(report), err)
			}
		}
	}
}
