package browser

import (
	"context"
	"flag"
	"fmt"
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

	"scrim/test/testenv"
)

// shots is where pictures of the pages are put, to be looked at.
var shots = flag.String("shots", "", "directory for pictures of the pages")

// Tab is one of a headless Chromium.
type Tab struct {
	Ctx  context.Context
	Base string // scheme and host of the only server that pages may ask

	t          testing.TB
	mu         sync.Mutex
	complaints []string
	asked      []string
}

// Open starts a browser for the pages of a server, for as long as the test runs.
func Open(t testing.TB, base string) *Tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Program(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.NoSandbox, // tests run as root in containers; the pages are our own
		chromedp.DisableGPU,
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("ignore-certificate-errors", true), // of the test's own certificate
		chromedp.UserDataDir(t.TempDir()),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, 6*time.Minute)
	t.Cleanup(done)
	b := &Tab{Ctx: ctx, Base: base, t: t}
	b.Do(Call(network.Enable, network.EnableParams{}), Call(log.Enable, cdp.Empty{}), Call(runtime.Enable, cdp.Empty{}))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	return b
}

// note remembers what the console and the network tell.
func (b *Tab) note(event any) {
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

// Call is a command of the browser's protocol as an action.
func Call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// Watch sees each request from now on.
func (b *Tab) Watch(see func(*network.EventRequestWillBeSent)) {
	b.t.Helper()
	if err := chromedp.Listen(b.Ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			see(e)
		}
	}); err != nil {
		b.t.Fatal(err)
	}
}

// Do runs actions.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.Ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Look sets the size of the window and the colours that the reader likes.
func (b *Tab) Look(width, height int64, scheme string) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, height), Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))
}

// Open shows a page of the server.
func (b *Tab) Open(path string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(b.Base+path), chromedp.WaitVisible(chromedp.CSS("main")))
}

// Login fills in the form of a page.
func (b *Tab) Login(path, user, password string) {
	b.t.Helper()
	b.Open(path)
	b.Do(chromedp.SetValue(chromedp.CSS("#user"), user), chromedp.SetValue(chromedp.CSS("#password"), password))
	b.Follow("main button[type=submit]")
}

// Follow clicks on what leads to another page, and waits for that.
func (b *Tab) Follow(selector string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.Ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.t.Fatal(err)
	}
}

// Click clicks.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Eval returns the value of an expression of the page.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// Until waits until an expression of the page is true.
func (b *Tab) Until(what string) {
	b.t.Helper()
	testenv.Until(b.t, 20*time.Second, what, func() bool { return Eval[bool](b, "Boolean("+what+")") })
}

// Shoot takes a picture when pictures are wanted: of the whole page, or of what the window shows.
func (b *Tab) Shoot(name string, whole bool) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	action := chromedp.CaptureScreenshot()
	if whole {
		action = chromedp.FullScreenshot(100)
	}
	picture, err := chromedp.Run(b.Ctx, action)
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Narrow checks that the page is no wider than the window.
func (b *Tab) Narrow(where string, width int64) {
	b.t.Helper()
	if wide := Eval[int64](b, "document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("%s: the page is %d pixels wide, and the window %d", where, wide, width)
	}
}

// Quiet checks that the pages complained of nothing, but of what holds one of the allowed texts,
// and asked nobody else.
func (b *Tab) Quiet(allowed ...string) {
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
		if !strings.HasPrefix(u, b.Base+"/") && !strings.HasPrefix(u, "about:") && !strings.HasPrefix(u, "data:,") {
			b.t.Errorf("the page asked for %s", u)
		}
	}
}
