package dashboard

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/observe/watch"
)

func TestPagesNeedALogin(t *testing.T) {
	f := newFixture(t, true)
	c := f.browser()
	for _, p := range append(slices.Clone(pagesOfFixture), struct{ name, path string }{"nothing", "/nothing"}) {
		status, page, h := f.get(c, p.path)
		if status != http.StatusSeeOther || h.Get("Location") != "/login" || strings.Contains(page, "shop.") {
			t.Errorf("%s: got %d to %q", p.path, status, h.Get("Location"))
		}
		r, _ := http.NewRequest("GET", f.web.URL+p.path, nil)
		r.Header.Set("X-Refresh", "1")
		answer, err := c.Do(r)
		f.must(err)
		if status, _, _ := f.read(answer); status != http.StatusUnauthorized {
			t.Errorf("%s: a refresh gets %d", p.path, status)
		}
	}
}

// TestPagesHaveNothingInline holds the pages to the content security policy, which no browser of
// this test enforces.
func TestPagesHaveNothingInline(t *testing.T) {
	f := newFixture(t, true)
	c := f.member()
	inline := regexp.MustCompile(`(?i)<style|<script(?: [^>]*)?>[^<]|\sstyle=|\son[a-z]+=|javascript:|https?://`)
	for _, p := range pagesOfFixture {
		status, page, h := f.get(c, p.path)
		if status != http.StatusOK {
			t.Errorf("%s: got %d", p.path, status)
		}
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s holds %q", p.path, found)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", p.path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", p.path, name, h.Get(name), want)
			}
		}
	}
	for _, file := range []string{"app.css", "app.js", "icon.svg"} {
		if status, text, _ := f.get(c, "/assets/"+file); status != http.StatusOK || strings.Contains(text, "https://") {
			t.Errorf("%s: got %d", file, status)
		}
	}
	if status, _, _ := f.get(c, "/assets/"); status == http.StatusOK {
		t.Error("the files are listed")
	}
}

func TestPagesShowWhatHappened(t *testing.T) {
	f := newFixture(t, true)
	f.recent.Statement(watch.Event{
		At: fixtureNow, ID: "evil", Outcome: watch.Refused, Cause: "RAW_ROWS", Principal: "<script>alert(1)</script>@%",
		Statement: "SELECT `<img src=x onerror=alert(1)>` FROM shop.orders", Tables: []string{"shop.orders"},
	})
	c := f.member()
	for path, words := range map[string][]string{
		"/":                         {"clinic.visits", "Used up until 1 Nov", "At this rate used up", "CALL dp_set_budget(&#39;shop.returns&#39;, &#39;*&#39;, 8, 1e-6, &#39;month&#39;);", "ben@%", "BUDGET_EXHAUSTED", "tuesday", "2 days"},
		"/budgets":                  {"web.sessions", "SELECT * FROM dp.budgets;"},
		"/tables":                   {"0 questions left at the default loss", "shop.products", "No total budget", "its own budget", "CALL dp_protect(&#39;web.uploads&#39;, &#39;unit_column&#39;, &#39;entity&#39;);", "CALL dp_public(&#39;web.uploads&#39;);"},
		"/ledger?lacking=yes":       {"3 of 12 values NULL for too few persons"},
		"/tables/shop.orders":       {"30 questions left at the default loss", "agreed with the data protection officer", "more of that kind fit", "CALL dp_alter_budget(&#39;shop.orders&#39;, &#39;*&#39;, &#39;{&#34;epsilon&#34;: 16}&#39;", "the role marketing", "Proven of what was spent: ε ", "limit 0.5", "discrete Gaussian", "&lt;img"},
		"/tables/web.sessions":      {"today, until 23 Oct"},
		"/tables/hr.salaries":       {"a person is each row", "not used up before"},
		"/entities/customer":        {"shop.baskets", "ε 10 at δ 2e-6"},
		"/analysts":                 {"dora@%", "of all", "etl@%"},
		"/analysts/ann@%25":         {"by the default budget", "PRIVILEGE"},
		"/ledger?principal=ann@%25": {"ann@%", "Older entries"},
		"/ledger?kind=set-budget":   {"budget of role:marketing: ρ 0.5"},
		"/refusals":                 {"Ask with a smaller dp_epsilon", "&lt;script&gt;", "SYNTAX", "could not be parsed", "&lt;img"},
		"/server":                   {"7 of at most 256", "3.0 MiB", "30 hours", "Scrim 0.1.0", "40.0 GiB free", "123.0 MiB", "tuesday, 20 Oct 2026 14:20 UTC", "without TLS", "own certificate, which ends 22 Oct 2027"},
	} {
		status, page, _ := f.get(c, path)
		for _, w := range words {
			if status != http.StatusOK || !strings.Contains(page, w) {
				t.Errorf("%s: got %d without %q", path, status, w)
			}
		}
		if strings.Contains(page, "<img src=x") || strings.Contains(page, "<script>alert") {
			t.Errorf("%s shows a statement as a part of the page", path)
		}
	}
	if _, page, _ := f.get(c, "/ledger?principal=ann@%25"); strings.Contains(page, "ben@%") {
		t.Error("the filter of the ledger lets others through")
	}
	for _, path := range []string{"/tables/no.such", "/entities/nothing", "/analysts/nobody", "/analysts/nobody@%25", "/nothing"} {
		if status, page, _ := f.get(c, path); status != http.StatusNotFound || !strings.Contains(page, "no such page") {
			t.Errorf("%s: got %d", path, status)
		}
	}
}

