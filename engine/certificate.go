package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// certificate is the server's, which a reload replaces: the operator's, or one that the first start
// has made. The latter keeps who only listens from reading passwords and answers; a client that would
// know the server by it takes its file as the authority to trust.
type certificate struct {
	now   atomic.Pointer[tls.Certificate]
	given atomic.Bool // by the operator
}

// madeFor is how long a certificate of the server's own is good, and madeAgain how long before its end
// another one takes its place.
const (
	madeFor   = 10 * 365 * 24 * time.Hour
	madeAgain = 30 * 24 * time.Hour
)

// load reads the operator's files, or else the server's own, which it makes where there are none.
func (t *certificate) load(c Config) error {
	certFile, keyFile, given := c.TLSCert, c.TLSKey, c.TLSCert != ""
	if !given {
		certFile, keyFile = c.path(fileCertificate), c.path(fileCertificateKey)
		if err := makeCertificate(certFile, keyFile, c.Listen); err != nil {
			return fmt.Errorf("engine: TLS certificate: %w", err)
		}
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		if !given {
			return fmt.Errorf("engine: TLS certificate: %w; remove %s and %s, and others are made", err, certFile, keyFile)
		}
		return fmt.Errorf("engine: TLS certificate: %w", err)
	}
	t.now.Store(&cert)
	t.given.Store(given)
	return nil
}

// config offers the certificate.
func (t *certificate) config() *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.now.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}

// operators is config where the operator has given the certificate, else nil.
func (t *certificate) operators() *tls.Config {
	if !t.given.Load() {
		return nil
	}
	return t.config()
}

// makeCertificate makes a certificate and its key, unless there is one that is still good. The key's
// file is written first: a certificate is never there without its key.
func makeCertificate(certFile, keyFile, listen string) error {
	switch good, err := stillGood(certFile, keyFile); {
	case err != nil:
		return err
	case good:
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := selfSigned(key, serverNames(listen), time.Now())
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644)
}

// stillGood reports whether the files are there and their certificate does not end soon. Files that
// are damaged are left for the one who reads them.
func stillGood(certFile, keyFile string) (bool, error) {
	for _, name := range []string{certFile, keyFile} {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil || pair.Leaf == nil {
		return true, nil
	}
	return time.Until(pair.Leaf.NotAfter) > madeAgain, nil
}

// selfSigned returns a certificate that vouches for itself, so that a client can trust it alone.
func selfSigned(key *ecdsa.PrivateKey, names []string, now time.Time) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "Scrim server, made by itself"},
		NotBefore:             now.Add(-time.Hour), // clocks differ
		NotAfter:              now.Add(madeFor),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	return x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
}

// serverNames are the names under which clients may look for the server.
func serverNames(listen string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "" {
		names = append(names, host)
	}
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" && host != "0.0.0.0" && host != "::" {
		names = append(names, host)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
