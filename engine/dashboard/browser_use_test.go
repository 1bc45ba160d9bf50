package dashboard

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

func TestBrowserKeyboard(t *testing.T) {
	f := newFixture(t, true)
	b := newTab(t, f)
	b.login("root", "right")
	b.look(1280, "light")
	for _, p := range pagesOfFixture {
		b.open(p.path)
		want := eval[int](b, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")].filter((e) => e.getClientRects().length && !e.closest("details:not([open]) > :not(summary)")).length`)
		eval[int](b, `document.activeElement.blur(); window.seen = new Set(); window.unseen = [];
			document.addEventListener("focusin", (e) => { seen.add(e.target);
				const s = getComputedStyle(e.target); if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2) unseen.push(e.target.outerHTML.slice(0, 80)); }); 0`)
		for range want + 2 {
			b.do(chromedp.KeyEvent(kb.Tab))
		}
		if got := eval[int](b, "seen.size"); got < want {
			t.Errorf("%s: the keyboard reaches %d of %d: not %s", p.path, got, want, eval[string](b, `[...document.querySelectorAll("a[href], button, summary, [tabindex='0']")].filter((e) => e.getClientRects().length && !seen.has(e)).map((e) => e.outerHTML.slice(0, 80)).join("; ")`))
		}
		if unseen := eval[[]string](b, "unseen"); len(unseen) > 0 {
			t.Errorf("%s: the focus is not visible on %q", p.path, unseen)
		}
	}
	b.open("/")
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	if at := eval[string](b, "location.hash"); at != "#main" {
		t.Errorf("the first link leads to %q, want the content", at)
	}
	b.quiet()
}

// TestBrowserRefresh lets something happen while a page is open, with the focus and an opened table
// in it.
func TestBrowserRefresh(t *testing.T) {
	f := newFixture(t, true)
	b := newTab(t, f)
	b.login("root", "right")
	b.look(1280, "light")
	refresh := func() {
		b.t.Helper()
		// A page that was hidden is refreshed at once when it is shown again.
		eval[int](b, `(async () => { document.dispatchEvent(new Event("visibilitychange")); await new Promise((r) => setTimeout(r, 700)); return 0; })()`)
	}
	spend := func() {
		b.t.Helper()
		r, err := f.ledger.Reserve(b.ctx, accounting.Request{
			Principal: "dora@%", Statement: "SELECT 1", Charges: []accounting.Charge{{Account: "shop.orders", Table: "shop.orders", Loss: privacy.Loss{Rho: privacy.RhoOf(0.05)}}},
		})
		f.must(err)
		f.ledger.Finish(r, record.Answered)
	}
	const card = "#b-t-shop-orders----"
	amount := func() string { return eval[string](b, `document.querySelector("`+card+` .amount").textContent`) }
	first := amount()
	b.do(chromedp.Click(chromedp.CSS(card + " summary")))
	eval[int](b, `document.querySelector("#part-spenders a").focus(); window.same = document.activeElement; 0`)
	spend()
	refresh()
	second := amount()
	if second == first {
		t.Errorf("the amount still is %s", first)
	}
	if !eval[bool](b, `document.querySelector("`+card+` details").open`) {
		t.Error("the opened table was closed")
	}
	if !eval[bool](b, `document.activeElement === window.same && document.contains(window.same)`) {
		t.Error("the focus was lost")
	}
	eval[int](b, `document.querySelector("`+card+` h3 a").focus(); 0`)
	spend()
	refresh()
	if amount() != second {
		t.Error("the part with the focus was replaced")
	}
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	spend()
	refresh()
	if got := eval[string](b, `document.getElementById("pause").getAttribute("aria-pressed")`); got != "true" || amount() != second {
		t.Errorf("pressed: %s; the page was refreshed while paused", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	f.people.roles["root"] = ""
	refresh()
	if got := eval[string](b, `document.getElementById("refresh-status").textContent`); !strings.Contains(got, "logged out") {
		t.Errorf("after the end of the session the page says %q", got)
	}
	b.quiet("401")
}
