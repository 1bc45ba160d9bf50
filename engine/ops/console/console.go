package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/web"
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
	browsers web.Browsers[*account]
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
	c := &Console{o: o, logins: make(chan struct{}, maxLogins), end: make(chan struct{}),
		browsers: web.Browsers[*account]{Name: "scrim-console", Secure: o.Secure, MaxForm: maxForm, MaxField: maxField, Now: o.Now}}
	c.browsers.Ended = func(a *account) { go a.close() }
	mux := http.NewServeMux()
	c.routes(mux)
	c.handler = http.NewCrossOriginProtection().Handler(mux)
	go c.sweep()
	return c
}

// Close ends all sessions. It is called once.
func (c *Console) Close() {
	close(c.end)
	c.browsers.Clear()
}

func (c *Console) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.end:
			return
		case <-tick.C:
			c.browsers.Sweep(c.o.Now())
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

// account is who is logged in: two connections and no password.
type account struct {
	name string // user@host as the ledger has it
	id   int64  // of the connection that runs statements
	dbs  [2]*sql.DB
	main *sql.Conn // runs statements
	side *sql.Conn // asks meanwhile

	running, asking sync.Mutex // of main and side
}

// open logs in on behalf of a browser.
func open(ctx context.Context, o Options, user, password string, from net.Addr) (*account, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net = user, password, "within"
	cfg.Addr = "server" // for the driver's own checks; o.Dial knows where it is
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx, from) }
	cfg.Logger = quiet{}
	if o.Secure {
		// the other end is this process: there is nobody to verify
		cfg.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	a := &account{}
	for i, to := range []**sql.Conn{&a.main, &a.side} {
		c, err := connector.Connect(ctx)
		if err != nil {
			a.close()
			return nil, err
		}
		a.dbs[i] = sql.OpenDB(once{take: handOver(c)})
		if *to, err = a.dbs[i].Conn(ctx); err != nil {
			a.close()
			return nil, err
		}
	}
	if err := a.main.QueryRowContext(ctx, "SELECT CONNECTION_ID(), CURRENT_USER()").Scan(&a.id, &a.name); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// close ends the connections, and with them what still runs.
func (a *account) close() {
	for _, db := range a.dbs {
		if db != nil {
			_ = db.Close()
		}
	}
}

// quiet keeps the driver from writing to standard error what is told to the browser.
type quiet struct{}

func (quiet) Print(...any) {}

// once is a connector of one connection that is open already. When that has ended there is no
// other: the password is not kept.
type once struct{ take chan driver.Conn }

var errEnded = errors.New("the connection has ended: log in again")

func handOver(c driver.Conn) chan driver.Conn {
	take := make(chan driver.Conn, 1)
	take <- c
	return take
}

// Connect implements driver.Connector.
func (o once) Connect(context.Context) (driver.Conn, error) {
	select {
	case c := <-o.take:
		return c, nil
	default:
		return nil, errEnded
	}
}

// Driver implements driver.Connector.
func (o once) Driver() driver.Driver { return mysql.MySQLDriver{} }

const (
	// maxForm bounds the body of a form, maxField one of its fields.
	maxForm  = 16 << 10
	maxField = 256
)

// form is what the page of the log-in shows.
type form struct {
	Token, User, Problem string
	Secure               bool
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.browsers.Of(r); ok {
		http.Redirect(w, r, "/console", http.StatusSeeOther)
		return
	}
	c.showLogin(w, http.StatusOK, form{})
}

// showLogin shows the form with a new token, which a cookie ties to the browser.
func (c *Console) showLogin(w http.ResponseWriter, status int, f form) {
	f.Token, f.Secure = c.browsers.FormToken(w), c.o.Secure
	render(w, status, "login.html", f)
}

// login opens a session. Whether name and password are right, and how often one may guess, is for
// the server's own log-in to say.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	user, password, problem, ok := c.browsers.ReadForm(w, r)
	if problem != "" {
		c.showLogin(w, http.StatusForbidden, form{User: user, Problem: problem})
	}
	if !ok {
		return
	}
	select {
	case c.logins <- struct{}{}:
		defer func() { <-c.logins }()
	default:
		c.showLogin(w, http.StatusTooManyRequests, form{User: user, Problem: "Too many log-ins are being looked at. Try again in a few seconds."})
		return
	}
	a, err := open(r.Context(), c.o, user, password, addressOf(r))
	if err != nil {
		c.showLogin(w, http.StatusForbidden, form{User: user, Problem: refusal(err)})
		return
	}
	c.browsers.LogIn(w, r, a)
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}

// refusal words why a log-in is refused: as the server does.
func refusal(err error) string {
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		if e.Number == 1045 {
			return e.Message + ". Check both; a DBA sets another password with ALTER USER."
		}
		return e.Message
	}
	return "The server did not take the connection. It may have too many, or want TLS: its log says why."
}

// logout ends the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	s, open := c.browsers.Of(r)
	c.browsers.LogOut(w, r, s, open, "/console/login")
}

// addressOf is where a request came from.
func addressOf(r *http.Request) net.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{} // an address that no account is bound to
	}
	return net.TCPAddrFromAddrPort(at)
}

// view is what the page of the console gets.
type view struct{ Principal, Token, Nonce string }

// page shows the console, or leads to the log-in. The statement of a link is in its fragment, which
// no browser sends: only the page's script sees it, and does not run it.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	s, ok := c.browsers.Of(r)
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
