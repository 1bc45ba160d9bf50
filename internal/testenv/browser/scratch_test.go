package browser

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestScratch(t *testing.T) {
	b := Open(t, os.Getenv("BASE"))
	b.Look(1280, 800, "light")
	b.Shoot("d0", false)
	b.Login("/console/login", "ann", os.Getenv("PW"))
	b.Until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
	b.Shoot("d1-start", false)
	b.Click(".cm-content")
	b.Do(chromedp.SendKeys(chromedp.CSS(".cm-content"), "SELECT edu"))
	time.Sleep(800 * time.Millisecond)
	b.Shoot("d2-complete", false)
	b.Do(chromedp.KeyEvent(kb.Escape))
	ask := func(name, q string) {
		Eval[int](b, "sessionStorage.setItem('statement', "+fmt.Sprintf("%q", q)+"); location.hash = ''; 0")
		b.Open("/console")
		b.Until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
		start := time.Now()
		b.Click("#run")
		b.Until(`!document.getElementById("run").disabled && (document.querySelector("#result *") || document.querySelector("#told *"))`)
		fmt.Println(name, time.Since(start), Eval[string](b, `document.getElementById("status").textContent`))
		b.Shoot(name, true)
		b.Accessible(name, true)
		b.Contrasts(name)
		b.Look(390, 844, "dark")
		time.Sleep(500 * time.Millisecond)
		b.Narrow(name, 390)
		b.Shoot(name+"-phone", true)
		b.Look(1280, 800, "light")
	}
	ask("d3-educ", "SELECT education, COUNT(*) AS n, AVG(age) AS mean_age FROM adult GROUP BY education ORDER BY n DESC")
	ask("d4-one", "SELECT COUNT(*) AS persons, AVG(age) AS age, DP_MEDIAN(hours_per_week) AS hours FROM adult")
	ask("d5-null", "SELECT /*+ SET_VAR(dp_epsilon=0.01) */ education, AVG(age) AS a FROM adult GROUP BY education")
	ask("d6-refuse", "SELECT * FROM adult")
	ask("d7-two", "SELECT income, sex, COUNT(*) AS n FROM adult GROUP BY income, sex")
	ask("d8-visits", "SELECT * FROM visits LIMIT 3")
	ask("d9-hist", "SELECT DP_BUCKET(age, 15, 95, 16) AS from_age, COUNT(*) AS n FROM adult GROUP BY from_age ORDER BY from_age")
	ask("d10-price", "SHOW TABLES")
	b.Click("#price")
	time.Sleep(1500 * time.Millisecond)
	b.Shoot("d11-price", false)
	b.Click("#explain")
	time.Sleep(1500 * time.Millisecond)
	b.Shoot("d12-plan", false)
	Eval[int](b, "sessionStorage.setItem('statement', 'SELECT education, COUNT(*) AS n, AVG(age) AS mean_age FROM adult GROUP BY education'); 0")
	b.Open("/console")
	b.Until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
	b.Click("#price")
	time.Sleep(1500 * time.Millisecond)
	b.Shoot("d13-price", false)
	b.Click("#explain")
	time.Sleep(1500 * time.Millisecond)
	b.Shoot("d14-plan", false)
	b.Click("#share")
	time.Sleep(300 * time.Millisecond)
	fmt.Println(Eval[string](b, `document.getElementById("status").textContent`))
	Eval[int](b, `document.querySelector("#past").open = true; document.querySelector("#tables details").open = true; 0`)
	b.Shoot("d15-side", true)
	b.Keyboard("console")
	b.Quiet("422")
}
