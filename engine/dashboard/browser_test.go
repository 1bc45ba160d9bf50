package dashboard

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"scrim/internal/testenv"
)

// shots is where pictures of the pages are put, to be looked at.
var shots = flag.String("shots", "", "directory for pictures of the pages")

// page is a tab of a headless Chromium, with what it complained of and what it asked for.
type tab struct {
	t   *testing.T
	ctx context.Context
	f   *fixture

	mu         sync.Mutex
	complaints []string
	asked      []string
}

// newTab starts a browser on the fixture.
func newTab(t *testing.T, f *fixture) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Program(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.NoSandbox, // tests run as root in containers; the pages are our own
		chromedp.DisableGPU,
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.UserDataDir(t.TempDir()),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, 6*time.Minute)
	t.Cleanup(done)
	b := &tab{t: t, ctx: ctx, f: f}
	b.do(
		call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}),
	)
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	return b
}

// note remembers what the console and the network tell.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.complaints = append(b.complaints, fmt.Sprint(e.Type, e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	}
}

// call is a command of the browser's protocol as an action.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// look sets the width and the colours that the reader likes.
func (b *tab) look(width int64, scheme string) {
	b.t.Helper()
	b.do(
		chromedp.EmulateViewport(width, 900),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
	)
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.f.web.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
}

func (b *tab) login(user, password string) {
	b.t.Helper()
	b.open("/login")
	b.do(
		chromedp.SetValue(chromedp.CSS("#user"), user), chromedp.SetValue(chromedp.CSS("#password"), password),
	)
	b.follow("main button[type=submit]")
}

// follow clicks on what leads to another page, and waits for that.
func (b *tab) follow(selector string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of an expression of the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// shoot takes a picture of the whole page when pictures are wanted.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// quiet checks that the pages complained of nothing and asked nobody else.
func (b *tab) quiet(allowed ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, c := range b.complaints {
		for _, a := range allowed {
			if strings.Contains(c, a) {
				continue next
			}
		}
		b.t.Errorf("the console says: %s", c)
	}
	if len(b.asked) == 0 {
		b.t.Error("no request was seen")
	}
	for _, u := range b.asked {
		if !strings.HasPrefix(u, b.f.web.URL+"/") && !strings.HasPrefix(u, "about:") {
			b.t.Errorf("the page asked for %s", u)
		}
	}
}

// pagesOfFixture are all pages, by a name for their picture.
var pagesOfFixture = []struct{ name, path string }{
	{"overview", "/"}, {"tables", "/tables"}, {"table", "/tables/shop.orders"}, {"table-day", "/tables/web.sessions"},
	{"table-never", "/tables/hr.salaries"}, {"table-pure", "/tables/clinic.visits"},
	{"entity", "/entities/customer"}, {"analysts", "/analysts"}, {"analyst", "/analysts/ann@%25"},
	{"ledger", "/ledger"}, {"refusals", "/refusals"}, {"server", "/server"},
}

func TestBrowserLogin(t *testing.T) {
	f := newFixture(t, false)
	b := newTab(t, f)
	b.login("root", "wrong")
	if at := eval[string](b, "location.pathname"); at != "/login" {
		t.Errorf("a wrong password led to %s", at)
	}
	if text := eval[string](b, "document.querySelector('[role=alert]').textContent"); !strings.Contains(text, "wrong") {
		t.Errorf("got %q, want a word about the password", text)
	}
	b.shoot("login-refused")
	b.login("root", "right")
	if got := eval[string](b, "location.pathname + document.querySelector('h1').textContent"); got != "/Overview" {
		t.Fatalf("the right password led to %s", got)
	}
	b.shoot("overview-empty")
	if c := eval[string](b, "document.cookie"); c != "" {
		t.Errorf("scripts can read the cookie %q", c)
	}
	b.follow(".who button")
	b.open("/")
	if at := eval[string](b, "location.pathname"); at != "/login" {
		t.Errorf("after the log-out / shows %s", at)
	}
	b.quiet("403") // the refused log-in
}

// contrasts returns the texts of the page whose contrast to what they stand on is below 4.5, large
// ones 3, by the formula of WCAG 2.
const contrasts = `(() => {
  const parse = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const over = (top, under) => { const a = top.length > 3 ? top[3] : 1; return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a)); };
  const ground = (e) => { const list = []; for (; e; e = e.parentElement) list.push(parse(getComputedStyle(e).backgroundColor));
    return list.reverse().reduce((u, t) => over(t, u), matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255]); };
  const light = (c) => c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (e.closest("title, details:not([open]) > :not(summary), option") || !e.getClientRects().length) continue;
    const s = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg");
    const under = ground(svg ? e.closest("svg").parentElement : e);
    const a = light(over(parse(svg ? s.fill : s.color), under)), b = light(under);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && s.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) bad.push(e.tagName + "." + e.getAttribute("class") + " " + ratio.toFixed(2) + " " + e.textContent.trim().slice(0, 40));
  }
  return bad;
})()`

func TestBrowserPages(t *testing.T) {
	f := newFixture(t, true)
	b := newTab(t, f)
	b.login("root", "right")
	axe := checker(t)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 400}, {"narrow-dark", "dark", 400}} {
		b.look(look.width, look.scheme)
		for i, p := range pagesOfFixture {
			if look.name == "narrow-dark" && i > 0 {
				break
			}
			b.open(p.path)
			b.shoot(p.name + "-" + look.name)
			if bad := eval[[]string](b, contrasts); len(bad) > 0 {
				t.Errorf("%s, %s: too little contrast: %q", p.path, look.name, bad)
			}
			if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > look.width {
				t.Errorf("%s, %s: the page is %d pixels wide", p.path, look.name, wide)
			}
			b.charts(p.path)
			if look.name == "light" || p.path == "/" && look.name == "narrow" {
				b.accessible(axe, p.path+", "+look.name)
			}
		}
	}
	b.quiet()
}

