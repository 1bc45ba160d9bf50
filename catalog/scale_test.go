package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestScales(t *testing.T) {
	for text, want := range map[string][]float64{"2.5": {2.5}, " [1, 2e3, 0.5] ": {1, 2000, 0.5}, "null": nil, "[1e-9,1e18]": {1e-9, 1e18}} {
		if got, err := ParseScale(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "[", "[]", "{}", "0", "-1", "[1, 0]", `"1"`, `["1"]`, "[1,]", "[1] 2", "1e999", "NaN", "[null]", "true", "[[1]]", "1e-10", "1e19",
		strings.Repeat(" ", maxScaleJSON+1), "[" + strings.Repeat("1,", maxScales) + "1]"} {
		if _, err := ParseScale(bad); err == nil {
			t.Errorf("%.80s was accepted", bad)
		} else {
			refused(t, err, "a number above 0")
		}
	}
}

func TestSetScale(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.SetScale(shop, "shop.orders", "Amount", "[1, 2]"))
	if got := c.Snapshot().Table("shop.orders").Scales["amount"]; !slices.Equal(got, []float64{1, 2}) {
		t.Fatalf("got %v", got)
	}
	if uses := c.Snapshot().Uses("shop.orders", "amount"); !slices.Contains(uses, "a column with declared scales") {
		t.Errorf("the column may be dropped: %v", uses)
	}
	before := c.Snapshot().revision
	ok(t, c.SetScale(shop, "shop.orders", "amount", "[1,2]"))
	if c.Snapshot().revision != before {
		t.Error("the same scales count as a change")
	}
	refused(t, c.SetScale(shop, "shop.orders", "nothing", "1"))
	refused(t, c.SetScale(shop, "shop.nothing", "amount", "1"))
	reopened(t, c)
	ok(t, c.SetScale(shop, "shop.orders", "amount", "null"))
	if got := c.Snapshot().Table("shop.orders").Scales; len(got) != 0 {
		t.Errorf("got %v after null", got)
	}
}
