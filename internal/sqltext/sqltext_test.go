package sqltext

import "testing"

func TestQuotes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Name("a`b"), "`a``b`"},
		{Name(`a"b\`), "`a\"b\\`"},
		{Text(`it's a\b` + "\x00"), `'it''s a\\b\0'`},
		{StoreName(`a"b` + "`"), "\"a\"\"b`\""},
		{StoreText(`it's a\b`), `'it''s a\b'`},
		{StoreTable("s", `t"`), `"s"."t"""`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
