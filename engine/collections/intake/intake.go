// Package intake takes reports of collections over HTTP: at the server those of the local model, at
// a shuffler sealed bundles. docs/collections/http.md is its specification.
//
//	GET  /v1/collections/NAME/round?round=1&stratum=north   the canonical parameters, whose SHA-256 is the fingerprint
//	POST /v1/collections/NAME/reports {"token": …, "report": …}    taken once, durable when it is answered
//	GET  /report                                            at the server: the page behind a link
//
// What it does is what an INSERT into dp_in, or into a shuffler's inbox, does: the same Backend
// checks the same things in the same transaction. There is no account: the token is the credential.
//
// # What it tells
//
// The parameters are public. Of a report it tells that it was taken, or one of the refusals of
// handler.go, each with fixed words; they follow from the token, the bytes that were sent and the
// public state of the collection, and no row is looked at. Nothing is logged of who asked:
// addresses are held in memory, to bound connections and requests, and stand beside no report.
package intake

import (
	"context"
	"crypto/tls"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/internal/connlimit"
	"scrim/internal/refuse"
	"scrim/internal/web"
)

// Options say what is served.
type Options struct {
	Backend Backend
	// TLS is the certificate; nil for none, which is for loopback addresses only.
	TLS *tls.Config
	// Secure tells that TLS is of a certificate that browsers know.
	Secure bool
	// Origins are those whose pages may send reports, as in https://example.org; "*" for all.
	Origins []string
	// Page tells to serve the page behind links, which reports for the local model.
	Page bool
	// Shuffler is what contributors know a shuffler by; "" at the server.
	Shuffler string
	// MaxBody bounds a POST, in bytes.
	MaxBody func() int64
	// MaxConnections bounds the open connections. Three quarters of as many requests of one address
	// are answered at a time.
	MaxConnections int
	Log            zerolog.Logger
}

// MaxLocal is MaxBody for reports of the local model, of which none is longer than 5 kB.
func MaxLocal() int64 { return 16 << 10 }

// BodyOf returns how long the body of a POST with a report of n bytes may be: base64 makes a third
// more of it, and beside it there are the token, names and spaces.
func BodyOf(n int) int64 { return int64((n+2)/3*4 + 1<<10) }

// ParseOrigins reads a list of origins between commas.
func ParseOrigins(text string) (list []string, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		u, err := url.Parse(part)
		if part != "*" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != part) {
			return nil, fmt.Errorf("%q is not an origin; want a list such as https://example.org, https://app.example.org, or *", part)
		}
		list = append(list, part)
	}
	return list, nil
}

// Server takes reports over HTTP. A nil Server does nothing.
type Server struct {
	http    *web.Server
	handler http.Handler
	log     zerolog.Logger
}

