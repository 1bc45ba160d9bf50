package aggregate

import (
	"fmt"
	"math/big"
	"testing"

	"scrim/functions"
)

// TestOptionsText: what is kept under the text of a plan stays found.
func TestOptionsText(t *testing.T) {
	for _, o := range []functions.Options{{}, {Lower: big.NewRat(-1, 2), Upper: big.NewRat(7, 1)}, {Upper: new(big.Rat)}} {
		if got, want := OptionsText(o), fmt.Sprintf("%+v", o); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
