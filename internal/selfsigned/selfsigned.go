// Package selfsigned makes the TLS certificate of a process whose operator gives none, in its data
// directory. It keeps who only listens from reading passwords and answers; a client that would know
// the process by it takes its file as the authority to trust.
package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

// madeFor is how long a certificate is good, and madeAgain how long before its end another one
// takes its place.
const (
	madeFor   = 10 * 365 * 24 * time.Hour
	madeAgain = 30 * 24 * time.Hour
)

// Make makes a certificate and its key for a process of the name that listens there, unless there
// is one that is still good. The key's file is written first: a certificate is never there without
// its key.
func Make(certFile, keyFile, name, listen string) error {
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
	cert, err := sign(key, name, names(listen), time.Now())
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

// sign returns a certificate that vouches for itself, so that a client can trust it alone.
func sign(key *ecdsa.PrivateKey, name string, names []string, now time.Time) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name + ", made by itself"},
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

// names are those under which clients may look for the process.
func names(listen string) []string {
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
