package collect

import (
	"strings"
	"testing"
)

// TestPaidIsNamed: where a round costs more than the declared epsilon the declaration names it, or
// a collection is refused at its declaration and its parameters by devices.
func TestPaidIsNamed(t *testing.T) {
	const vectors = `"dimension":8,"radius":56.5,"resolution":0.4,"n_expected":1000000`
	for _, tt := range []struct {
		protocol Protocol
		declared string
		refused  string // what the refusal says
	}{
		{LDPSCM3, `{"epsilon":1,"option":"zcdp",` + vectors + `}`, "epsilon 4.8023 with delta 1e-09, more than the declared 1. Name it in the declaration, \"pays_epsilon\": 4.8023"},
		{LDPSCM3, `{"epsilon":1,"option":"zcdp","pays_epsilon":4.8,` + vectors + `}`, "pays_epsilon is 4.8, and contributors pay 4.8023."},
		{LDPSCM3, `{"epsilon":1,"pays_epsilon":4.8023,` + vectors + `}`, "contributors pay the declared epsilon"},
		{LDPSCM3, `{"epsilon":1,"option":"zcdp","pays_epsilon":4.8023,` + vectors + `}`, ""},
		{LDPSCM3, `{"epsilon":1,"option":"gauss","delta":1e-9,` + vectors + `}`, ""},
		{LDPSCM3, `{"epsilon":1,` + vectors + `}`, ""},
		{LDPHier, `{"epsilon":1,"lo":0,"hi":1,"levels":6,"n_expected":1000000,"option":"zcdp"}`, ""},
	} {
		d, err := ParseDeclaration(tt.protocol, []byte(tt.declared))
		if err != nil {
			t.Fatal(err)
		}
		g, err := Plan("survey.named", "11111111-2222-4333-8444-555555555555", tt.protocol, d)
		if err == nil {
			err = g.CheckNamed()
		}
		if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%s: %v, want %q", tt.declared, err, tt.refused)
		}
	}
}

// TestDevicesRefuseAnUnnamedLoss: parameters of round 3 that a server made from a declaration of an
// older version.
func TestDevicesRefuseAnUnnamedLoss(t *testing.T) {
	named := sampleRound(t, "scm3 zcdp", 3)
	if err := named.Verify(); err != nil {
		t.Fatal(err)
	}
	unnamed := named.Clone()
	unnamed.Declaration.Pays = 0
	if err := unnamed.Verify(); err == nil || !strings.Contains(err.Error(), "cost epsilon 4.8023 with delta 1e-09") {
		t.Errorf("got %v", err)
	}
	first := sampleRound(t, "scm3 zcdp", 1).Clone()
	first.Declaration.Pays = 0
	if err := first.Verify(); err != nil {
		t.Errorf("round 1 costs what is declared: %v", err)
	}
}
