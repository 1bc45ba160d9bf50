package contribute

import (
	"strings"
	"testing"
)

// TestExplain: what is said of each protocol has the probabilities of its randomiser.
func TestExplain(t *testing.T) {
	for _, x := range []struct {
		sample string
		round  int
		cell   uint32
		want   []string
	}{
		{"bit", 1, 0, []string{"17 bytes: one bit", "from 26.9 %, for a value of 0 or less, to 73.1 %, for 600 or more", "at most 2.718 times as likely", "at most 73.1 % sure", "everybody"}},
		{"kv2", 1, 3, []string{"one of 4 numbers", "the stretch of 8", "probability of 47.5 %, and each other one with 17.5 %"}},
		{"kv2", 2, 0, []string{"whether the value is at least -249.2", "true one with a probability of 73.1 %, and the other one with 26.9 %"}},
		{"kv1", 1, 12, []string{"even stretch, where stretches of 4", "62.2 %"}},
		{"uv2", 2, 0, []string{"for a value of 159.6 or less", "for 321.6 or more", "(NULL) is 30"}},
		{"uv2 laplace", 2, 0, []string{"between 159.6 and 321.6", "beyond 56.14 in either direction with a probability of 50.0 %"}},
		{"hier", 1, 4, []string{`stratum "north"`, "1024 bits", "in which of 1024 equal parts of 0 to 1", "50.0 %, each other one with 26.9 %"}},
		{"haar", 1, 1, []string{"random number below", "in which half of which of", "73.1 %"}},
		{"scm3", 1, 0, []string{"coordinate 0"}},
		{"scm3", 2, 0, []string{"distance from the published centre"}},
		{"scm3", 3, 0, []string{"random direction", "73.1 %"}},
		{"scm3 zcdp", 3, 0, []string{"8 numbers", "more than the epsilon of 1 that the collection is declared with", "length of 4", "standard deviation of", "fails with a probability of at most 1e-9"}},
		{"sum", 1, 0, []string{"sealed messages of 64 bytes", "random shares", "at least 8000 people", "at least 7200", "NOT protected", "separate operators"}},
		{"vec", 1, 0, []string{"ONE operator", "a vector of 2 times 0"}},
		{"nodes", 1, 0, []string{"padded to the same length", "2 of them say"}},
	} {
		p, _ := roundOf(t, planned(t, x.sample, someUUID), x.round)
		text, err := Explain(p, x.cell)
		if err != nil {
			t.Errorf("%s: %v", x.sample, err)
		}
		for _, want := range x.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, round %d, does not say %q:\n%s", x.sample, x.round, want, text)
			}
		}
		if strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
			t.Errorf("%s, round %d:\n%s", x.sample, x.round, text)
		}
	}
	if text, err := Explain(first(t, "bit"), 7); err == nil {
		t.Errorf("a cell that is none: %s", text)
	}
}