// Listen opens the socket.
func Listen(address string, o Options) (*Server, error) {
	l, err := web.Listen(address, o.TLS, web.Limits{
		Connections: o.MaxConnections, PerAddress: ofOne(o.MaxConnections), Read: 30 * time.Second, Idle: time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("intake: %w", err)
	}
	return &Server{http: l, handler: newHandler(o, l.Bounded), log: o.Log}, nil
}

// ofOne is how many requests of one address are answered at a time, of n connections.
func ofOne(n int) int { return max(1, n*3/4) }

// SetMaxConnections bounds the open connections anew. What is being answered goes on.
func (s *Server) SetMaxConnections(n int) {
	if s != nil {
		s.http.SetLimits(n, ofOne(n))
	}
}

// Addr returns the address that is listened on, nil without one.
func (s *Server) Addr() net.Addr {
	if s == nil {
		return nil
	}
	return s.http.Addr()
}

// Serve answers until Close.
func (s *Server) Serve() {
	if s == nil {
		return
	}
	s.log.Info().Str("address", s.Addr().String()).Msg("taking reports over HTTP")
	if err := s.http.Serve(s.handler); err != nil {
		s.log.Error().Err(err).Msg("reports over HTTP ended")
	}
}

// Close ends the socket and what it serves, after the reports under way.
func (s *Server) Close() {
	if s != nil {
		s.http.Close()
	}
}

// Backend is where parameters come from and reports go to: a server or a shuffler.
type Backend interface {
	// Round returns the public parameters of a round of a stratum; round 0 is the latest one. The
	// error is a refusal where there are none.
	Round(name string, round int, stratum string) (*collect.Params, error)
	// Accept takes a report with its token, once. It returns when that is durable.
	Accept(ctx context.Context, name string, token, report []byte) error
}

// tokenSize is the length of a token.
const tokenSize = 16

// submission is the body of a POST.
type submission struct {
	Token  string `json:"token"`  // 32 digits of hex
	Report string `json:"report"` // standard base64 with padding
}

// handler answers requests.
type handler struct {
	o Options
	*rates
}

// newHandler answers requests, at most as many at a time as bounded lets pass.
func newHandler(o Options, bounded func(next http.Handler, full http.HandlerFunc) http.Handler) http.Handler {
	h := &handler{o, newRates()}
	mux := http.NewServeMux()
	if o.Page {
		servePage(mux)
	}
	mux.HandleFunc("GET /v1/collections/{name}/round", h.round)
	mux.HandleFunc("POST /v1/collections/{name}/reports", h.report)
	mux.HandleFunc("OPTIONS /v1/collections/{name}/{what}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { errNotFound.write(w) })
	return h.guarded(bounded(mux, func(w http.ResponseWriter, _ *http.Request) { errTooMany.write(w) }))
}

// guarded does what comes before every answer: headers, origins, and the rate of one address.
func (h *handler) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("Referrer-Policy", "no-referrer")
		if h.o.Secure {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h.allow(header, r.Header.Get("Origin"))
		if !h.admit(r.RemoteAddr) {
			errTooMany.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allow lets pages of the operator's origins read the answers. No cookie and no account takes part,
// so that credentials are never allowed.
func (h *handler) allow(header http.Header, origin string) {
	header.Set("Vary", "Origin")
	for _, o := range h.o.Origins {
		if o != "*" && o != origin {
			continue
		}
		header.Set("Access-Control-Allow-Origin", o)
		header.Set("Access-Control-Allow-Methods", "GET, POST")
		header.Set("Access-Control-Allow-Headers", "Content-Type")
		header.Set("Access-Control-Expose-Headers", "Scrim-Fingerprint, Scrim-Shuffler")
		header.Set("Access-Control-Max-Age", "600")
		return
	}
}

// round answers with the canonical parameters, byte for byte.
func (h *handler) round(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	round := 0
	if text := query.Get("round"); text != "" {
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil || n == 0 {
			errRequest.write(w)
			return
		}
		round = int(n)
	}
	p, err := h.o.Backend.Round(r.PathValue("name"), round, query.Get("stratum"))
	if err != nil {
		failure(err).write(w)
		return
	}
	print := p.Fingerprint()
	w.Header().Set("Scrim-Fingerprint", hex.EncodeToString(print[:]))
	if h.o.Shuffler != "" {
		w.Header().Set("Scrim-Shuffler", h.o.Shuffler)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(p.Canonical())
}

// report takes a report.
func (h *handler) report(w http.ResponseWriter, r *http.Request) {
	token, report, err := h.read(w, r)
	if err == nil {
		err = h.o.Backend.Accept(r.Context(), r.PathValue("name"), token, report)
	}
	if err != nil {
		failure(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"accepted": true})
}

// read reads the body of a POST.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (token, report []byte, err error) {
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, nil, errMedia
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.o.MaxBody()))
	d.DisallowUnknownFields()
	var s submission
	err = d.Decode(&s)
	if err == nil {
		err = ended(d)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, nil, errTooLarge
	case err != nil:
		return nil, nil, errRequest
	}
	token, err = hex.DecodeString(s.Token)
	if err != nil || len(token) != tokenSize {
		return nil, nil, errRequest
	}
	if report, err = base64.StdEncoding.Strict().DecodeString(s.Report); err != nil || len(report) == 0 {
		return nil, nil, errRequest
	}
	return token, report, nil
}

// ended tells whether nothing follows.
func ended(d *json.Decoder) error {
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errRequest
}

// Failure is an answer to a request that brought nothing: the error of the published specification.
type Failure struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`
	Message string `json:"message"`
}

// Error implements error.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// The answers that come before a report is looked at.
var (
	errNotFound    = &Failure{http.StatusNotFound, "NOT_FOUND", "There is no such address here."}
	errRequest     = &Failure{http.StatusBadRequest, "BAD_REQUEST", "The request has not the form that the specification gives it."}
	errMedia       = &Failure{http.StatusUnsupportedMediaType, "BAD_REQUEST", "Send the report as application/json."}
	errTooLarge    = &Failure{http.StatusRequestEntityTooLarge, "BAD_REQUEST", "The request is longer than any report."}
	errTooMany     = &Failure{http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "There were too many requests from this address. Send the same bytes again later."}
	errUnavailable = &Failure{http.StatusServiceUnavailable, "UNAVAILABLE", "Whether the report was taken is not known. Send the same bytes again later."}
)

// refusals are the fixed answers for what a Backend refuses: the words of the wire name cells and
// rounds, and here nothing is told that the contributor does not hold.
var refusals = map[refuse.Code]*Failure{
	refuse.UnknownToken:    {http.StatusForbidden, string(refuse.UnknownToken), "The token was not issued for this collection."},
	refuse.SpentToken:      {http.StatusConflict, string(refuse.SpentToken), "The token has brought another report already."},
	refuse.ClosedToken:     {http.StatusConflict, string(refuse.ClosedToken), "The token is of another cell, or of a round that is not open."},
	refuse.MalformedReport: {http.StatusBadRequest, string(refuse.MalformedReport), "The report was not made from the parameters of the round."},
	refuse.CollectionState: {http.StatusNotFound, string(refuse.CollectionState), "There is no such collection here, or it takes no reports and its parameters are not public."},
}

// failure returns what is answered where a Backend gave an error.
func failure(err error) *Failure {
	var own *Failure
	if errors.As(err, &own) {
		return own
	}
	if r, ok := refuse.As(err); ok && refusals[r.Code] != nil {
		return refusals[r.Code]
	}
	return errUnavailable
}

func (f *Failure) write(w http.ResponseWriter) {
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, f.Status, f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("intake: " + err.Error()) // structs of texts and booleans
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

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

// One address may send burst requests at once and perSecond in the long run: a crowd behind one
// address of a company, and no program that runs wild.
const (
	burst     = 400
	perSecond = 40
	// addresses bounds what is remembered. Beyond it all is forgotten, which only lets more in.
	addresses = 8192
)

// rates counts requests by address, in memory only. An IPv6 network of 64 bits is one address.
type rates struct {
	mu    sync.Mutex
	now   func() time.Time
	state map[netip.Prefix]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newRates() *rates { return &rates{now: time.Now, state: map[netip.Prefix]bucket{}} }

// admit takes one request of an address, host:port, from its bucket; false where that is empty.
func (r *rates) admit(from string) bool {
	where, now := connlimit.Network(from), r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known := r.state[where]
	if !known {
		if len(r.state) >= addresses {
			clear(r.state)
		}
		b = bucket{burst, now}
	}
	b.left = min(burst, b.left+perSecond*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	ok := b.left >= 1
	if ok {
		b.left--
	}
	r.state[where] = b
	return ok
}