// charts checks that each chart that is shown has lines of some size, words, and a table that says
// the same.
func (b *tab) charts(path string) {
	b.t.Helper()
	type chart struct {
		Width, Height float64
		Label         string
		Empty, Table  bool
	}
	for _, c := range eval[[]chart](b, `[...document.querySelectorAll("svg.chart")].filter((c) => c.getClientRects().length).map((c) => ({
		Width: c.getBoundingClientRect().width, Height: c.getBoundingClientRect().height, Label: c.getAttribute("aria-label") || "",
		Empty: !c.querySelector("path.line, rect.bar"),
		Table: Boolean(c.closest("article, section").querySelector("details table caption")),
	}))`) {
		if c.Width < 250 || c.Height < 120 || len(c.Label) < 30 || c.Empty || !c.Table {
			b.t.Errorf("%s: a chart is %+v", path, c)
		}
	}
}

// checker returns axe-core, which finds what is wrong for readers with other means than eyes.
func checker(t *testing.T) string {
	t.Helper()
	packed, err := os.ReadFile("testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessible runs axe-core's rules for WCAG 2.2 A and AA and its best practices. Contrasts are
// tested on every page already.
func (b *tab) accessible(axe, where string) {
	b.t.Helper()
	eval[int](b, axe+"; 0")
	type result struct {
		Passes     int
		Violations []struct {
			ID, Help string
			At       []string
		}
	}
	r := eval[result](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: {"color-contrast": {enabled: false}}}).then((r) => ({
		passes: r.passes.length, violations: r.violations.map((v) => ({id: v.id, help: v.help, at: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))}))}))`)
	if len(r.Violations) > 0 {
		b.t.Errorf("%s: axe-core finds %+v", where, r.Violations)
	}
	if r.Passes < 15 {
		b.t.Errorf("%s: axe-core passes %d rules only: did it run?", where, r.Passes)
	}
}
