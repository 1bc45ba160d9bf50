package lower_test

import (
	"regexp"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/lower"
)

// TestPatterns compares the store's matching of rewritten patterns with Go's of the originals.
func TestPatterns(t *testing.T) {
	b := newBinder(t)
	db := openStore(t)
	texts := []string{"", "a", "A", "abc", "a\nb", "a'b", `a\b`, "żółć", "🤷", "x1", "foo bar", "\n", "a.b", "-", "K", "]"}
	for _, p := range []string{"a", "a|b", "^a$", "[a-c]+", "[^a]", ".", "(?s).", "(?i)A", "(?i)[k]", "a*", "(a|b)?c", "a{2,}", "a{0,1}b", `\d`, `\s`, `\bfoo\b`, `'`, `[']`, `\\`,
		`[\]]`, "ż", "[ó-ż]", "🤷", `\x{61}`, "a.b", "a\\.b", "[[:upper:]]", `\p{L}`, `[^\x00-\x7F]`, "(?:)", "a+?", `\A`, `\z`, "x{1,3}[0-9]"} {
		re := regexp.MustCompile(p)
		for _, s := range texts {
			e, err := function.NewRegexpLike(b.ctx, expression.NewLiteral(s, types.LongText), expression.NewLiteral(p, types.LongText))
			if err != nil {
				t.Fatal(err)
			}
			var args lower.Binder
			x, err := lower.Lower(b.ctx, e, &args, resolve)
			if err != nil {
				t.Errorf("%q: %v", p, err)
				break
			}
			var got bool
			if err := db.QueryRow("SELECT "+x.SQL, args.Args()...).Scan(&got); err != nil {
				t.Errorf("%q: %v", p, err)
				break
			}
			if want := re.MatchString(s); got != want {
				t.Errorf("%q on %q: %v, want %v (%s)", p, s, got, want, x.SQL)
			}
		}
	}
	for _, p := range []string{`[\x{D800}-\x{DFFF}]`, "(", "a**b(?=c)", `(a)\1`} {
		e, _ := function.NewRegexpLike(b.ctx, expression.NewLiteral("a", types.LongText), expression.NewLiteral(p, types.LongText))
		if _, err := lower.Lower(b.ctx, e, &lower.Binder{}, resolve); err == nil {
			t.Errorf("%q passed", p)
		}
	}
}
