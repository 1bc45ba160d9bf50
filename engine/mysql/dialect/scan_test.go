package dialect

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// cut gives the tokens of a text, joined.
func cut(src string, mode Mode) string {
	tokens, end, edits := scan(src, mode, nil)
	s := statement{src: src, tokens: tokens}
	var out []string
	for i := range tokens {
		out = append(out, s.text(i))
	}
	if len(edits) > 0 {
		out = append(out, "(edited)")
	}
	if end < len(src) {
		out = append(out, "(more)")
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	ansi, plain := Mode{AnsiQuotes: true}, Mode{NoBackslash: true}
	for _, c := range []struct {
		src  string
		mode Mode
		want string
	}{
		{"", Mode{}, ""},
		{"a,`b``c`.d", Mode{}, "a , `b``c` . d"},
		{`'it''s \' x' "q""\"" z`, Mode{}, `'it''s \' x' "q""\"" z`},
		{`"q""x" 'y'`, ansi, `"q""x" 'y'`},
		{`'a\' 'b'`, plain, `'a\' 'b'`},
		{`'a\' 'b'`, Mode{}, `'a\' ' b '`},
		{"SELECT`id`FROM`t`", Mode{}, "SELECT `id` FROM `t`"},
		{"a -- x ; y\n b # z\n c /* ; */ d--", Mode{}, "a b c d"},
		{"5--1", Mode{}, "5 - - 1 (edited)"},
		{"a;b", Mode{}, "a (more)"},
		{"'a;b';", Mode{}, "'a;b' (more)"},
		{"a /*!40101 b, 'x*/' */ c", Mode{}, "a b , 'x*/' c"},
		{"a /*! b */ /*!80100 c */ /*!050700 d */ e", Mode{}, "a b d e (edited)"},
		{"/*M!999999\\- sandbox */ a", Mode{}, "a (edited)"},
		{"/*+ SET_VAR(x='*') */ a", Mode{}, "a"},
		{"@x := @@a.b + @`y z` @'q'", Mode{}, "@x := @@a . b + @`y z` @'q'"},
		{"1.5e-3 .5 1e5 0x1F 0b01 1a t.1a t.5", Mode{}, "1.5e-3 .5 1e5 0x1F 0b01 1a t . 1a t . 5"},
		{"a<=>b->>'c'->'d'||e!=f<>g", Mode{}, "a <=> b ->> 'c' -> 'd' || e != f <> g"},
		{"größe a$b", Mode{}, "größe a$b"},
		{"'open", Mode{}, "'open"},
		{"`open", Mode{}, "`open"},
		{"/* open", Mode{}, "/* open"},
		{`'x\`, Mode{}, `'x\`},
		{"a\vb", Mode{}, "a b (edited)"},
	} {
		if got := cut(c.src, c.mode); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// FuzzScan compares the tokens with those of vitess' tokenizer on texts that both read: as many,
// and names, numbers and words in the same order. No text makes the scanner fail.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"SELECT a, `b`, 'c\\'d', 1.5 FROM t WHERE x <= 3", "a /*!40101 b */ c -- d\n e", "@x := 'y' \"z\" 0x1F", "t.1a .5 1e3 'un"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, m := range []Mode{{}, {AnsiQuotes: true}, {NoBackslash: true}} {
			tokens, end, _ := scan(src, m, nil)
			last := 0
			for _, k := range tokens {
				if k.start < last || k.end <= k.start || k.end > len(src) {
					t.Fatalf("%q: token %d:%d after %d", src, k.start, k.end, last)
				}
				last = k.end
			}
			if end > len(src) {
				t.Fatalf("%q ends at %d", src, end)
			}
		}
		if strings.ContainsAny(src, "\\\v\f$;:!?@#/-*") || strings.IndexFunc(src, func(r rune) bool { return r >= 0x80 || r < ' ' }) >= 0 {
			return // what is read otherwise on purpose
		}
		compare(t, src)
	})
}

// compare cuts a text with both.
func compare(t *testing.T, src string) {
	tokens, _, _ := scan(src, Mode{}, nil)
	s := statement{src: src, tokens: tokens}
	tkn := ast.NewStringTokenizer(src)
	for i := 0; ; i++ {
		typ, val := tkn.Scan()
		if typ == ast.LEX_ERROR || i < len(tokens) && tokens[i].kind == wrong {
			return
		}
		if typ == 0 {
			if i < len(tokens) {
				t.Fatalf("%q: vitess ends before %q", src, s.text(i))
			}
			return
		}
		if i >= len(tokens) {
			t.Fatalf("%q: vitess has %q more", src, val)
		}
		if tokens[i].kind != word && tokens[i].kind != number || typ == ast.STRING || typ == ast.HEX || typ == ast.BIT_LITERAL || typ == ast.FOR_SYSTEM_TIME || typ == ast.FOR_VERSION || typ == ast.NOT_ENFORCED {
			return // vitess joins what stands apart, or takes quotes off
		}
		if len(val) > 0 && s.text(i) != string(val) {
			t.Fatalf("%q: token %d is %q, and %q for vitess", src, i, s.text(i), val)
		}
	}
}

// FuzzMend reads any text: nothing panics, and what is adjusted and parses gets the client's words
// back.
func FuzzMend(f *testing.F) {
	for _, s := range []string{
		"SELECT @x := a + 1 AS b, {fn f(c)} FROM t USE INDEX (p) GROUP BY a WITH ROLLUP", "DESCRIBE t '%'; SELECT 1", "SET PASSWORD FOR a@b = 'c'",
		"CREATE VIEW v AS SELECT {d '2020-01-01'} AS d", "(SELECT ROW(1,2) IS NOT UNKNOWN)", "DO 1, (2", "SELECT \"a\\\"b\" INTERVAL(1,2",
	} {
		f.Add(s)
	}
	p := Parser(sql.NewMysqlParser(), Forms...)
	f.Fuzz(func(t *testing.T, src string) {
		for _, m := range []Mode{{}, {AnsiQuotes: true, HighNotPrecedence: true}, {NoBackslash: true}} {
			adjusted, changed, err := p.adjust(src, m, Caller{"ann", "%"}, true)
			if err != nil || !changed {
				continue
			}
			if s, err := ast.Parse(adjusted.text); err == nil {
				_, _ = adjusted.tree(s, nil)
			}
		}
	})
}

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
