package browser

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// reachable are what a keyboard has to reach.
const reachable = `[...document.querySelectorAll("a[href], button:not([disabled]), input:not([type=hidden]), select, summary, [tabindex='0'], [contenteditable=true]")]` +
	`.filter((e) => e.getClientRects().length && !e.closest("details:not([open]) > :not(summary)"))`

// Keyboard goes through the page with the Tab key, and checks that it reaches everything and that
// the focus is seen. What holds the Tab key, as an editor does, is left by Escape first.
func (b *Tab) Keyboard(where string) {
	b.t.Helper()
	want := Eval[int](b, `document.activeElement.blur(); window.seen = new Set(); window.unseen = [];
		document.addEventListener("focusin", (e) => { seen.add(e.target);
			const outlined = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2; };
			let x = e.target; while (x && x !== document.body && !outlined(x)) x = e.target.isContentEditable ? x.parentElement : null;
			if (!x || x === document.body) unseen.push(e.target.outerHTML.slice(0, 80)); }); `+reachable+`.length`)
	for range want + 3 {
		if Eval[bool](b, "document.activeElement.isContentEditable") {
			b.Do(chromedp.KeyEvent(kb.Escape))
		}
		b.Do(chromedp.KeyEvent(kb.Tab))
	}
	if missed := Eval[[]string](b, reachable+`.filter((e) => !seen.has(e)).map((e) => e.outerHTML.slice(0, 80))`); len(missed) > 0 {
		b.t.Errorf("%s: the keyboard does not reach %q", where, missed)
	}
	if unseen := Eval[[]string](b, "unseen"); len(unseen) > 0 {
		b.t.Errorf("%s: the focus is not visible on %q", where, unseen)
	}
}
