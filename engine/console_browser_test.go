package engine

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

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

	base := "http://" + i.HTTPAddr().String()
	b := openBrowser(t, base, nil)
	do, evaluate, until, ctx := b.do, b.evaluate, b.until, b.ctx
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

	b.looks("console")
	evaluate(`sessionStorage.setItem("statement", "SELECT amount FROM orders"); location.hash = ""; ""`)
	do(chromedp.Navigate(base + "/console"))
	until(`document.querySelector("#tables details")`)
	do(chromedp.Click(chromedp.CSS("#run")))
	until(`document.querySelector("#told .problem")`)
	if text := evaluate(`document.querySelector("#told .problem").textContent`); !strings.Contains(text, "45002") {
		t.Errorf("a refusal is told as %q", text)
	}
}
