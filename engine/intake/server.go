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

	"scrim/engine/web"
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
	// MaxBody bounds a POST, in bytes.
	MaxBody int64
	// MaxConnections bounds the open connections; one address has three quarters of them.
	MaxConnections int
	Log            zerolog.Logger
}

// MaxReport bounds a body in bytes: no report of the local model is longer than 5 kB, and base64
// makes a third more of them.
const MaxReport = 16 << 10

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
		Connections: o.MaxConnections, PerAddress: max(1, o.MaxConnections*3/4), Read: 30 * time.Second, Idle: time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("intake: %w", err)
	}
	return &Server{http: l, handler: newHandler(o), log: o.Log}, nil
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
