package engine

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// certificate is the server's, which a reload replaces.
type certificate struct {
	now atomic.Pointer[tls.Certificate]
}

// load reads the files; without any, TLS is not offered.
func (t *certificate) load(c Config) error {
	if c.TLSCert == "" {
		return nil
	}
	cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return fmt.Errorf("engine: TLS certificate: %w", err)
	}
	t.now.Store(&cert)
	return nil
}

// config is nil when TLS is not offered.
func (t *certificate) config() *tls.Config {
	if t.now.Load() == nil {
		return nil
	}
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.now.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}
