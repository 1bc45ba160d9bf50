package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"scrim/internal/mcp"
)

// tokenVariable is the environment's variable for the token of scrim mcp.
const tokenVariable = environmentPrefix + "MCP_TOKEN"

// shortestToken is how many characters a token has at least: it is guessed over the network.
const shortestToken = 20

// toolListener is how scrim mcp listens.
type toolListener struct {
	address, tokenFile, cert, key string
	token                         string
}

func (l *toolListener) register(f *pflag.FlagSet) {
	f.StringVar(&l.address, "http", "", "listen on HOST:PORT for streamable HTTP, at /mcp, in the place of standard streams")
	f.StringVar(&l.tokenFile, "token-file", "", "file whose one line is the token that requests have to bear, of 20 characters or more")
	f.StringVar(&l.cert, "http-cert", "", "PEM file of the certificate for HTTPS")
	f.StringVar(&l.key, "http-key", "", "PEM file of its key")
}

// check reads the token, and refuses to listen beyond loopback without one.
func (l *toolListener) check() error {
	if l.address == "" {
		return nil
	}
	if (l.cert == "") != (l.key == "") {
		return errors.New("--http-cert and --http-key belong together")
	}
	host, _, err := net.SplitHostPort(l.address)
	if err != nil {
		return fmt.Errorf("--http: %w; want HOST:PORT, for example 127.0.0.1:8765", err)
	}
	l.token = os.Getenv(tokenVariable)
	if l.tokenFile != "" {
		b, err := os.ReadFile(l.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if l.token = strings.TrimSpace(string(b)); l.token == "" {
			return fmt.Errorf("--token-file: %s is empty", l.tokenFile)
		}
	}
	if l.token != "" && len(l.token) < shortestToken {
		return fmt.Errorf("the token has %d characters; want %d or more, such as openssl rand -hex 32 writes", len(l.token), shortestToken)
	}
	ip := net.ParseIP(host)
	if l.token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--http %s can be reached from other machines: want --token-file, or the environment variable %s", l.address, tokenVariable)
	}
	return nil
}

// serve listens until ctx ends.
func (l *toolListener) serve(ctx context.Context, s streams, o mcp.Options) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler(o, l.token))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		return err
	}
	scheme := "http"
	if l.cert != "" {
		pair, err := tls.LoadX509KeyPair(l.cert, l.key)
		if err != nil {
			return errors.Join(fmt.Errorf("--http-cert: %w", err), listener.Close())
		}
		listener, scheme = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), "https"
	} else if l.token != "" {
		fmt.Fprintln(s.err, "scrim: WARNING: the token goes in clear text; --http-cert and --http-key encrypt, unless a proxy does")
	}
	fmt.Fprintf(s.err, "scrim: listening at %s://%s/mcp\n", scheme, listener.Addr())
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
