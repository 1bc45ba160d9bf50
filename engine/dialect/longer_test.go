package dialect

import (
	"strings"
	"testing"
)

func TestLonger(t *testing.T) {
	for _, src := range []string{"", ";", "SELECT", "SELECT a.1b, 'x;y', `z` FROM t /* c, d */ WHERE @@a.b = 0x1F -- e\n; SELECT 1, 2, 3", "SELECT 1" + strings.Repeat(", .5", 500), "SELECT 'open"} {
		tokens, _, _ := scan(src, Mode{}, nil)
		for _, most := range []int{len(tokens) - 1, len(tokens), len(tokens) + 1} {
			if got, want := Longer(src, Mode{}, most), len(tokens) > most; most >= 0 && got != want {
				t.Errorf("%.60q has %d tokens: more than %d is %v", src, len(tokens), most, got)
			}
		}
	}
}