func TestLedgerPages(t *testing.T) {
	f := newFixture(t, true)
	c := f.member()
	entry := regexp.MustCompile(`<th scope="row" class="n">(\d+)</th>`)
	older := regexp.MustCompile(`href="(/ledger\?[^"]*before=[^"]*)">Older`)
	seen, path := map[string]bool{}, "/ledger?kind=charge"
	for pages := 0; path != "" && pages < 20; pages++ {
		_, page, _ := f.get(c, path)
		for _, m := range entry.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("entry %s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := older.FindStringSubmatch(page); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if want := 5*40 + 9; len(seen) != want {
		t.Errorf("the pages show %d charges, want %d", len(seen), want)
	}
}

// TestPressingCountsBudgetsOfPrincipals: a principal's budget that is used up counts.
func TestPressingCountsBudgetsOfPrincipals(t *testing.T) {
	f := newFixture(t, true)
	count := func() int {
		t.Helper()
		facts, err := f.facts(t.Context())
		f.must(err)
		lines, _, err := facts.lines(looked, notDefault)
		f.must(err)
		return len(pressing(lines))
	}
	before := count()
	f.must(f.ledger.SetBudget(t.Context(), budget.Budget{
		Account: "shop.orders", Principal: "ann@%", Rho: privacy.RhoOf(1e-9), Delta: 1e-9, Window: budget.Never, SetBy: "root@%"}))
	if got := count(); got != before+1 { // ann has spent more than that already
		t.Errorf("got %d with a principal's budget used up, want %d", got, before+1)
	}
}

// TestSizesAreForDBAs: an auditor is not told what follows from the number of rows.
func TestSizesAreForDBAs(t *testing.T) {
	f := newFixture(t, true)
	f.disk.Free = f.disk.Reserve
	for user, told := range map[string]bool{"root": true, "otto": false} {
		c := f.browser()
		f.login(c, user, "right")
		for path, word := range map[string]string{"/server": "123.0 MiB", "/": "1.0 GiB left"} {
			if status, page, _ := f.get(c, path); status != http.StatusOK || strings.Contains(page, word) != told {
				t.Errorf("%s sees %s with status %d; %q is there: %v, want %v", user, path, status, word, !told, told)
			}
		}
	}
}

// TestLackingAnswers: answers that were empty or NULL are counted, and listed alone.
func TestLackingAnswers(t *testing.T) {
	f := newFixture(t, true)
	facts, err := f.facts(t.Context())
	f.must(err)
	l, err := facts.lacking(fixtureNow.AddDate(0, 0, -30))
	f.must(err)
	all, err := f.ledger.Entries(t.Context(), accounting.Filter{Kinds: []accounting.EntryKind{accounting.ChargeEntry}})
	f.must(err)
	want := Lacking{Of: len(all)}
	for _, e := range all {
		if e.Remark != "" { // the fixture's remarks are all of NULL
			want.Count++
		}
	}
	if l != want || l.Count == 0 {
		t.Errorf("got %+v, want %+v", l, want)
	}
	list, before, err := facts.lackingOf(accounting.Filter{Descending: true}, 5)
	f.must(err)
	if len(list) != 5 || before != list[4].ID {
		t.Fatalf("got %d entries, and the rest before %d", len(list), before)
	}
	for _, c := range list {
		if !strings.Contains(c.Remark, "NULL") {
			t.Errorf("entry %d is listed with the remark %q", c.ID, c.Remark)
		}
	}
}
