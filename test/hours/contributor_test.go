package hours

import (
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"scrim/test/testenv/browser"
)

// contribute is the contributor's hour: a link, an answer, and one row of one bit.
func contribute(h *hour, s *site) {
	b := browser.Open(h.t, "http://"+s.contribute)
	b.Look(1280, 900, "light")
	start := time.Now()
	visible := func(id string) string {
		h.t.Helper()
		b.Until(fmt.Sprintf("!document.getElementById(%q).hidden", id))
		return browser.Eval[string](b, fmt.Sprintf("document.getElementById(%q).innerText", id))
	}
	lap := func(what, typed, said string) {
		h.done(what, typed, time.Since(start), first(said))
		start = time.Now()
	}
	open := func(link string) {
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
		b.Until(`document.readyState === "complete" && document.getElementById("status").textContent === ""`)
	}
	press := func(id string) {
		browser.Eval[int](b, fmt.Sprintf("document.getElementById(%q).click(); 0", id))
	}
	link := strings.NewReplacer("127.0.0.1:8443", s.contribute).Replace(s.link)
	open(link)
	asked := visible("ask")
	if !strings.Contains(asked, "How many minutes is your way to work?") {
		h.t.Errorf("the page asks %q", asked)
	}
	lap("opens the link", "", asked)
	b.Shoot("contributor", true)
	press("randomise")
	wrong := visible("wrong")
	h.reads(wrong)
	lap("answers nothing", "", wrong)
	browser.Eval[int](b, `document.getElementById("value").value = "37.5"; 0`)
	press("randomise")
	lap("answers", "37.5", visible("made"))
	b.Shoot("contributor-made", true)
	press("send")
	lap("sends", "", visible("thanks"))
	open(link)
	again := visible("already")
	h.reads(again)
	lap("opens the link again", "", again)
	h.actual = s.actual
	if n := s.stored(h); n != "1" {
		h.t.Errorf("%s rows are stored", n)
	}
	b.Quiet("Failed to load resource")
}

// stored is how many reports there are, as the DBA sees.
func (s *site) stored(h *hour) string {
	out, errs, code := h.runs(`SCRIM_PASSWORD='choose one' scrim sql --format csv -e 'SELECT COUNT(*) AS n FROM survey.minutes'`)
	if code != 0 {
		h.t.Fatalf("exit code %d: %s", code, errs)
	}
	return last(out, "")
}
