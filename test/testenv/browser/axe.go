package browser

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed axe.min.js.gz
var packed []byte

// axe is axe-core, which finds what is wrong for readers with other means than eyes.
var axe = sync.OnceValue(func() string {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("browser: axe-core: " + err.Error()) // embedded
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("browser: axe-core: " + err.Error())
	}
	return string(text)
})

// Accessible runs axe-core's rules for WCAG 2.2 A and AA and its best practices. Contrasts may be
// left to Contrasts, which also sees what is drawn.
func (b *Tab) Accessible(where string, contrast bool) {
	b.t.Helper()
	Eval[int](b, axe()+"; 0")
	type result struct {
		Passes     int
		Violations []struct {
			ID, Help string
			At       []string
		}
	}
	enabled := map[bool]string{true: "true", false: "false"}[contrast]
	r := Eval[result](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: {"color-contrast": {enabled: `+enabled+`}}}).then((r) => ({
		passes: r.passes.length, violations: r.violations.map((v) => ({id: v.id, help: v.help, at: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)}))}))`)
	if len(r.Violations) > 0 {
		b.t.Errorf("%s: axe-core finds %+v", where, r.Violations)
	}
	if r.Passes < 15 {
		b.t.Errorf("%s: axe-core passes %d rules only: did it run?", where, r.Passes)
	}
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

// Contrasts checks the contrast of every text, those of drawings too.
func (b *Tab) Contrasts(where string) {
	b.t.Helper()
	if bad := Eval[[]string](b, contrasts); len(bad) > 0 {
		b.t.Errorf("%s: too little contrast: %q", where, bad)
	}
}
