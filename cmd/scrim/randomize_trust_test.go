package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/contribute"
)

// TestOneOperatorIsShown: every output about a collection whose operator can read the values says
// so, and --dry-run what it wants.
func TestOneOperatorIsShown(t *testing.T) {
	d, err := collect.ParseDeclaration(collect.ShufSum, []byte(`{"epsilon":1,"delta":1e-9,"lo":0,"hi":1,"n_expected":10000,"trust":"same_operator"}`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := collect.Plan("survey.steps", "11111111-2222-4333-8444-555555555555", collect.ShufSum, d)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Params(1, "", collect.Published{}, bytes.Repeat([]byte{9}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := streams{out: &out, err: &out}
	kept := contribute.Record{Collection: "survey.steps", Protocol: collect.ShufSum, State: contribute.Pending, Trusted: true}
	for name, write := range map[string]func(r *randomizing){
		"dry run":      func(r *randomizing) { fatal(t, r.rehearse(s, p)) },
		"sent again":   func(r *randomizing) { r.found(s, kept) },
		"arrived":      func(r *randomizing) { k := kept; k.State = contribute.Acknowledged; r.found(s, k) },
		"given up":     func(r *randomizing) { k := kept; k.State = contribute.Abandoned; r.found(s, k) },
		"what is made": func(r *randomizing) { out.WriteString(heading(p, r.parsedToken)) },
	} {
		for _, agreed := range []bool{false, true} {
			out.Reset()
			write(&randomizing{wallet: filepath.Join(t.TempDir(), "wallet"), trustOperator: agreed})
			if !strings.Contains(out.String(), oneOperator) {
				t.Errorf("%s does not say it: %s", name, out.String())
			}
			if asks := strings.Contains(out.String(), "--accept-trusted-operator"); name == "dry run" && asks == agreed {
				t.Errorf("agreed %v: %s", agreed, out.String())
			}
		}
	}
	if own := (contribute.Record{Protocol: collect.LDPBit}); unprotected(own) != "" {
		t.Errorf("a local report has %q", unprotected(own))
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
