package contribute

import (
	"slices"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// Consent is what a person agrees to where a collection protects less than its model could.
type Consent string

// TrustedOperator agrees to a collection of the shuffle model of which one operator runs shuffler
// and server, "trust": "same_operator": whoever has both can read the value, so that it is
// protected against others only.
const TrustedOperator Consent = "trusted operator"

// Trusting tells whether parameters ask their contributors to trust one operator with their values.
func Trusting(p *Params) bool { return p.Declaration.Trust == "same_operator" }

// agreed refuses parameters whose person has not agreed to what they leave unprotected.
func agreed(p *Params, to []Consent) error {
	if !Trusting(p) || slices.Contains(to, TrustedOperator) {
		return nil
	}
	return refuse.New(refuse.CollectionParameter, "ONE operator runs the shuffler and the server of %.130q, and can read your value.", p.Collection).
		With("Nothing was made or sent. If you trust this operator with your value, agree: scrim randomize --accept-trusted-operator, in Go contribute.TrustedOperator.")
}

// Protected says in a few words against whom the report's value is protected.
func (r *Record) Protected() string {
	switch {
	case r.Trusted:
		return "others, NOT the operator"
	case r.Model() == collect.Shuffle:
		return "server or shuffler alone"
	}
	return "everybody"
}
