package engine

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"scrim/engine/datadir"
	"scrim/internal/selfsigned"
)

// certificate is the server's, which a reload replaces: the operator's, or one that the first start
// has made. The latter keeps who only listens from reading passwords and answers; a client that
// would know the server by it takes its file as the authority to trust.
type certificate struct {
	now   atomic.Pointer[tls.Certificate]
	given atomic.Bool // by the operator
}

// load reads the operator's files, or else the server's own, which it makes where there are none.
func (t *certificate) load(c Config) error {
	certFile, keyFile, given := c.TLSCert, c.TLSKey, c.TLSCert != ""
	if !given {
		certFile, keyFile = c.Place().Path(datadir.CertificateFile), c.Place().Path(datadir.CertificateKeyFile)
		if err := selfsigned.Make(certFile, keyFile, "Scrim server", c.Listen); err != nil {
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

// ends is when the certificate ends.
func (t *certificate) ends() time.Time { return t.now.Load().Leaf.NotAfter }

// operators is config where the operator has given the certificate, else nil.
func (t *certificate) operators() *tls.Config {
	if !t.given.Load() {
		return nil
	}
	return t.config()
}
