package hours

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scrim/test/testenv/browser"
)

// questions are what the analyst asks in the shell.
var questions = []struct{ what, sql string }{
	{"how many ratings", "SELECT COUNT(*) AS ratings FROM ratings"},
	{"how many people", "SELECT COUNT(DISTINCT userId) AS people FROM ratings"},
	{"the mean rating", "SELECT AVG(rating) AS mean FROM ratings"},
	{"the median", "SELECT DP_QUANTILE(rating, 0.5) AS median FROM ratings"},
	{"the spread", "SELECT DP_STDDEV(rating) AS spread FROM ratings"},
	{"ratings a person", "SELECT AVG(n) AS a_person FROM (SELECT userId, COUNT(*) AS n FROM ratings GROUP BY userId) x"},
	{"people by year", "SELECT YEAR(FROM_UNIXTIME(timestamp)) AS year, COUNT(DISTINCT userId) AS people FROM ratings GROUP BY year ORDER BY year"},
	{"comedies", "SELECT m.genres LIKE '%Comedy%' AS comedy, AVG(r.rating) AS mean FROM ratings r JOIN movies m ON m.movieId = r.movieId GROUP BY comedy"},
	{"films of the nineties", "SELECT m.title LIKE '%(199_)%' AS nineties, COUNT(DISTINCT r.userId) AS people FROM ratings r JOIN movies m ON m.movieId = r.movieId GROUP BY nineties"},
	{"the films themselves", "SELECT COUNT(*) AS films, MIN(title) AS one FROM movies"},
}

const (
	// byStars is drawn in the shell, and in Python, where the stored answer costs nothing.
	byStars = "SELECT rating, COUNT(DISTINCT userId) AS people FROM ratings GROUP BY rating ORDER BY rating"

	// byWholeStars is drawn in the console.
	byWholeStars = "SELECT FLOOR(rating) AS stars, COUNT(DISTINCT userId) AS people\nFROM ratings\nGROUP BY stars\nORDER BY stars"
)

// analyse is the analyst's hour: ten questions and a chart in the shell, a priced one in the
// console, and one in Python.
func analyse(h *hour, s *site) {
	h.actual = s.actual
	h.types("takes the account", "export SCRIM_PASSWORD='"+s.analystPassword+"'")
	h.steps[0].typed = "export SCRIM_PASSWORD='…'"
	h.types("looks around", `scrim sql -u analyst1 -e '\d' ml`)
	h.errs("wants rows", `scrim sql -u analyst1 -e 'SELECT * FROM ratings' ml`)
	h.errs("mistypes a table", `scrim sql -u analyst1 -e 'SELECT COUNT(*) FROM rating' ml`)
	h.errs("mistypes a column", `scrim sql -u analyst1 -e 'SELECT AVG(stars) FROM ratings' ml`)
	h.errs("mistypes SQL", `scrim sql -u analyst1 -e 'SELECT COUNT(*) FORM ratings' ml`)
	h.errs("forgets the database", `scrim sql -u analyst1 -e 'SELECT COUNT(*) FROM ratings'`)
	h.errs("mistypes the name", `scrim sql -u analyst -e 'SELECT 1' ml`)
	for _, q := range questions {
		out := h.types(q.what, `scrim sql -u analyst1 -e "`+q.sql+`" ml`)
		if strings.Count(out, "\n") < 5 {
			h.t.Errorf("%s: no row:\n%s", q.sql, out)
		}
	}
	chart := h.types("draws a chart", `scrim sql -u analyst1 --format chart -e "`+byStars+`" ml`)
	if strings.Count(chart, "█") < 10 || strings.Count(chart, "┼") < 8 {
		h.t.Errorf("no chart with intervals:\n%s", chart)
	}
	h.chart = chart
	h.types("asks what is left", `scrim sql -u analyst1 -e '\budget' ml`)
	h.console(s)
	h.python(s)
}

// console asks in the browser.
func (h *hour) console(s *site) {
	b := browser.Open(h.t, "http://"+s.http)
	b.Look(1280, 800, "light")
	start := time.Now()
	lap := func(what, typed, said string) {
		h.done(what, typed, time.Since(start), strings.TrimSpace(strings.Join(strings.Fields(said), " ")))
		start = time.Now()
	}
	text := func(selector string) string {
		return browser.Eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
	}
	b.Login("/console", "analyst1", "not the password")
	h.reads(text("#problem"))
	lap("the console: mistypes the password", "analyst1, …", text("#problem"))
	b.Login("/console", "analyst1", s.analystPassword)
	b.Until(`document.querySelector("#tables details") && document.querySelector("#budget .left")`)
	lap("logs in", "analyst1, …", text("#budget"))
	write := func(sql string) {
		browser.Eval[int](b, fmt.Sprintf("sessionStorage.setItem('statement', %q); 0", sql))
		b.Open("/console")
		b.Until(`document.querySelector("#budget .left") && document.querySelector(".cm-content").innerText.includes("FROM")`)
	}
	write("SELECT COUNT(*) FROM rating")
	b.Click("#run")
	b.Until(`document.querySelector("#told .problem")`)
	h.reads(text("#told .problem"))
	lap("mistypes a table", "SELECT COUNT(*) FROM rating", text("#told .problem"))
	write(byWholeStars)
	b.Click("#price")
	b.Until(`document.getElementById("result").textContent.includes("fits")`)
	lap("asks for the price", byWholeStars, text("#result"))
	b.Click("#run")
	b.Until(`document.querySelectorAll("svg.chart .whisker").length >= 5 && document.getElementById("told").textContent.includes("Cost:")`)
	for _, told := range browser.Eval[[]string](b, `[...document.querySelectorAll("#told > details, #told > div > p, #told > div:not(:has(p))")].map((e) => e.textContent)`) {
		h.reads(strings.Join(strings.Fields(told), " "))
	}
	lap("runs it, and sees a chart", "", text("#told"))
	b.Shoot("console", true)
	b.Quiet("403", "422") // of the wrong password and the wrong table
}

// python asks from Python, and saves a picture.
func (h *hour) python(s *site) {
	lines := `import scrim
conn = scrim.connect("mysql://analyst1:` + s.analystPassword + `@` + s.mysql + `/ml")
df = scrim.read_sql("` + byStars + `", conn)
scrim.plot(df).figure.savefig("people.png")
print(df.to_string(index=False))
print(df.attrs["cost"])
`
	if err := os.WriteFile(filepath.Join(h.dir, "ask.py"), []byte(lines), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.types("the notebook: asks from Python, and draws", "PYTHONPATH="+absolute(h.t, filepath.Join(module, "python"))+" /usr/bin/python3 ask.py") // Debian's
	h.steps[len(h.steps)-1].typed = strings.Join(strings.Split(strings.TrimSpace(s.documented(strings.ReplaceAll(lines, s.analystPassword, "…"))), "\n")[:4], "; ")
	picture := h.file(filepath.Join(h.dir, "people.png"))
	if c, err := png.DecodeConfig(strings.NewReader(picture)); err != nil || c.Width < 400 || len(picture) < 5000 {
		h.t.Errorf("the picture has %d bytes: %+v, %v", len(picture), c, err)
	}
	if *write {
		if err := os.WriteFile(filepath.Join(pictures, "python.png"), []byte(picture), 0o644); err != nil {
			h.t.Fatal(err)
		}
	}
}
