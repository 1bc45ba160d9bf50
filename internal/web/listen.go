package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"scrim/internal/connlimit"
)

// Limits bound what a Server gives its clients.
type Limits struct {
	Connections int // that are open; what is more takes the place of one that answers nothing
	PerAddress  int // requests that are being answered, of one address; 0 for any number
	// Read is how long a request may take to arrive, Idle how long a connection waits for the next.
	Read, Idle time.Duration
}

// Server serves HTTP at an address, over TLS with a certificate.
type Server struct {
	listener net.Listener
	room     *connlimit.Listener
	http     *http.Server
}

// Listen opens the socket; certificate is nil for none. Requests wait for Serve.
func Listen(address string, certificate *tls.Config, l Limits) (*Server, error) {
	raw, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	room := connlimit.New(raw, l.Connections, l.PerAddress)
	listener := net.Listener(room)
	if certificate != nil {
		certificate = certificate.Clone()
		certificate.NextProtos = []string{"h2", "http/1.1"}
		listener = tls.NewListener(listener, certificate)
	}
	return &Server{listener: listener, room: room, http: &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       l.Read,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it would tell addresses, and quote requests
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) },
	}}, nil
}

// key is that of a request's connection in its context.
type key struct{}

// Bounded answers with next while the limits have room for another request, else with full. What is
// served without it has to be answered at once: its connection may make room for another one.
func (s *Server) Bounded(next http.Handler, full http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(key{}).(net.Conn)
		if secure, ok := c.(*tls.Conn); ok {
			c = secure.NetConn()
		}
		done, ok := s.room.Answering(c)
		if !ok {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "5")
			full(w, r)
			return
		}
		defer done()
		next.ServeHTTP(w, r)
	})
}

// SetLimits changes the limits of connections and of one address. What is being answered goes on.
func (s *Server) SetLimits(connections, perAddress int) { s.room.SetLimits(connections, perAddress) }

// Addr returns the address that is listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Close, and returns nil then.
func (s *Server) Serve(h http.Handler) error {
	s.http.Handler = h
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the socket and what it serves, after the requests under way if they end soon.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	_ = s.listener.Close()
}
