package shuffler

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The shuffler's own certificate, in its data directory, for who gives none. A contributor who would know the shuffler by
// it takes the file as the authority to trust.
const (
	fileCertificate = "server-cert.pem"
	fileKey         = "server-key.pem"
	madeFor         = 10 * 365 * 24 * time.Hour
	madeAgain       = 30 * 24 * time.Hour
)

// certificate loads the operator's certificate, or the shuffler's own, which it makes where there is none.
func certificate(c Config) (*tls.Config, error) {
	certFile, keyFile := c.TLSCert, c.TLSKey
	if certFile == "" {
		certFile, keyFile = filepath.Join(c.DataDir, fileCertificate), filepath.Join(c.DataDir, fileKey)
		if err := makeCertificate(certFile, keyFile, c.Listen); err != nil {
			return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// makeCertificate makes a certificate that vouches for itself, unless there is one that is still good. The key is written
// first: a certificate is never there without its key.
func makeCertificate(certFile, keyFile, listen string) error {
	if pair, err := tls.LoadX509KeyPair(certFile, keyFile); err == nil && time.Until(pair.Leaf.NotAfter) > madeAgain {
		return nil
	} else if err != nil && exists(certFile) && exists(keyFile) {
		return fmt.Errorf("%w; remove %s and %s, and others are made", err, certFile, keyFile)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := selfSigned(key, listen)
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

func selfSigned(key *ecdsa.PrivateKey, listen string) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Scrim shuffler, made by itself"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(madeFor), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names(listen) {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	return x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
}

// names are those under which contributors may look for the shuffler.
func names(listen string) []string {
	list := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "" {
		list = append(list, host)
	}
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" && host != "0.0.0.0" && host != "::" {
		list = append(list, host)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
