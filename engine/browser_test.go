package engine

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"scrim/internal/testenv"
)

// shots is where pictures of pages are put, to be looked at.
var shots = flag.String("shots", "", "directory for pictures of the pages")

// browserCall is a command of the browser's protocol as an action.
func browserCall[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// browser is a page in Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// openBrowser starts Chromium. The page may complain of nothing but answers that refuse, and may
// ask nobody but base; asked sees each request.
func openBrowser(t *testing.T, base string, asked func(*network.EventRequestWillBeSent), flags ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Program(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.NoSandbox, // tests run as root in containers; the pages are our own
		chromedp.DisableGPU, chromedp.Flag("force-color-profile", "srgb"), chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(done)
	b := &browser{t, ctx}
	b.do(browserCall(network.Enable, network.EnableParams{}), browserCall(log.Enable, cdp.Empty{}))
	if err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Source != log.EntrySourceNetwork && (e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning) {
				t.Errorf("the page complains: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base+"/") && !strings.HasPrefix(e.Request.URL, "about:") && !strings.HasPrefix(e.Request.URL, "data:,") {
				t.Errorf("the page asked for %s", e.Request.URL)
			}
			if asked != nil {
				asked(e)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) evaluate(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.300s: %v", expression, err)
	}
	return v
}

// until waits for a condition of the page.
func (b *browser) until(what string) {
	b.t.Helper()
	testenv.Until(b.t, 20*time.Second, what, func() bool { return b.evaluate("String(Boolean("+what+"))") == "true" })
}

// looks has the page in light, in dark and at a phone's width: it fits, axe-core finds nothing, and
// a picture is kept where it was asked for.
func (b *browser) looks(name string) {
	b.t.Helper()
	axe := axeCore(b.t)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{name, "light", 1280}, {name + "-dark", "dark", 1280}, {name + "-phone", "light", 400}} {
		b.do(chromedp.EmulateViewport(look.width, 900), browserCall(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}))
		if wide := b.evaluate("String(document.documentElement.scrollWidth)"); wide != fmt.Sprint(look.width) {
			b.t.Errorf("%s: the page is %s pixels wide", look.name, wide)
		}
		if bad := b.evaluate(axe + `; axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) =>
			r.passes.length < 15 ? "few rules ran" : r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join("; ")).join("\n"))`); bad != "" {
			b.t.Errorf("%s: axe-core finds %s", look.name, bad)
		}
		if *shots != "" {
			picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(*shots, look.name+".png"), picture, 0o644)
			}
			if err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// axeCore returns axe-core, which finds what is wrong for readers with other means than eyes.
func axeCore(t *testing.T) string {
	t.Helper()
	f, err := os.Open("dashboard/testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
