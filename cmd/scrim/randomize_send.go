package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/contribute"
)

// contribute makes the report, unless the wallet has it, and sends it when it is due. The wallet is
// free meanwhile.
func (r *randomizing) contribute(ctx context.Context, s streams, server *sql.DB, p *contribute.Params) error {
	info, _ := p.Protocol.Info()
	to := server
	if info.Model == collect.Shuffle {
		var err error
		if to, err = r.mixer(s.err); err != nil {
			return err
		}
		defer to.Close()
	}
	ended := false
	err := withWallet(r.wallet, func(w *contribute.Wallet) (err error) {
		ended, err = r.make(ctx, s, w, to, p, info.Model)
		return err
	})
	if err != nil || ended {
		return err
	}
	if err := r.wait(ctx, s); err != nil {
		return err
	}
	return withWallet(r.wallet, func(w *contribute.Wallet) error { return deliver(ctx, s, w, to, p, info.Model) })
}

// make has the wallet make the report once; ended tells that it was acknowledged or given up
// before.
func (r *randomizing) make(ctx context.Context, s streams, w *contribute.Wallet, to *sql.DB, p *contribute.Params, model collect.Model) (ended bool, err error) {
	kept, again := w.Record(p.UUID)
	if !again && !r.given() {
		return false, errors.New("want --value, --vector or --null: the wallet has no report to this collection yet")
	}
	if model == collect.Shuffle {
		err = r.bundle(ctx, w, to, p, again)
	} else {
		_, err = w.Report(p, r.parsedToken, r.parsedValue)
	}
	if err != nil && !errors.Is(err, contribute.ErrForgotten) {
		return false, err
	}
	if again {
		return r.found(s, kept), nil
	}
	kept, _ = w.Record(p.UUID)
	fmt.Fprintf(s.out, "%s\n%s\nmade, and kept in %s: %s\n", heading(p, r.parsedToken), balance(w.Spent(), kept.Cost, w.Caps()), w.Path(), shown(kept))
	return false, nil
}

// bundle has the wallet make a bundle once the shuffler has said that it has pinned the parameters;
// one that was made before needs no word.
func (r *randomizing) bundle(ctx context.Context, w *contribute.Wallet, to *sql.DB, p *contribute.Params, again bool) (err error) {
	var pin contribute.Pin
	if !again {
		if pin, err = contribute.AskPin(ctx, to, p); err != nil {
			return fmt.Errorf("%w\nNothing was made or charged", err)
		}
	}
	var consents []contribute.Consent
	if r.trustOperator {
		consents = append(consents, contribute.TrustedOperator)
	}
	_, err = w.Bundle(pin, p, r.parsedToken, r.parsedValue, consents...)
	return err
}

// unprotected is what is added to a line about a report whose operator can read the value.
func unprotected(r contribute.Record) string {
	if !r.Trusted {
		return ""
	}
	return "; " + oneOperator
}

// found says that the wallet has a report; ended that nothing is to be sent.
func (r *randomizing) found(s streams, kept contribute.Record) (ended bool) {
	if kept.State == contribute.Abandoned {
		fmt.Fprintf(s.out, "%s: the report of %s was given up; nobody reports twice, and nothing was sent%s\n", kept.Collection, kept.Made, unprotected(kept))
		return true
	}
	if kept.State == contribute.Acknowledged {
		fmt.Fprintf(s.out, "%s: the report of %s has arrived; nobody reports twice, and nothing was sent%s\n", kept.Collection, kept.Made, unprotected(kept))
		return true
	}
	fmt.Fprintf(s.out, "%s: the report of %s is sent again, unchanged", kept.Collection, kept.Made)
	if r.given() {
		fmt.Fprint(s.out, "; the value given now was not looked at")
	}
	fmt.Fprintln(s.out, unprotected(kept))
	return false
}

// shown is a report as it is sent: of the local model, all of it.
func shown(r contribute.Record) string {
	if r.Model() == collect.Local {
		return fmt.Sprintf("%d bytes, %s", len(r.Report), hex.EncodeToString(r.Report))
	}
	if len(r.Report) == 0 {
		return fmt.Sprintf("a bundle with the SHA-256 %v, which is not kept any longer", r.ReportHash)
	}
	return fmt.Sprintf("a bundle of %d bytes with the SHA-256 %v", len(r.Report), r.ReportHash)
}

// deliver sends what the wallet keeps.
func deliver(ctx context.Context, s streams, w *contribute.Wallet, to *sql.DB, p *contribute.Params, model collect.Model) error {
	send := func() error { return w.Send(ctx, to, p.UUID) }
	if model == collect.Shuffle {
		send = func() error { return w.SendBundle(ctx, to, p.UUID) }
	}
	if err := send(); err != nil {
		return fmt.Errorf("%w\nThe report is kept and charged%s", err, remedy(err))
	}
	kept, _ := w.Record(p.UUID)
	fmt.Fprintf(s.out, "arrived at %s%s\n", time.Now().UTC().Format(time.DateTime+" UTC"), unprotected(kept))
	return nil
}

// remedy says what may follow an error of sending.
func remedy(err error) string {
	var answer *contribute.Refused
	if errors.As(err, &answer) && !answer.Temporary() {
		return ", and was not taken"
	}
	return "; the same command sends it again, unchanged"
}

// wait waits until the report is due: when it is sent must not depend on how long it took to make.
func (r *randomizing) wait(ctx context.Context, s streams) error {
	due := r.dueAt
	if r.within > 0 {
		after, err := rand.Int(rand.Reader, big.NewInt(int64(r.within)))
		if err != nil {
			return err
		}
		due = time.Now().Add(time.Duration(after.Int64()))
	}
	if due.IsZero() || !due.After(time.Now()) {
		return nil
	}
	fmt.Fprintf(s.err, "scrim: sending at %s; ending this command before sends nothing, and the same command goes on\n", due.UTC().Format(time.DateTime+" UTC"))
	select {
	case <-time.After(time.Until(due)):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ended before the report was sent; it is kept, and the same command sends it: %w", ctx.Err())
	}
}

