package contribute

import (
	"database/sql/driver"
	"strings"
	"testing"

	"scrim/engine/collections/collect/seal"
)

// TestConsent: where one operator runs shuffler and server nothing is made or charged unless the
// person has agreed, and the wallet keeps that the value is not protected against the operator.
func TestConsent(t *testing.T) {
	p, _ := roundOf(t, planned(t, "vec", someUUID), 1)
	shape, print := seal.ShapeOf(p), p.Fingerprint()
	server := servingParams(t, p)
	shuffler := pool(t, &fakeServer{pins: [][]byte{print[:]}, accept: func(_ string, args []driver.NamedValue) error {
		_, err := shape.Check(args[1].Value.([]byte))
		return err
	}})
	w, token := newWallet(t), tokenOf(p, 0, 1)
	err := w.Contribute(t.Context(), server, shuffler, "commute", token, Vector(1, 1))
	if refusedWith(t, err, "COLLECTION_PARAMETER"); !strings.Contains(err.Error(), "--accept-trusted-operator") || !strings.Contains(err.Error(), "contribute.TrustedOperator") {
		t.Errorf("the remedy is not said: %v", err)
	}
	if _, err := w.Bundle(pinOf(p), p, token, Vector(1, 1), Consent("another")); Code(err) != "COLLECTION_PARAMETER" {
		t.Errorf("another consent: %v", err)
	}
	if len(w.Records()) != 0 || shuffler.fake.sent() != 0 {
		t.Fatalf("%d reports were made and %d sent without consent", len(w.Records()), shuffler.fake.sent())
	}
	if err := w.Contribute(t.Context(), server, shuffler, "commute", token, Vector(1, 1), TrustedOperator); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = walletAt(t, w.Path())
	if r := w.Records()[0]; !r.Trusted || r.Protected() != "others, NOT the operator" {
		t.Errorf("the wallet keeps %+v, protected against %s", r, r.Protected())
	}
	if err := w.Contribute(t.Context(), server, shuffler, "commute", token, Vector(1, 1)); err != nil {
		t.Errorf("what was made needs no second consent: %v", err)
	}
}

// TestNoConsentNeeded: separate operators and the local model ask for none, and the wallet says
// what protects.
func TestNoConsentNeeded(t *testing.T) {
	p, _ := roundOf(t, planned(t, "sum", someUUID), 1)
	w := newWallet(t)
	if _, err := w.Bundle(pinOf(p), p, tokenOf(p, 0, 1), Number(1)); err != nil {
		t.Fatal(err)
	}
	withLocal(t, w)
	for i, want := range []string{"server or shuffler alone", "everybody"} {
		if r := w.Records()[i]; r.Trusted || r.Protected() != want {
			t.Errorf("%s is protected against %s, want %s", r.Protocol, r.Protected(), want)
		}
	}
}
