package intake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
	"scrim/internal/selfsigned"
)

// backend takes everything, and notes nothing.
type backend struct{}

func (backend) Round(string, int, string) (*collect.Params, error) {
	return nil, refuse.New(refuse.CollectionState, "There is none.")
}

func (backend) Accept(context.Context, string, []byte, []byte) error { return nil }

// serve starts a server with a certificate, and returns a client that trusts it and the address.
func serve(t *testing.T, change func(*Options)) (*Server, *http.Client, string) {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	if err := selfsigned.Make(cert, key, "test", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	o := Options{Backend: backend{}, TLS: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, Secure: true, Page: true, MaxBody: MaxLocal, MaxConnections: 16, Log: zerolog.Nop()}
	if change != nil {
		change(&o)
	}
	s, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	t.Cleanup(s.Close)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return s, &http.Client{Transport: transport, Timeout: time.Minute}, "https://" + s.Addr().String()
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

// TestTLS: it speaks HTTP/2 in TLS 1.2 or newer, in clear not at all, and only to who trusts the
// certificate.
func TestTLS(t *testing.T) {
	_, client, base := serve(t, nil)
	r, _ := get(t, client, base+collect.PagePath)
	if r.StatusCode != 200 || r.ProtoMajor != 2 || r.TLS == nil || r.TLS.Version < tls.VersionTLS12 || r.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%s %s %v", r.Proto, r.Status, r.Header)
	}
	if _, err := http.Get(base + collect.PagePath); err == nil {
		t.Error("a certificate that nobody vouches for is trusted")
	}
	address := strings.TrimPrefix(base, "https://")
	if _, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if r, err := http.Get("http://" + address + collect.PagePath); err == nil {
		r.Body.Close()
		if r.StatusCode == 200 {
			t.Error("it is served in clear")
		}
	}
}

// TestPage: the page is the same for everybody, is kept nowhere, may speak to its own server only,
// and has nothing from elsewhere.
func TestPage(t *testing.T) {
	_, client, base := serve(t, nil)
	for path, media := range map[string]string{collect.PagePath: "text/html", collect.PagePath + ".js": "text/javascript", collect.PagePath + ".css": "text/css"} {
		r, text := get(t, client, base+path)
		if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), media) || len(text) < 1000 {
			t.Errorf("%s: %s %s, %d bytes", path, r.Status, r.Header.Get("Content-Type"), len(text))
		}
		for name, want := range map[string]string{"Content-Security-Policy": pagePolicy, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if len(r.Cookies()) > 0 || r.Header.Get("ETag") != "" || r.Header.Get("Last-Modified") != "" {
			t.Errorf("%s: a browser would be known again: %v", path, r.Header)
		}
		if again, other := get(t, client, base+path+"?t=x"); again.StatusCode != 200 || other != text {
			t.Errorf("%s is not the same for everybody", path)
		}
		for _, word := range []string{"https://", "http://", "//cdn", "eval(", "innerHTML", "document.cookie"} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %q", path, word)
			}
		}
	}
	_, client, base = serve(t, func(o *Options) { o.Page = false })
	if r, _ := get(t, client, base+collect.PagePath); r.StatusCode != http.StatusNotFound {
		t.Errorf("without a page: %s", r.Status)
	}
}

// TestTooManyRequests: beyond the rate of an address there is a fixed answer, which browsers of the
// operator's pages can read.
func TestTooManyRequests(t *testing.T) {
	_, client, base := serve(t, func(o *Options) { o.Origins = []string{"*"} })
	var refused *http.Response
	for range burst + 400 {
		r, _ := get(t, client, base+"/v1/collections/x/round")
		if r.StatusCode == http.StatusTooManyRequests {
			refused = r
			break
		}
	}
	if refused == nil || refused.Header.Get("Retry-After") == "" || refused.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a program that runs wild is answered: %+v", refused)
	}
}

// TestConnectionsFollowAReload: where all connections are taken the oldest makes room, and a new
// limit takes effect.
func TestConnectionsFollowAReload(t *testing.T) {
	s, client, base := serve(t, func(o *Options) { o.MaxConnections = 2 })
	transport, _ := client.Transport.(*http.Transport)
	address := strings.TrimPrefix(base, "https://")
	var all []*tls.Conn
	dial := func() {
		t.Helper()
		c, err := tls.DialWithDialer(&net.Dialer{Timeout: 20 * time.Second}, "tcp", address, transport.TLSClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all = append(all, c)
	}
	// gone tells whether the server has closed a connection.
	gone := func(c *tls.Conn, within time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(within))
		_, err := c.Read(make([]byte, 1))
		var late net.Error
		return !errors.As(err, &late) || !late.Timeout()
	}
	for range 3 {
		dial()
	}
	if !gone(all[0], 20*time.Second) {
		t.Error("of three connections where there may be two the oldest is open")
	}
	s.SetMaxConnections(4)
	dial()
	dial()
	for n, c := range all[1:] {
		if gone(c, 20*time.Millisecond) {
			t.Errorf("connection %d of 4 was closed", n+1)
		}
	}
	var none *Server
	none.SetMaxConnections(1)
}

// slow takes reports when it is told to.
type slow struct {
	backend
	begun chan struct{}
	end   chan struct{}
}

func (s slow) Accept(context.Context, string, []byte, []byte) error {
	s.begun <- struct{}{}
	<-s.end
	return nil
}

// TestReportsOfOneAddress: of reports that are being taken an address has three quarters of the
// connections, over one connection, too; the next is to be sent again later.
func TestReportsOfOneAddress(t *testing.T) {
	b := slow{begun: make(chan struct{}), end: make(chan struct{})}
	_, client, base := serve(t, func(o *Options) { o.Backend, o.MaxConnections = b, 4 })
	post := func() int {
		r, err := client.Post(base+"/v1/collections/x/reports", "application/json", strings.NewReader(`{"token": "00112233445566778899aabbccddeeff", "report": "AAAA"}`))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Body.Close()
		return r.StatusCode
	}
	taken := make(chan int)
	for range 3 {
		go func() { taken <- post() }()
		<-b.begun
	}
	if got := post(); got != http.StatusTooManyRequests {
		t.Errorf("a fourth report at a time: %d", got)
	}
	close(b.end)
	for range 3 {
		if got := <-taken; got != http.StatusOK {
			t.Errorf("a report of three: %d", got)
		}
	}
	go func() { <-b.begun }()
	if got := post(); got != http.StatusOK {
		t.Errorf("a report after the others: %d", got)
	}
}
