package dashboard

import (
	"strings"
	"testing"

	"scrim/test/testenv/browser"
)

// pagesOfFixture are all pages, by a name for their picture.
var pagesOfFixture = []struct{ name, path string }{
	{"overview", "/"}, {"budgets", "/budgets"}, {"tables", "/tables"}, {"table", "/tables/shop.orders"}, {"table-day", "/tables/web.sessions"},
	{"table-never", "/tables/hr.salaries"}, {"table-pure", "/tables/clinic.visits"},
	{"entity", "/entities/customer"}, {"analysts", "/analysts"}, {"analyst", "/analysts/ann@%25"},
	{"ledger", "/ledger"}, {"refusals", "/refusals"}, {"server", "/server"},
}

func TestBrowserLogin(t *testing.T) {
	f := newFixture(t, false)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "wrong")
	if at := browser.Eval[string](b, "location.pathname"); at != "/login" {
		t.Errorf("a wrong password led to %s", at)
	}
	if text := browser.Eval[string](b, "document.querySelector('[role=alert]').textContent"); !strings.Contains(text, "wrong") {
		t.Errorf("got %q, want a word about the password", text)
	}
	b.Shoot("login-refused", true)
	b.Login("/login", "root", "right")
	if got := browser.Eval[string](b, "location.pathname + document.querySelector('h1').textContent"); got != "/Overview" {
		t.Fatalf("the right password led to %s", got)
	}
	b.Shoot("overview-empty", true)
	if c := browser.Eval[string](b, "document.cookie"); c != "" {
		t.Errorf("scripts can read the cookie %q", c)
	}
	b.Follow(".who button")
	b.Open("/")
	if at := browser.Eval[string](b, "location.pathname"); at != "/login" {
		t.Errorf("after the log-out / shows %s", at)
	}
	b.Quiet("403") // the refused log-in
}

// looks are the widths and schemes in which pages are looked at.
var looks = []struct {
	name, scheme string
	width        int64
}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 390}, {"narrow-dark", "dark", 390}}

func TestBrowserPages(t *testing.T) {
	f := newFixture(t, true)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "right")
	for _, look := range looks {
		b.Look(look.width, 800, look.scheme)
		for i, p := range pagesOfFixture {
			if look.name == "narrow-dark" && i > 0 {
				break
			}
			where := p.path + ", " + look.name
			b.Open(p.path)
			b.Shoot(p.name+"-"+look.name, true)
			b.Contrasts(where)
			b.Narrow(where, look.width)
			charts(t, b, p.path)
			if look.name == "light" || p.path == "/" && look.name == "narrow" {
				b.Accessible(where, false) // contrasts are tested on every page already
			}
			if high := browser.Eval[int](b, "document.documentElement.scrollHeight"); p.path == "/" && look.width == 1280 && high > 800 {
				t.Errorf("%s: the first page is %d pixels high, want one screen", where, high)
			}
		}
	}
	b.Quiet()
}

// charts checks that each chart that is shown has lines of some size, words, and a table that says
// the same.
func charts(t *testing.T, b *browser.Tab, path string) {
	t.Helper()
	type chart struct {
		Width, Height float64
		Label         string
		Empty, Table  bool
	}
	for _, c := range browser.Eval[[]chart](b, `[...document.querySelectorAll("svg.chart")].filter((c) => c.getClientRects().length).map((c) => ({
		Width: c.getBoundingClientRect().width, Height: c.getBoundingClientRect().height, Label: c.getAttribute("aria-label") || "",
		Empty: !c.querySelector("path.line, rect.bar"),
		Table: Boolean(c.closest("article, section").querySelector("details table caption")),
	}))`) {
		if c.Width < 250 || c.Height < 95 || len(c.Label) < 30 || c.Empty || !c.Table {
			t.Errorf("%s: a chart is %+v", path, c)
		}
	}
}
