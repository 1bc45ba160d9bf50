package engine

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"scrim/test/testenv/browser"
)

// consoleShop is a server with a protected table of 4000 persons, a public one of 300 rows, and an
// analyst, ann.
func consoleShop(t *testing.T, options ...func(*Config)) *instance {
	t.Helper()
	i := startWith(t, "", seeded(t, "console", 1), options...)
	root := i.root()
	root.exec("CREATE DATABASE shop", "USE shop", "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL, region VARCHAR(8), amount DOUBLE, day DATE)")
	rows := make([]string, 4000)
	for n := range rows {
		rows[n] = fmt.Sprintf("(%d, %d, '%s', %d, '2026-03-%02d')", n, n, []string{"north", "north", "south", "east", "west"}[n%5], n%90, 1+n%20)
	}
	root.exec("INSERT INTO shop.orders VALUES "+strings.Join(rows, ", "), "CALL dp_protect('shop.orders', 'customer_id', 'customer')",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south","east","west","nowhere"]')`,
		"CALL dp_set_budget('shop.orders', '*', 40, 1e-6, 'month')")
	places := make([]string, 300)
	for n := range places {
		places[n] = fmt.Sprintf("('place %d', %d)", n, n*7919%1000)
	}
	root.exec("CREATE TABLE shop.places (name VARCHAR(20), n INT)", "INSERT INTO shop.places VALUES "+strings.Join(places, ", "), "CALL dp_public('shop.places')")
	i.analyst(root, "ann", "shop")
	root.exec("CALL dp_set_budget('shop.orders', 'ann@%', 20, 1e-7, 'month')")
	return i
}

// asks puts a statement into the console's editor and runs it, until a condition of the page holds.
func asks(b *browser.Tab, statement, until string) {
	browser.Eval[int](b, "sessionStorage.setItem('statement', "+fmt.Sprintf("%q", statement)+"); location.hash = ''; 0")
	b.Open("/console")
	b.Until(`document.querySelector("#tables details")`)
	b.Click("#run")
	b.Until(until)
}

// TestConsoleInABrowser plays an analyst: a link is opened and not run, priced, run, and seen as a
// chart and a table, in light, in dark and at a phone's width. axe-core finds nothing, the page
// complains of nothing and asks nobody else.
func TestConsoleInABrowser(t *testing.T) {
	i := consoleShop(t, withHTTP)
	ann := i.client("ann", "pw-ann")
	b := browser.Open(t, "http://"+i.HTTPAddr().String())
	b.Look(1280, 800, "light")
	b.Login("/console", "ann", "pw-ann")
	b.Until(`document.querySelector("#tables details")`)
	statement := "SELECT region, COUNT(*) AS n, AVG(amount) AS mean\nFROM orders\nGROUP BY region"
	b.Do(chromedp.Navigate("about:blank"))
	b.Open("/console#" + url.Values{"db": {"shop"}, "q": {statement}}.Encode())
	b.Until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
	if text := browser.Eval[string](b, `document.querySelector(".cm-content").innerText + String(document.getElementById("linked").hidden)`); !strings.Contains(text, "GROUP BY region") || !strings.HasSuffix(text, "false") {
		t.Errorf("the link's statement is shown as %q", text)
	}
	b.Click("#price")
	b.Until(`document.getElementById("result").textContent.includes("fits")`)
	b.Shoot("console-price", false)
	if n := ann.value("SELECT COUNT(*) FROM dp.ledger"); n != "0" {
		t.Errorf("a link or a price was charged: %s", n)
	}
	b.Click("#run")
	b.Until(`document.querySelectorAll("svg.chart .whisker").length >= 4 && document.querySelectorAll("#result td").length === 25 && document.getElementById("told").textContent.includes("Cost:")`)
	b.Until(`document.querySelector("#history .past")`)
	browser.Eval[int](b, `document.querySelector("#tables details").open = true; document.querySelector("#past").open = true; 0`)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"console", "light", 1280}, {"console-dark", "dark", 1280}, {"console-phone", "light", 390}} {
		b.Look(look.width, 800, look.scheme)
		browser.Eval[int](b, `new Promise((r) => setTimeout(() => r(0), 400))`) // the chart takes the new width
		b.Narrow(look.name, look.width)
		b.Accessible(look.name, true)
		b.Contrasts(look.name)
		b.Shoot(look.name, true)
	}
	b.Look(1280, 800, "light")
	b.Keyboard("the console")
	if label := browser.Eval[string](b, `document.querySelector("svg.chart").getAttribute("aria-label")`); !strings.Contains(label, " of n by region") {
		t.Errorf("the chart is %q", label)
	}
	// A mean has the digits that its interval tells, the others where it is pointed at or copied.
	cell := strings.Fields(browser.Eval[string](b, `(() => {
		const cell = document.querySelector("#result td[title]"), copied = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true });
		getSelection().selectAllChildren(cell.parentElement);
		cell.dispatchEvent(copied);
		return [cell.textContent, cell.title, ...copied.clipboardData.getData("text/plain").split("\t")].join(" ");
	})()`))
	if len(cell) < 5 || len(cell[0]) >= len(cell[1]) || !slices.Contains(cell[2:], cell[1]) || slices.Contains(cell[2:], cell[0]) {
		t.Errorf("a mean is shown, told and copied as %q", cell)
	}
	browser.Eval[int](b, `document.getElementById("charted").focus(); 0`)
	b.Do(chromedp.KeyEvent(kb.ArrowDown))
	b.Until(`document.querySelector("svg.chart").getAttribute("aria-label").includes(" of mean by region")`)
	b.Quiet()
}

