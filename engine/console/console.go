package console

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"time"

	"scrim/engine/web"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "templates/*.html"))

// Options say how the console reaches the server.
type Options struct {
	// Dial connects to the MySQL protocol on behalf of a browser at an address.
	Dial   func(ctx context.Context, from net.Addr) (net.Conn, error)
	Secure bool // the pages are served over TLS, and so are the connections
	Now    func() time.Time
}

// Console serves the pages.
type Console struct {
	o        Options
	sessions web.Sessions[*account]
	logins   chan struct{} // log-ins that are being looked at
	handler  http.Handler
	end      chan struct{}
}

const (
	// maxLogins bounds the log-ins that are looked at together; each may wait for the brake.
	maxLogins = 16
	// sweepEvery is how often sessions that have ended are looked for: each holds connections.
	sweepEvery = time.Minute
)

// New returns the pages. Close ends their sessions.
func New(o Options) *Console {
	c := &Console{o: o, logins: make(chan struct{}, maxLogins), end: make(chan struct{})}
	c.sessions.Ended = func(a *account) { go a.close() }
	mux := http.NewServeMux()
	c.routes(mux)
	c.handler = http.NewCrossOriginProtection().Handler(mux)
	go c.sweep()
	return c
}

// Close ends all sessions. It is called once.
func (c *Console) Close() {
	close(c.end)
	c.sessions.Clear()
}

func (c *Console) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.end:
			return
		case <-tick.C:
			c.sessions.Sweep(c.o.Now())
		}
	}
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Headers(policy(""), c.handler).ServeHTTP(w, r)
}

func (c *Console) routes(mux *http.ServeMux) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("console: assets: " + err.Error()) // embedded
	}
	mux.Handle("GET /console/assets/{file}", web.Cached(http.StripPrefix("/console/assets/", http.FileServerFS(files))))
	mux.HandleFunc("GET /console", c.page)
	mux.HandleFunc("GET /console/login", c.loginPage)
	mux.HandleFunc("POST /console/login", c.login)
	mux.HandleFunc("POST /console/logout", c.logout)
	for path, call := range map[string]call{
		"names": names, "budget": budget, "history": history, "price": price, "explain": explain, "run": run,
	} {
		mux.Handle("POST /console/api/"+path, c.private(call))
	}
}

// policy allows the page's own files, and of styles those that the editor makes under the page's
// nonce.
func policy(nonce string) string {
	styles := "'self'"
	if nonce != "" {
		styles += " 'nonce-" + nonce + "'"
	}
	return "default-src 'none'; script-src 'self'; style-src " + styles + "; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}
