package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"scrim/engine"
)

// passwordVariable names the environment variable with the password of a new directory's root.
const passwordVariable = "SCRIM_ROOT_PASSWORD"

// logLevels are the values of --log-level.
var logLevels = map[string]zerolog.Level{
	"debug": zerolog.DebugLevel, "info": zerolog.InfoLevel, "warn": zerolog.WarnLevel, "error": zerolog.ErrorLevel,
}

// serveCommand opens a data directory and serves it until the process is told to stop.
func serveCommand(s streams) *cobra.Command {
	c := engine.DefaultConfig("")
	var level string
	cmd := &cobra.Command{
		Use:   "serve --data DIR",
		Short: "Serve a data directory over the MySQL protocol",
		Long: `Serve creates or opens a data directory, prints one line when it is ready, and stops cleanly on SIGTERM
or Ctrl-C. The first start makes the DBA account root with the password from the environment variable
` + passwordVariable + `, or with a generated one that it prints once. The log goes to standard error and
holds no values of rows.`,
		Example: `  ` + passwordVariable + `='choose one' scrim serve --data /var/lib/scrim --listen 127.0.0.1:3307
  scrim serve --data /var/lib/scrim --listen :3307 --tls-cert cert.pem --tls-key key.pem --require-tls`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, ok := logLevels[level]
			if !ok {
				return errors.Join(fmt.Errorf("log level %q: want debug, info, warn or error", level), c.Validate())
			}
			c.Logger = zerolog.New(s.err).Level(l).With().Timestamp().Logger()
			c.RootPassword = os.Getenv(passwordVariable)
			return serve(cmd.Context(), c, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.DataDir, "data", "", "data directory (required)")
	f.StringVar(&c.Listen, "listen", c.Listen, "TCP address to listen on")
	f.StringVar(&c.HTTP, "http", "", "TCP address of the dashboard, /metrics, /healthz and /readyz, e.g. 127.0.0.1:8307 (default: none)")
	f.StringVar(&c.TLSCert, "tls-cert", "", "PEM file of the TLS certificate; TLS is offered when it is given")
	f.StringVar(&c.TLSKey, "tls-key", "", "PEM file of the certificate's key")
	f.BoolVar(&c.RequireTLS, "require-tls", false, "close connections that do not use TLS")
	f.IntVar(&c.Threads, "threads", 0, "threads of the store (0: all processors)")
	f.StringVar(&c.MemoryLimit, "memory-limit", "", "memory of the store before it spills to disk, e.g. 4GiB (default 1GiB)")
	f.Int64Var(&c.ReleaseMemory, "query-memory", c.ReleaseMemory, "MiB that the per-person numbers of one private query may take")
	f.IntVar(&c.MaxConnections, "max-connections", c.MaxConnections, "open connections at most")
	f.DurationVar(&c.AuthTimeout, "login-timeout", c.AuthTimeout, "time from connecting to being logged in")
	f.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	f.BoolVar(&c.DebugErrors, "log-store-errors", false, "add the store's raw messages, which may hold values of rows, to the log")
	return cmd
}

func serve(ctx context.Context, c engine.Config, s streams) error {
	srv, err := engine.Open(c)
	if err != nil {
		return err
	}
	defer srv.Close()
	if p := srv.RootPassword(); p != "" {
		fmt.Fprintf(s.out, "scrim: made the account root with the password %s (it is not shown again)\n", p)
	}
	fmt.Fprintf(s.out, "scrim: ready on %s\n", srv.Addr())
	if err := srv.Serve(ctx); err != nil {
		return err
	}
	return srv.Close()
}
