package console

import (
	"bytes"
	"crypto/rand"
	"net/http"
)

// view is what the page of the console gets.
type view struct{ Principal, Token, Nonce string }

// page shows the console, or leads to the log-in. The statement of a link is in its fragment, which
// no browser sends: only the page's script sees it, and does not run it.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	s, ok := c.session(r)
	if !ok {
		http.Redirect(w, r, "/console/login", http.StatusSeeOther)
		return
	}
	v := view{Principal: s.Value.name, Token: s.Token, Nonce: rand.Text()}
	w.Header().Set("Content-Security-Policy", policy(v.Nonce))
	render(w, http.StatusOK, "console.html", v)
}

// render writes a page as a whole: a template that fails leaves no half of one.
func render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
