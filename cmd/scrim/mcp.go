package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scrim/internal/mcp"
	"scrim/internal/release"
)

// toolServer is what scrim mcp was told.
type toolServer struct {
	way
	rows, bytes int
	timeout     time.Duration
	http        toolListener
}

// mcpCommand serves tools to programs that ask on behalf of a model.
func mcpCommand(s streams) *cobra.Command {
	var m toolServer
	cmd := &cobra.Command{
		Use:   "mcp [DATABASE]",
		Short: "Serve a running server to agents: the Model Context Protocol, over standard streams or HTTP",
		Long: `Mcp offers an agent the tools describe, price, query and budget. It is a client of a running server, as one account:
what the account may see and spend is for the server to say, and each statement is in its ledger and its audit log. Give
agents an account of their own that can only SELECT, with a budget of its own; accounts of DBAs are refused.

Without --http it speaks over standard input and output, as most clients start it. With --http it listens, on loopback
unless --http names another address, for which a bearer token is needed: of --token-file, or of the environment variable
` + tokenVariable + `. The password comes from --password-file or the environment variable ` + clientPassword + `.`,
		Example: `  scrim mcp --host db.example.org --user agent --password-file agent.pw --tls-ca ca.pem shop
  scrim mcp --user agent --http 127.0.0.1:8765 shop`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				m.database = args[0]
			}
			return m.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	m.register(f, "", "account of the agent")
	f.IntVar(&m.rows, "max-rows", 1000, "rows of an answer, at most")
	f.IntVar(&m.bytes, "max-bytes", 256<<10, "bytes of the values of an answer, at most")
	f.DurationVar(&m.timeout, "timeout", time.Minute, "how long a statement may run")
	m.http.register(f)
	_ = cmd.MarkFlagRequired("user")
	return cmd
}

// run serves until the client leaves, or ctx ends.
func (m *toolServer) run(ctx context.Context, s streams) error {
	if m.rows < 1 || m.bytes < 1 || m.timeout < time.Second {
		return errors.New("want --max-rows and --max-bytes of at least 1, and --timeout of at least 1s")
	}
	if err := m.http.check(); err != nil {
		return err
	}
	o, err := m.options(ctx, s)
	if err != nil {
		return err
	}
	if m.http.address != "" {
		return m.http.serve(ctx, s, o)
	}
	err = mcp.New(o).Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(s.in), Writer: openWriter{s.out}})
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// options has the way to the server, which is tried once.
func (m *toolServer) options(ctx context.Context, s streams) (o mcp.Options, err error) {
	c := m.config()
	c.Params = map[string]string{"max_execution_time": fmt.Sprint(m.timeout.Milliseconds())}
	if err := m.reach(s, c); err != nil {
		return o, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return o, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := mcp.Admit(ctx, db); err != nil {
		return o, fmt.Errorf("connecting to %s as %s: %w", c.Addr, c.User, err)
	}
	return mcp.Options{Connector: connector, Version: release.Version, Rows: m.rows, Bytes: m.bytes, Timeout: m.timeout}, nil
}

// openWriter is a stream that stays open.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }

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
