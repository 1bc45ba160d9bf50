package engine

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"scrim/internal/selfsigned"
	"scrim/test/testenv/browser"
)

// certified gives a server a certificate of its own, and contributors a socket.
func certified(t *testing.T) func(*Config) {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := selfsigned.Make(cert, key, "survey", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.TLSCert, c.TLSKey, c.ContributeListen = cert, key, "127.0.0.1:0" }
}

// asking is a page of a contributor in Chromium, and what it has sent.
type asking struct {
	*browser.Tab
	t    *testing.T
	root *client
	mu   sync.Mutex
	sent []*network.EventRequestWillBeSent
}

func startAsking(t *testing.T) *asking {
	t.Helper()
	i := start(t, "", certified(t))
	a := &asking{Tab: browser.Open(t, "https://"+i.ContributeAddr().String()), t: t, root: i.root()}
	t.Cleanup(func() { a.Quiet("Failed to load resource") })
	a.root.exec("CREATE DATABASE survey",
		`CALL dp_create_collection('survey.minutes', 'LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 400, "null_default": 30}')`,
		`CALL dp_create_collection('survey.way', 'LDP_HIER', '{"epsilon": 2, "lo": 0, "hi": 4, "levels": 1, "n_expected": 400}')`,
		`CALL dp_create_collection('survey.tired', 'LDP_BIT', '{"epsilon": 1.5, "lo": 0, "hi": 1, "n_expected": 400}')`)
	a.Watch(func(e *network.EventRequestWillBeSent) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sent = append(a.sent, e)
	})
	return a
}

