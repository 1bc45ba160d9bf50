package dashboard

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/test/testenv/browser"
)

func TestBrowserKeyboard(t *testing.T) {
	f := newFixture(t, true)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "right")
	b.Look(1280, 800, "light")
	for _, p := range pagesOfFixture {
		b.Open(p.path)
		b.Keyboard(p.path)
	}
	b.Open("/")
	b.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	if at := browser.Eval[string](b, "location.hash"); at != "#main" {
		t.Errorf("the first link leads to %q, want the content", at)
	}
	b.Quiet()
}

// TestBrowserCopies: the button beside a statement copies it, by keyboard too; where the page may
// not use the clipboard, the statement is selected.
func TestBrowserCopies(t *testing.T) {
	f := newFixture(t, true)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "right")
	b.Open("/tables")
	browser.Eval[int](b, `window.copied = ""; Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (t) => { window.copied = t; } } });
		document.querySelector("#part-undeclared button.copy").focus(); 0`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	const want = "CALL dp_protect('web.uploads', 'unit_column', 'entity');"
	b.Until(`document.getElementById("copy-status").textContent.includes("copied")`)
	if got := browser.Eval[string](b, "window.copied"); got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	browser.Eval[int](b, `navigator.clipboard.writeText = async () => { throw new Error("closed"); }; 0`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Until(`document.getElementById("copy-status").textContent.includes("selected")`)
	if got := browser.Eval[string](b, "getSelection().toString()"); got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	b.Quiet()
}

// TestBrowserRefresh lets something happen while a page is open, with the focus and an opened table
// in it.
func TestBrowserRefresh(t *testing.T) {
	f := newFixture(t, true)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "right")
	b.Look(1280, 800, "light")
	b.Open("/tables/shop.orders")
	refresh := func() {
		t.Helper()
		// A page that was hidden is refreshed at once when it is shown again.
		browser.Eval[int](b, `(async () => { document.dispatchEvent(new Event("visibilitychange")); await new Promise((r) => setTimeout(r, 700)); return 0; })()`)
	}
	spend := func() {
		t.Helper()
		r, err := f.ledger.Reserve(b.Ctx, accounting.Request{
			Principal: "dora@%", Statement: "SELECT 1", Charges: []accounting.Charge{{Account: "shop.orders", Table: "shop.orders", Loss: privacy.Loss{Rho: privacy.RhoOf(0.05)}}},
		})
		f.must(err)
		f.ledger.Finish(r, record.Answered)
	}
	const card = "#b-t-shop-orders----"
	amount := func() string {
		return browser.Eval[string](b, `document.querySelector("`+card+` .amount").textContent`)
	}
	first := amount()
	b.Do(chromedp.Click(chromedp.CSS(card + " summary")))
	browser.Eval[int](b, `document.querySelector("#part-spenders a").focus(); window.same = document.activeElement; 0`)
	spend()
	refresh()
	second := amount()
	if second == first {
		t.Errorf("the amount still is %s", first)
	}
	if !browser.Eval[bool](b, `document.querySelector("`+card+` details").open`) {
		t.Error("the opened table was closed")
	}
	if !browser.Eval[bool](b, `document.activeElement === window.same && document.contains(window.same)`) {
		t.Error("the focus was lost")
	}
	browser.Eval[int](b, `document.querySelector("`+card+` summary").focus(); 0`)
	spend()
	refresh()
	if amount() != second {
		t.Error("the part with the focus was replaced")
	}
	b.Do(chromedp.Click(chromedp.CSS("#pause")))
	spend()
	refresh()
	if got := browser.Eval[string](b, `document.getElementById("pause").getAttribute("aria-pressed")`); got != "true" || amount() != second {
		t.Errorf("pressed: %s; the page was refreshed while paused", got)
	}
	b.Do(chromedp.Click(chromedp.CSS("#pause")))
	f.people.roles["root"] = ""
	refresh()
	if got := browser.Eval[string](b, `document.getElementById("refresh-status").textContent`); !strings.Contains(got, "logged out") {
		t.Errorf("after the end of the session the page says %q", got)
	}
	b.Quiet("401")
}
