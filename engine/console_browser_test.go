package engine

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net/url"
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

// consoleShots is where pictures of the console are put, to be looked at.
var consoleShots = flag.String("shots", "", "directory for pictures of the console")

// browserCall is a command of the browser's protocol as an action.
func browserCall[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// TestConsoleInABrowser plays an analyst: a link is opened and not run, priced, run, and seen as a
// chart and a table, in light, in dark and at a phone's width. axe-core finds nothing, the page
// complains of nothing and asks nobody else.
func TestConsoleInABrowser(t *testing.T) {
	i := startWith(t, "", seeded(t, "console", 1), withHTTP)
	root := i.root()
	root.exec("CREATE DATABASE shop", "USE shop", "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL, region VARCHAR(8), amount DOUBLE)")
	rows := make([]string, 4000)
	for n := range rows {
		rows[n] = fmt.Sprintf("(%d, %d, '%s', %d)", n, n, []string{"north", "north", "south", "east", "west"}[n%5], n%90)
	}
	root.exec("INSERT INTO shop.orders VALUES "+strings.Join(rows, ", "), "CALL dp_protect('shop.orders', 'customer_id', 'customer')",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south","east","west"]')`,
		"CALL dp_set_budget('shop.orders', '*', 40, 1e-6, 'month')")
	ann := i.analyst(root, "ann", "shop")
	root.exec("CALL dp_set_budget('shop.orders', 'ann@%', 20, 1e-7, 'month')")

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Program(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.NoSandbox, // tests run as root in containers; the pages are our own
		chromedp.DisableGPU, chromedp.Flag("force-color-profile", "srgb"), chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(done)
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	do(browserCall(network.Enable, network.EnableParams{}), browserCall(log.Enable, cdp.Empty{}))
	base := "http://" + i.HTTPAddr().String()
	if err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				t.Errorf("the page complains: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base+"/") && !strings.HasPrefix(e.Request.URL, "about:") {
				t.Errorf("the page asked for %s", e.Request.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	evaluate := func(expression string) string {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return v
	}
	// until waits for a condition of the page.
	until := func(what string) {
		t.Helper()
		testenv.Until(t, 20*time.Second, what, func() bool { return evaluate("String(Boolean("+what+"))") == "true" })
	}
	do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(base+"/console"), chromedp.WaitVisible(chromedp.CSS("#password")))
	do(chromedp.SetValue(chromedp.CSS("#user"), "ann"), chromedp.SetValue(chromedp.CSS("#password"), "pw-ann"))
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS("button[type=submit]"))); err != nil {
		t.Fatal(err)
	}
	until(`document.querySelector("#tables details")`)
	statement := "SELECT region, COUNT(*) AS n\nFROM orders\nGROUP BY region"
	do(chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/console#"+url.Values{"db": {"shop"}, "q": {statement}}.Encode()))
	until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
	if text := evaluate(`document.querySelector(".cm-content").innerText + String(document.getElementById("linked").hidden)`); !strings.Contains(text, "GROUP BY region") || !strings.HasSuffix(text, "false") {
		t.Errorf("the link's statement is shown as %q", text)
	}
	do(chromedp.Click(chromedp.CSS("#price")))
	until(`document.getElementById("result").textContent.includes("fits")`)
	if n := ann.value("SELECT COUNT(*) FROM dp.ledger"); n != "0" {
		t.Errorf("a link or a price was charged: %s", n)
	}
	do(chromedp.Click(chromedp.CSS("#run")))
	until(`document.querySelectorAll("svg.chart .whisker").length === 4 && document.querySelectorAll("#result td").length === 16 && document.getElementById("told").textContent.includes("Cost:")`)
	until(`document.querySelector("#history .past")`)
	evaluate(`document.querySelector("#tables details").open = true; document.querySelector("#past").open = true; ""`)

	axe := axeCore(t)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"console", "light", 1280}, {"console-dark", "dark", 1280}, {"console-phone", "light", 400}} {
		do(chromedp.EmulateViewport(look.width, 900), browserCall(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}))
		if wide := evaluate("String(document.documentElement.scrollWidth)"); wide != fmt.Sprint(look.width) {
			t.Errorf("%s: the page is %s pixels wide", look.name, wide)
		}
		if bad := evaluate(axe + `; axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) =>
			r.passes.length < 15 ? "few rules ran" : r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join("; ")).join("\n"))`); bad != "" {
			t.Errorf("%s: axe-core finds %s", look.name, bad)
		}
		if *consoleShots != "" {
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(*consoleShots, look.name+".png"), picture, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	evaluate(`sessionStorage.setItem("statement", "SELECT amount FROM orders"); location.hash = ""; ""`)
	do(chromedp.Navigate(base + "/console"))
	until(`document.querySelector("#tables details")`)
	do(chromedp.Click(chromedp.CSS("#run")))
	until(`document.querySelector("#told .problem")`)
	if text := evaluate(`document.querySelector("#told .problem").textContent`); !strings.Contains(text, "45002") {
		t.Errorf("a refusal is told as %q", text)
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
