package intake

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"

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