// TestConsoleShowsAnswers: one number with its interval in a line, NULL, days, three hundred rows,
// and refusals.
func TestConsoleShowsAnswers(t *testing.T) {
	i := consoleShop(t, withHTTP)
	b := browser.Open(t, "http://"+i.HTTPAddr().String())
	b.Look(1280, 800, "light")
	b.Login("/console", "ann", "pw-ann")
	text := func(selector string) string {
		return browser.Eval[string](b, `document.querySelector("`+selector+`").textContent`)
	}
	check := func(name string) {
		t.Helper()
		b.Accessible(name, true)
		b.Contrasts(name)
		b.Shoot(name+"-light", true)
		b.Look(390, 844, "dark")
		browser.Eval[int](b, `new Promise((r) => setTimeout(() => r(0), 400))`)
		b.Narrow(name, 390)
		b.Contrasts(name + ", dark")
		b.Shoot(name+"-phone", true)
		b.Look(1280, 800, "light")
	}
	asks(b, "SELECT COUNT(*) AS persons FROM orders", `document.querySelector(".facts")`)
	if got := text(".facts"); !strings.HasPrefix(got, "persons") || !strings.Contains(got, "95 % interval: ") || !strings.Contains(got, " to ") {
		t.Errorf("one number is told as %q", got)
	}
	check("answer-one")
	asks(b, "SELECT region, AVG(amount) AS mean FROM orders GROUP BY region", `document.querySelector("#result td.null")`)
	if got := text("#result"); !strings.Contains(got, "nowhereNULL") {
		t.Errorf("a group of nobody is told as %q", got)
	}
	if got := text("#told"); !strings.Contains(got, "persons") {
		t.Errorf("its warning is told as %q", got)
	}
	check("answer-null")
	asks(b, "SELECT day, COUNT(*) AS n FROM orders WHERE day BETWEEN '2026-03-01' AND '2026-03-20' GROUP BY day", `document.querySelector("svg.chart .line")`)
	check("answer-days")
	asks(b, "SELECT name, n FROM places ORDER BY n DESC", `document.querySelector("figcaption")`)
	if bars, rows := browser.Eval[int](b, `document.querySelectorAll("svg.chart .bar").length`), browser.Eval[int](b, `document.querySelectorAll("#result tbody tr").length`); bars != 60 || rows != 300 {
		t.Errorf("of 300 rows %d are drawn and %d in the table", bars, rows)
	}
	check("answer-many")
	asks(b, "SELECT amount FROM orders", `document.querySelector("#told .problem")`)
	if got := text("#told .problem"); !strings.Contains(got, "45002") {
		t.Errorf("a refusal is told as %q", got)
	}
	check("answer-refused")
	asks(b, "SELECT COUNT(*) FROM orders WHER amount > 3", `document.querySelector("#told .problem")`)
	check("answer-syntax")
	b.Quiet("422")
}

// TestConsoleCompletes: a table's name and a column are completed by keyboard, and Ctrl+Enter runs.
func TestConsoleCompletes(t *testing.T) {
	i := consoleShop(t, withHTTP)
	b := browser.Open(t, "http://"+i.HTTPAddr().String())
	b.Look(1280, 800, "light")
	b.Login("/console", "ann", "pw-ann")
	b.Until(`document.querySelector("#tables details")`)
	b.Click(".cm-content")
	b.Do(chromedp.SendKeys(chromedp.CSS(".cm-content"), "SELECT COUNT(*) AS n FROM ord"))
	b.Until(`document.querySelector(".cm-tooltip-autocomplete")`)
	b.Shoot("console-completion", false)
	browser.Eval[int](b, `new Promise((r) => setTimeout(() => r(0), 300))`) // the list takes keys a moment after it is shown
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Until(`document.querySelector(".cm-content").textContent.endsWith("FROM orders")`)
	b.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Until(`document.querySelector(".facts")`)
	b.Quiet()
}
