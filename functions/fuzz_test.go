package functions

import (
	"testing"

	"scrim/internal/refuse"
)

// FuzzOptions: a text is a refusal, or options that are in range.
func FuzzOptions(f *testing.F) {
	for _, s := range []string{"", "lower=0, upper=1", "epsilon=1e-6", "WEIGHT = row,,", "method=auto", "rho=Inf", "lower=1e999,upper=2e999", "=", "a=b=c", "sigma=[1, 2], p=1.5", "sigma=[[1]", "dimension=3, answer=vector"} {
		f.Add(s)
	}
	fn, _ := ByName("DP_MEAN")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOptions(fn, text)
		if err != nil {
			if e, ok := refuse.As(err); !ok || e.Code != refuse.Option {
				t.Fatalf("%q: %v is no refusal", text, err)
			}
			return
		}
		if (o.Lower == nil) != (o.Upper == nil) || o.Lower != nil && o.Lower.Cmp(o.Upper) >= 0 ||
			!(o.Epsilon == 0 || o.Epsilon >= 1e-6 && o.Epsilon <= 100) || !(o.Rho == 0 || o.Rho >= 1e-12 && o.Rho <= 100) || o.Epsilon > 0 && o.Rho > 0 ||
			o.Dimension < 0 || o.Dimension > MaxOnehot || !(o.P == 0 || o.P >= 1 && o.P <= 100) || !(o.Radius >= 0) || !(o.SigmaMin >= 0 && o.SigmaMax >= 0) {
			t.Fatalf("%q: %+v", text, o)
		}
	})
}
