package catalog

import (
	"fmt"
	"testing"

	"scrim/internal/refuse"
)

// FuzzDomain: a text is a refusal, or a domain that its written form gives back.
func FuzzDomain(f *testing.F) {
	for _, s := range []string{`["a","b",null]`, `[1,2.5,-0.0]`, `{"min":0,"max":1e3}`, `{"table":"t","column":"c"}`, `[1e400]`, `["\ud800"]`, "null"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDomain(text)
		if err != nil {
			if e, ok := refuse.As(err); !ok || e.Code != refuse.Policy {
				t.Fatalf("%q: %v is no refusal", text, err)
			}
			return
		}
		again, err := ParseDomain(d.String())
		if err != nil || fmt.Sprintf("%#v", again.Values) != fmt.Sprintf("%#v", d.Values) || again.String() != d.String() {
			t.Fatalf("%q: written as %q, read back as %q, %v", text, d, again, err)
		}
	})
}
