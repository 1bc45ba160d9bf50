package exact

import (
	"encoding/json"
	"math/big"
	"testing"
)

func TestEpsilonIsADecimal(t *testing.T) {
	for text, want := range map[string]Epsilon{
		"0.05": 500, "0.0501": 501, "0.5": 5000, "1": 10_000, "1.0": 10_000, "01.2500": 12_500, "8": 80_000, "8.0000": 80_000, "2.7183": 27_183,
	} {
		if got, err := ParseEpsilon(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", ".", ".5", "1.", "-1", "+1", "1e0", " 1", "1 ", "1,5", "0x1", "0.50000", "0.05001", "0.0499", "8.0001", "0", "9",
		"NaN", "Inf", "1.2.3", "429497.7296", "99999999999999999999999999", "0.٥",
	} {
		if got, err := ParseEpsilon(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestEpsilonTextIsItsOwn(t *testing.T) {
	for e := MinEpsilon; e <= MaxEpsilon; e += 37 {
		if got, err := ParseEpsilon(e.String()); err != nil || got != e {
			t.Fatalf("%d: %s is read as %d, %v", e, e, got, err)
		}
	}
	for e, want := range map[Epsilon]string{500: "0.05", 501: "0.0501", 5000: "0.5", 10_000: "1", 12_500: "1.25", 80_000: "8", 0: "0"} {
		if got := e.String(); got != want {
			t.Errorf("%d: got %s, want %s", e, got, want)
		}
	}
	if e := Epsilon(12_345); e.Rat().Cmp(big.NewRat(2469, 2000)) != 0 || e.Float() != 1.2345 {
		t.Errorf("got %v, %v", e.Rat(), e.Float())
	}
}

func TestEpsilonInJSON(t *testing.T) {
	type params struct {
		Epsilon Epsilon `json:"epsilon"`
	}
	if b, err := json.Marshal(params{5000}); err != nil || string(b) != `{"epsilon":"0.5"}` {
		t.Errorf("got %s, %v", b, err)
	}
	var p params
	if err := json.Unmarshal([]byte(`{"epsilon":"0.5"}`), &p); err != nil || p.Epsilon != 5000 {
		t.Errorf("got %v, %v", p, err)
	}
	for _, text := range []string{`{"epsilon":"0.50"}`, `{"epsilon":"00.5"}`, `{"epsilon":"9"}`, `{"epsilon":0.5}`} {
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if _, err := json.Marshal(params{}); err == nil {
		t.Error("epsilon 0 has a text")
	}
}
