package shuffler

import (
	"crypto/tls"
	"fmt"
	"path/filepath"

	"scrim/internal/selfsigned"
)

// The shuffler's own certificate, in its data directory, for who gives none. A contributor who
// would know the shuffler by it takes the file as the authority to trust.
const (
	fileCertificate = "server-cert.pem"
	fileKey         = "server-key.pem"
)

// certificate loads the operator's certificate, or the shuffler's own, which it makes where there
// is none.
func certificate(c Config) (*tls.Config, error) {
	certFile, keyFile := c.TLSCert, c.TLSKey
	if certFile == "" {
		certFile, keyFile = filepath.Join(c.DataDir, fileCertificate), filepath.Join(c.DataDir, fileKey)
		if err := selfsigned.Make(certFile, keyFile, "Scrim shuffler", c.Listen); err != nil {
			return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil && c.TLSCert == "" {
		return nil, fmt.Errorf("shuffler: TLS certificate: %w; remove %s and %s, and others are made", err, certFile, keyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