// dsnVariable is the environment's variable for --dsn.
const dsnVariable = "SCRIM_DSN"

// shufflerUser logs in at a shuffler that is named by its address alone: there, the token is what
// counts.
const shufflerUser = "contributor"

// server opens the connections to the server.
func (r *randomizing) server(warn io.Writer) (*sql.DB, error) {
	c, err := r.serverConfig()
	if err != nil {
		return nil, err
	}
	return r.pool(c, "server", warn)
}

func (r *randomizing) serverConfig() (*mysql.Config, error) {
	dsn := r.dsn
	if dsn == "" {
		dsn = os.Getenv(dsnVariable)
	}
	if dsn == "" {
		return nil, fmt.Errorf("want --dsn or %s, such as contributor:password@tcp(survey.example.org:3307)/?tls=true", dsnVariable)
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("--dsn: %w; want USER:PASSWORD@tcp(HOST:PORT)/?tls=true", err)
	}
	return c, nil
}

// mixer opens the connections to the shuffler, which must not be the server: what reaches that
// without being mixed is not private.
func (r *randomizing) mixer(warn io.Writer) (*sql.DB, error) {
	if r.shuffler == "" {
		return nil, errors.New("this is a collection of the shuffle model; want --shuffler, the shuffler's HOST:PORT. Nothing was made or sent")
	}
	c, err := r.shufflerConfig()
	if err != nil {
		return nil, err
	}
	server, err := r.serverConfig()
	if err != nil {
		return nil, err
	}
	if sameAddress(c, server) {
		return nil, fmt.Errorf("--shuffler %s is the server's own address; a bundle that reaches the server is not private. Nothing was made or sent", c.Addr)
	}
	return r.pool(c, "shuffler", warn)
}

// sameAddress tells whether two addresses are plainly of one listener. Where they are so in another
// way, the server says that it has pinned nothing, and gets nothing.
func sameAddress(a, b *mysql.Config) bool {
	_, portA, _ := net.SplitHostPort(a.Addr)
	_, portB, _ := net.SplitHostPort(b.Addr)
	return a.Net == b.Net && (a.Addr == b.Addr || near(a) && near(b) && portA == portB && a.Net != "unix")
}

func (r *randomizing) shufflerConfig() (*mysql.Config, error) {
	if strings.ContainsAny(r.shuffler, "@/") {
		c, err := mysql.ParseDSN(r.shuffler)
		if err != nil {
			return nil, fmt.Errorf("--shuffler: %w; want HOST:PORT, or USER:PASSWORD@tcp(HOST:PORT)/?tls=true", err)
		}
		return c, nil
	}
	if _, _, err := net.SplitHostPort(r.shuffler); err != nil {
		return nil, fmt.Errorf("--shuffler: %w; want HOST:PORT", err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = shufflerUser, "tcp", r.shuffler
	if !near(c) {
		host, _, _ := net.SplitHostPort(r.shuffler)
		c.TLS = &tls.Config{ServerName: host}
	}
	return c, nil
}

// How long a server may be silent where the DSN does not say so.
const (
	dialTimeout = 15 * time.Second
	readTimeout = time.Minute
)

// pool opens connections by a configuration, hardened: the other side need not be honest. It can
// neither have files of this device, nor send without end.
func (r *randomizing) pool(c *mysql.Config, who string, warn io.Writer) (*sql.DB, error) {
	if err := r.secure(c, who, warn); err != nil {
		return nil, err
	}
	c.AllowAllFiles, c.MultiStatements, c.InterpolateParams = false, false, false
	c.Logger = &mysql.NopLogger{}
	c.DialFunc = contribute.LimitDial(nil, contribute.DialBytes)
	c.Timeout = cmp.Or(c.Timeout, dialTimeout)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, readTimeout)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", who, err)
	}
	return sql.OpenDB(connector), nil
}

// secure sees to TLS: a connection to another machine that does not verify whom it reaches is
// refused, or with --unverified warned of.
func (r *randomizing) secure(c *mysql.Config, who string, warn io.Writer) error {
	if r.ca != "" && c.Net != "unix" {
		if err := trust(c, r.ca); err != nil {
			return err
		}
	}
	if verified(c) || near(c) {
		return nil
	}
	if !r.unverified {
		return fmt.Errorf("the connection to the %s at %s would not verify whom it reaches, so that somebody in between could show you a collection of their own, "+
			"or take your token; want tls=true in the DSN, or --tls-ca with its certificate; --unverified connects nevertheless", who, c.Addr)
	}
	fmt.Fprintf(warn, "scrim: WARNING: the connection to the %s at %s does not verify whom it reaches. Compare the fingerprint with one that was published elsewhere.\n", who, c.Addr)
	return nil
}

// verified tells whether a connection is by TLS that verifies the other side.
func verified(c *mysql.Config) bool {
	return c.TLS != nil && !c.TLS.InsecureSkipVerify && !c.AllowFallbackToPlaintext
}

// near tells whether the other side is this machine.
func near(c *mysql.Config) bool {
	if c.Net == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// trust has a connection verify by the certificates of a file.
func trust(c *mysql.Config, file string) error {
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--tls-ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("--tls-ca: %s has no certificate in PEM", file)
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("--tls-ca: %w", err)
	}
	c.TLS, c.TLSConfig, c.AllowFallbackToPlaintext = &tls.Config{RootCAs: roots, ServerName: host}, "", false
	return nil
}