// links issues links of a collection, with a question and choices, and opens it.
func (a *asking) links(collection string, n int, question string, choices ...string) (list []string) {
	a.t.Helper()
	page, err := json.Marshal(map[string]any{"url": a.Base, "question": question, "choices": choices})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, row := range a.root.query(fmt.Sprintf("CALL dp_issue_links('%s', %d, '%s')", collection, n, strings.ReplaceAll(string(page), `\`, `\\`))) {
		list = append(list, row[0])
	}
	a.root.exec("CALL dp_open_collection('" + collection + "')")
	return list
}

// show opens a link anew.
func (a *asking) show(link string) {
	a.t.Helper()
	a.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	a.Until(`document.readyState === "complete" && document.getElementById("status").textContent === ""`)
}

func (a *asking) evaluate(expression string) string {
	a.t.Helper()
	return browser.Eval[string](a.Tab, expression)
}

// looks has the page in light, in dark and at a phone's width.
func (a *asking) looks(name string) {
	a.t.Helper()
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{name, "light", 1280}, {name + "-dark", "dark", 1280}, {name + "-phone", "light", 400}} {
		a.Look(look.width, 900, look.scheme)
		a.Narrow(look.name, look.width)
		a.Accessible(look.name, true)
		a.Shoot(look.name, true)
	}
}

// forget makes the browser another one, which has reported nothing.
func (a *asking) forget() { a.evaluate(`localStorage.clear(); ""`) }

func (a *asking) visible(id string) {
	a.t.Helper()
	a.Until(`!document.getElementById("` + id + `").hidden`)
}

func (a *asking) text(id string) string {
	a.t.Helper()
	return a.evaluate(`document.getElementById("` + id + `").innerText`)
}

func (a *asking) press(selector string) {
	a.t.Helper()
	a.evaluate(`document.querySelector('` + selector + `').click(); ""`)
}

// stored returns the last byte of each report of a collection.
func (a *asking) stored(collection string) (bits []string) {
	a.t.Helper()
	for _, row := range a.root.query("SELECT RIGHT(HEX(report), 2) FROM survey." + collection) {
		bits = append(bits, row[0])
	}
	return bits
}

// TestPageInABrowser plays contributors who open their links: it is explained, asked, randomised
// once, shown, sent and thanked for, over HTTPS; axe-core finds nothing.
func TestPageInABrowser(t *testing.T) {
	a := startAsking(t)
	minutes := a.links("minutes", 2, "How many minutes is your way to work?")
	a.Do(chromedp.EmulateViewport(1280, 900))
	a.show(minutes[0])
	a.visible("ask")
	for _, want := range []string{"survey.minutes at 127.0.0.1", "Your answer does not leave this device", "at most 2.718 times as likely", "73.1 %", "26.9 %", "the mean of everybody’s answers"} {
		if text := a.text("explained"); !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if text := a.text("ask"); !strings.Contains(text, "How many minutes is your way to work?") || !strings.Contains(text, "an answer of 30") || !strings.Contains(text, "ε = 1 together.") {
		t.Errorf("the question is asked as %q", text)
	}
	a.evaluate(`document.getElementById("account").open = true; ""`)
	a.looks("report")
	a.press("#randomise")
	a.visible("wrong")
	a.evaluate(`document.getElementById("value").value = "37,5"; ""`)
	a.press("#randomise")
	a.visible("made")
	body := a.evaluate(`document.getElementById("body").textContent`)
	a.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(minutes[0])) // the coins are not tossed again
	a.visible("made")
	if again := a.evaluate(`document.getElementById("body").textContent`); again != body || len(body) != len(`{"token":"","report":""}`)+32+24 {
		t.Errorf("the report was %s, and is %s", body, again)
	}
	if all := a.evaluate(`document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`); strings.Contains(all, "37,5") || strings.Contains(all, "37.5") {
		t.Error("the answer is kept")
	}
	a.looks("report-made")
	shown := a.text("kept")
	a.press("#send")
	a.visible("thanks")
	if bits := a.stored("minutes"); len(bits) != 1 || !strings.HasSuffix(shown, "bit "+bits[0][1:]+".") {
		t.Errorf("%q was shown, and %q is stored", shown, bits)
	}
	if hash := a.evaluate("location.href"); strings.Contains(hash, "#") {
		t.Errorf("the spent token stays in the address: %s", hash)
	}
	a.looks("report-thanks")
	a.show(minutes[0])
	a.visible("already")
	a.show(minutes[1])
	a.visible("trouble")
	if text := a.text("trouble"); !strings.Contains(text, "Nobody reports twice") {
		t.Errorf("a second report of a browser is refused with %q", text)
	}

	way := a.links("way", 1, "How do you come to work?", "On foot", "By <b>bicycle</b>", "By bus", "By car")
	a.show(way[0])
	a.visible("ask")
	if text := a.text("room"); !strings.Contains(text, "ε = 3 together.") {
		t.Errorf("the sum over collections is told as %q", text)
	}
	if text := a.text("ask"); !strings.Contains(text, "By <b>bicycle</b>") || !strings.Contains(text, "like “By bus”") {
		t.Errorf("the choices are %q", text)
	}
	a.looks("report-choice")
	a.press("#input label:nth-child(2) input")
	a.press("#randomise")
	a.visible("made")
	shown = a.text("kept")
	a.press("#send")
	a.visible("thanks")
	if got := a.stored("way"); len(got) != 1 || !strings.Contains(shown, fmt.Sprintf("number %c of 4: %s.", got[0][1]+1, []string{"On foot", "By <b>bicycle</b>", "By bus", "By car"}[got[0][1]-'0'])) {
		t.Errorf("%q was shown, and %q is stored", shown, got)
	}

	tired := a.links("tired", 1, "Are you tired?")
	a.show(tired[0])
	a.visible("ask")
	if text := a.text("room"); !strings.Contains(text, "ε = 4.5 together, which is more than the limit of 4") || a.evaluate(`String(document.getElementById("randomise").disabled)`) != "true" {
		t.Errorf("beyond the limit it is said: %q", text)
	}
	a.evaluate(`document.getElementById("cap").value = "5"; document.querySelector("#limit button").click(); ""`)
	a.Until(`!document.getElementById("randomise").disabled`)
	if text := a.text("input"); text != "No\nYes" {
		t.Errorf("a bit is asked for by %q", text)
	}
	a.press("#skip input")
	a.press("#randomise")
	a.visible("made")
	a.press("#send")
	a.visible("thanks")
	if got := a.stored("tired"); len(got) != 1 {
		t.Errorf("%q is stored", got)
	}
}

// TestPageTellsNothing: what the page sends has one length and one form whatever is answered, in
// the same requests, without a token, a referrer or an answer in any address.
func TestPageTellsNothing(t *testing.T) {
	a := startAsking(t)
	type trace struct {
		requests string
		length   int
	}
	traces := map[trace]int{}
	for i, link := range a.links("minutes", 4, "How many minutes is your way to work?") {
		a.show(link)
		a.visible("ask")
		if answer := []string{"0", "119.99999", "1e300", ""}[i]; answer != "" {
			a.evaluate(`document.getElementById("value").value = "` + answer + `"; ""`)
		} else {
			a.press("#skip input")
		}
		a.press("#randomise")
		a.visible("made")
		a.press("#send")
		a.visible("thanks")
		a.forget()
		a.mu.Lock()
		var tr trace
		fragment := link[strings.Index(link, "#")+1:]
		q, _ := url.ParseQuery(fragment)
		for _, e := range a.sent {
			if strings.HasPrefix(e.Request.URL, "about:") || strings.HasPrefix(e.Request.URL, "data:") {
				continue
			}
			tr.requests += e.Request.Method + " " + strings.TrimPrefix(e.Request.URL, a.Base) + " " + fmt.Sprint(len(e.Request.Headers)) + "\n"
			if strings.Contains(e.Request.URL, q.Get("t")) {
				t.Errorf("a token is in the address %s", e.Request.URL)
			}
			for name, v := range e.Request.Headers {
				if strings.EqualFold(name, "Referer") && v != "" || strings.EqualFold(name, "Cookie") || strings.Contains(fmt.Sprint(v), q.Get("t")) {
					t.Errorf("%s is sent: %v", name, v)
				}
			}
			for _, part := range e.Request.PostDataEntries {
				tr.length += len(part.Bytes)
			}
		}
		a.sent = nil
		a.mu.Unlock()
		traces[tr]++
	}
	if len(traces) != 1 {
		t.Errorf("answers differ in what is sent: %v", traces)
	}
	for tr := range traces {
		want := "GET /report\nGET /report.css\nGET /report.js\nGET /v1/collections/survey.minutes/round?round=1\nPOST /v1/collections/survey.minutes/reports\n"
		var got []string
		for line := range strings.Lines(tr.requests) {
			got = append(got, line[:strings.LastIndexByte(line, ' ')]+"\n")
		}
		if strings.Join(got, "") != want || tr.length == 0 {
			t.Errorf("the page sent %d bytes with %s", tr.length, tr.requests)
		}
	}
}

// TestPageInTrouble: what goes wrong is said in words, and nothing is lost by it.
func TestPageInTrouble(t *testing.T) {
	a := startAsking(t)
	link := a.links("minutes", 1, "How many minutes is your way to work?")[0]
	tell := func(want string) {
		t.Helper()
		a.visible("trouble")
		a.Until(fmt.Sprintf("document.getElementById('trouble').innerText.includes(%q)", want))
	}
	a.show(a.Base + "/report")
	tell("opened by a link")
	a.show(strings.Replace(link, "survey.minutes", "survey.nothing", 1))
	tell("There is no such collection here")
	a.show(strings.Replace(link, "&n=0", "&n=7", 1))
	tell("a group of people that it does not have")
	unknown := link[:strings.Index(link, "&t=")] + "&t=" + strings.Repeat("0", 32) + link[strings.Index(link, "&r="):]
	answer := func(link string) {
		t.Helper()
		a.show(link)
		a.visible("ask")
		a.evaluate(`document.getElementById("value").value = "30"; ""`)
		a.press("#randomise")
		a.visible("made")
	}
	answer(unknown)
	a.press("#send")
	tell("not issued for this collection")
	a.forget()

	answer(link)
	offline := func(on bool) {
		a.Do(browser.Call(network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: on, DownloadThroughput: -1, UploadThroughput: -1}),
			browser.Call(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Offline: on, DownloadThroughput: -1, UploadThroughput: -1}}}))
	}
	offline(true)
	a.press("#send")
	tell("You are offline")
	offline(false)
	a.root.exec("CALL dp_close_collection('minutes')")
	a.press("#trouble button")
	tell("the round that it is for has not begun, or it is over")
	a.root.exec("CALL dp_open_collection('minutes')")
	a.press("#send")
	a.visible("thanks")
	a.forget()
	answer(link)
	bit := a.evaluate(`const b = JSON.parse(localStorage.getItem("scrim-wallet")); const e = b.entries[0]; e.report = e.report.slice(0, -1) + (a => a === "1" ? "0" : "1")(` +
		fmt.Sprintf("%q", a.stored("minutes")[0][1:]) + `); localStorage.setItem("scrim-wallet", JSON.stringify(b)); e.report`)
	a.show(link)
	a.visible("made")
	a.press("#send")
	tell("has brought another report already")
	if len(a.stored("minutes")) != 1 || bit == "" {
		t.Error("a second report is stored")
	}
	a.evaluate(`localStorage.setItem("scrim-wallet", "{}"); ""`)
	a.show(link)
	tell("the list of reports is damaged")
}
