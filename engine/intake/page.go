package intake

import (
	"embed"
	"net/http"

	"scrim/engine/collect"
)

// assets are the page behind a link, whose script typescript/page is built into.
//
//go:embed assets
var assets embed.FS

// pagePolicy lets the page run its own script and speak to its own server, and nothing else: no
// form of it goes anywhere, and nobody frames it.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// pageFiles are what the page consists of, and their media types.
var pageFiles = map[string]struct{ file, media string }{
	collect.PagePath:          {"assets/report.html", "text/html; charset=utf-8"},
	collect.PagePath + ".js":  {"assets/report.js", "text/javascript; charset=utf-8"},
	collect.PagePath + ".css": {"assets/report.css", "text/css; charset=utf-8"},
}

// servePage adds the page's addresses.
func servePage(mux *http.ServeMux) {
	for path, f := range pageFiles {
		text, err := assets.ReadFile(f.file)
		if err != nil {
			panic("intake: " + err.Error()) // embedded
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			header := w.Header()
			header.Set("Content-Type", f.media)
			header.Set("Content-Security-Policy", pagePolicy)
			header.Set("Cross-Origin-Opener-Policy", "same-origin")
			header.Set("Cross-Origin-Resource-Policy", "same-origin")
			header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
			_, _ = w.Write(text)
		})
	}
}
