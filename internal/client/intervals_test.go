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

// TestIntervalsOfWhatHasThem: all items that are made of calls at once where that is the same, else
// those of which it is so one by one, and none where these are not together.
func TestIntervalsOfWhatHasThem(t *testing.T) {
	l, ok := ParseSelect("SELECT city, COUNT(*), UPPER(name), AVG(x) FROM v")
	if !ok {
		t.Fatal("not parsed")
	}
	for _, c := range []struct {
		name string
		same func(items ...int) bool
		want []int
	}{
		{"all", func(...int) bool { return true }, []int{1, 2, 3}},
		{"aggregates", func(items ...int) bool { return !slices.Contains(items, 2) }, []int{1, 3}},
		{"each but not together", func(items ...int) bool { return len(items) == 1 && items[0] != 2 }, nil},
		{"none", func(...int) bool { return false }, []int{}},
	} {
		if got := l.Intervals(c.same); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
