package clients

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	analyst         = "ann"
	analystPassword = "ann's password 1"
	newer           = "sha" // an analyst with the same password and caching_sha2_password
	dba             = "root"
	dbaPassword     = "root-password"

	// patience bounds the start and the end of the server on a loaded machine.
	patience = 60 * time.Second
)

// Server is a running scrim with the data set.
type Server struct {
	host, port, ca string

	cmd  *exec.Cmd
	log  string
	done chan error
}

// Start serves a new data directory under dir by the binary, on a free port of loopback, with TLS.
func Start(ctx context.Context, binary, dir string) (*Server, error) {
	cert, key, err := certificate(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{ca: cert, log: filepath.Join(dir, "server.log"), done: make(chan error, 1)}
	s.cmd = exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0",
		"--threads", "2", "--tls-cert", cert, "--tls-key", key)
	s.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SCRIM_") }), "SCRIM_ROOT_PASSWORD="+dbaPassword)
	if err := s.launch(); err != nil {
		return nil, err
	}
	if err := s.fill(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// launch starts the process and waits for its ready line.
func (s *Server) launch() error {
	log, err := os.Create(s.log)
	if err != nil {
		return err
	}
	s.cmd.Stderr = log
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if addr, ok := strings.CutPrefix(lines.Text(), "scrim: ready on "); ok {
				ready <- addr
			}
		}
		s.done <- errors.Join(s.cmd.Wait(), log.Close())
	}()
	select {
	case addr := <-ready:
		s.host, s.port, err = net.SplitHostPort(addr)
		return err
	case err := <-s.done:
		return fmt.Errorf("the server ended before it was ready: %w\n%s", err, s.Log())
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		return errors.New("the server was not ready in time")
	}
}

// fill makes the data set as the DBA.
func (s *Server) fill(ctx context.Context) error {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr = dba, dbaPassword, "tcp", net.JoinHostPort(s.host, s.port)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, q := range schema(strings.ReplaceAll(analystPassword, "'", "''")) {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.200s: %w", q, err)
		}
	}
	return nil
}

// Log is what the server wrote to standard error.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Stop ends the server as an operator would, and wants exit code 0 and no panic in its log: no
// client may have left it in a state in which it cannot end.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.done:
		if err != nil {
			return fmt.Errorf("%w\n%s", err, s.Log())
		}
		return s.panics()
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		return errors.New("the server did not end in time")
	}
}

// panics returns what the log says of statements that ended in one.
func (s *Server) panics() error {
	var out []string
	for line := range strings.Lines(s.Log()) {
		if strings.Contains(line, "panic") {
			out = append(out, line)
		}
	}
	if len(out) > 0 {
		return fmt.Errorf("%d panics in the server's log, the first:\n%s", len(out), out[0])
	}
	return nil
}

// certificate writes a certificate for loopback, which is its own authority, and its key.
func certificate(dir string) (cert, key string, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		return "", "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	return cert, key, errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}
