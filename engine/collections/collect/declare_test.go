package collect

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"scrim/internal/refuse"
)

func TestParseDeclaration(t *testing.T) {
	got, err := ParseDeclaration(LDPUV2, []byte(` {"epsilon" : "1.0","lo":0,"hi":"600","sigma_min":2e0,"sigma_max":120,"n_expected":2e5,
		"null_default":"30","strata":["north","south"],"option":"laplace"} `))
	want := Declaration{Epsilon: 10_000, Hi: 600, SigmaMin: 2, SigmaMax: 120, Expected: 200_000, NullDefault: []float64{30},
		Strata: []string{"north", "south"}, Option: "laplace"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	got, err = ParseDeclaration(ShufSCM3, []byte(`{"epsilon":0.05,"delta":"1e-6","dimension":"3","radius":1.5,"resolution":"-0.25","centre_norm":4,
		"null_default":[1,"-2.5",0],"trust":"separate","retry_of":"a.b","n_expected":"1000"}`))
	want = Declaration{Epsilon: 500, Delta: 1e-6, Dimension: 3, Radius: 1.5, Resolution: -0.25, Centre: 4, NullDefault: []float64{1, -2.5, 0},
		Trust: "separate", RetryOf: "a.b", Expected: 1000}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseDeclarationRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", ``, "JSON object"},
		{"null", `null`, "JSON object"},
		{"an array", `[]`, "JSON object"},
		{"cut short", `{"epsilon":1`, "JSON object"},
		{"something after", `{"epsilon":1} {}`, "JSON object"},
		{"key without a value", `{"epsilon"}`, "JSON object"},
		{"unknown key", `{"epsilon":1,"eps":2}`, "epsilon, n_expected, lo, hi, null_default, strata"},
		{"key of another protocol", `{"sigma":1}`, `LDP_BIT has no parameter "sigma"`},
		{"key in capitals", `{"Epsilon":1}`, "no parameter"},
		{"twice", `{"lo":1,"lo":1}`, "given twice"},
		{"five digits", `{"epsilon":0.50001}`, "four digits"},
		{"epsilon with an exponent", `{"epsilon":1e0}`, "four digits"},
		{"epsilon out of range", `{"epsilon":9}`, "0.05 to 8"},
		{"epsilon null", `{"epsilon":null}`, "epsilon"},
		{"a fraction of a person", `{"n_expected":10.5}`, "whole number"},
		{"negative people", `{"n_expected":-10}`, "whole number"},
		{"beyond a float", `{"lo":1e999}`, "finite"},
		{"NaN", `{"lo":"NaN"}`, "finite"},
		{"infinite", `{"lo":"-Inf"}`, "finite"},
		{"hexadecimal", `{"lo":"0x10"}`, "finite"},
		{"underscore", `{"lo":"1_0"}`, "finite"},
		{"empty text", `{"lo":""}`, "finite"},
		{"null", `{"lo":null}`, "finite"},
		{"true", `{"lo":true}`, "finite"},
		{"an object", `{"lo":{}}`, "finite"},
		{"no numbers", `{"null_default":[]}`, "numbers"},
		{"texts in numbers", `{"null_default":["x"]}`, "finite"},
		{"strata as a text", `{"strata":"north"}`, "array of texts"},
		{"too long", `{"lo":1` + strings.Repeat(" ", MaxParams) + `}`, "longer"},
	} {
		_, err := ParseDeclaration(LDPBit, []byte(c.text))
		var r *refuse.Error
		if !errors.As(err, &r) || r.Code != refuse.CollectionParameter || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a refusal that says %q", c.name, err, c.want)
		}
	}
	if _, err := ParseDeclaration("LDP_NONE", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "SHUF_SCM3") {
		t.Errorf("unknown protocol: %v, want the list of protocols", err)
	}
	if _, err := ParseDeclaration(ShufSum, []byte(`{"trust":1}`)); err == nil || !strings.Contains(err.Error(), "text") {
		t.Errorf("number for a text: %v", err)
	}
}

// TestKeys: every key has a reader, and every protocol has keys.
func TestKeys(t *testing.T) {
	for _, f := range fields {
		d := Declaration{}
		for _, v := range []string{`1`, `"separate"`, `["a"]`} {
			if read(f.key, f.of(&d).Addr().Interface(), []byte(v)) == nil {
				break
			}
		}
		if f.of(&d).IsZero() {
			t.Errorf("%s is not set after it was read", f.key)
		}
	}
	for _, info := range Protocols {
		if keys := Keys(info.Protocol); len(keys) < 6 {
			t.Errorf("%s has the keys %v", info.Protocol, keys)
		}
	}
}

func FuzzDeclaration(f *testing.F) {
	for i, s := range samples {
		f.Add(uint8(i), []byte(s.text))
	}
	f.Fuzz(func(t *testing.T, i uint8, text []byte) {
		p := Protocols[int(i)%len(Protocols)].Protocol
		d, err := ParseDeclaration(p, text)
		if err != nil {
			return
		}
		g, err := plan("survey.commute", someUUID, p, d)
		if err != nil {
			return
		}
		again, err := plan("survey.commute", someUUID, p, g.Declaration)
		if err != nil || !reflect.DeepEqual(again, g) {
			t.Errorf("planned again: %+v, %v, want %+v", again, err, g)
		}
	})
}
