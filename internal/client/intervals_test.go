package client

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestSelectLists: the cases are those of the clients in Python and R, too, which read select lists
// by themselves.
func TestSelectLists(t *testing.T) {
	b, err := os.ReadFile("testdata/select.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Query, Extended string
		Items           []string
		With            []int
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		l, ok := ParseSelect(c.Query)
		if ok != (c.Items != nil) || ok && !slices.Equal(l.Items, c.Items) {
			t.Errorf("%s: got %v, %q, want %q", c.Query, ok, l.Items, c.Items)
			continue
		}
		if ok && l.WithIntervals(c.With...) != c.Extended {
			t.Errorf("%s:\ngot  %q\nwant %q", c.Query, l.WithIntervals(c.With...), c.Extended)
		}
	}
}
