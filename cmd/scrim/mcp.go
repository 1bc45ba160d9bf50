package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-sql-driver/mysql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

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
