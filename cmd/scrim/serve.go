package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scrim/engine"
	"scrim/engine/traces"
)

// passwordVariable names the environment variable with the password of a new directory's root.
const passwordVariable = "SCRIM_ROOT_PASSWORD"

// serveCommand opens a data directory and serves it until the process is told to stop.
func serveCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve --data DIR",
		Short: "Serve a data directory over the MySQL protocol",
		Long: `Serve creates or opens a data directory, prints one line when it is ready, and stops cleanly on SIGTERM
or Ctrl-C. The first start makes the DBA account root with the password from the environment variable
` + passwordVariable + ` or from --root-password-file, or with a generated one that it prints once. The log goes to
standard error and holds no values of rows.

Every flag may also be set by an environment variable (--max-connections by SCRIM_MAX_CONNECTIONS) or in the TOML
file of --config (max-connections = 256). Flags go before the environment, and that before the file. All of it is
checked before anything is opened, and all problems are told at once; scrim config check does only that.

A data directory that an earlier version of the program wrote, with another version of DuckDB, is not opened without --yes:
the start says what it would convert and copy. With it, a copy of the store and the policies is made first.

SIGHUP reads the file, the certificate and its key again. What can change while the server runs does (scrim
config example says what), or nothing does where something is wrong; the log says which.

The standard environment variables of OpenTelemetry make it send traces, by HTTP and protobuf: OTEL_TRACES_EXPORTER=otlp
with OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and the rest. Without them it sends none.`,
		Example: `  ` + passwordVariable + `='choose one' scrim serve --data /var/lib/scrim --listen 127.0.0.1:3307
  scrim serve --data /var/lib/scrim --listen :3307 --tls-cert cert.pem --tls-key key.pem --require-tls
  scrim serve --config /etc/scrim/scrim.toml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), s, cmd.Flags())
		},
	}
	registerSettings(cmd.Flags())
	return cmd
}

func serve(ctx context.Context, s streams, flags *pflag.FlagSet) error {
	hangups := make(chan os.Signal, 1)
	// from here on, so that an early one does not end the process
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	l := load(flags, os.Environ())
	if err := l.err(); err != nil {
		return err
	}
	l.Logger = newLogger(s.err, l.options)
	for _, note := range l.notes {
		l.Logger.Warn().Msg(note)
	}
	spans, err := traces.Open(ctx, os.Getenv, l.Logger)
	if err != nil {
		return err
	}
	if spans != nil {
		defer spans.Close()
		l.Observers, l.Steps = append(l.Observers, spans), true
	}
	srv, err := engine.Open(l.Config)
	if err != nil {
		return err
	}
	defer func() { srv.Close() }()
	if p := srv.RootPassword(); p != "" {
		fmt.Fprintf(s.out, "scrim: made the account root with the password %s (it is not shown again)\n", p)
	}
	r := &reloader{srv: srv, flags: flags, current: l, log: l.Logger}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go r.run(ctx, hangups)
	fmt.Fprintf(s.out, "scrim: ready on %s\n", srv.Addr())
	if a := srv.HTTPAddr(); a != nil {
		scheme := "http"
		if l.TLSCert != "" {
			scheme = "https"
		}
		fmt.Fprintf(s.out, "scrim: dashboard on %s\nscrim: console on %s://%s/console\n", a, scheme, a)
	}
	if a := srv.ContributeAddr(); a != nil {
		fmt.Fprintf(s.out, "scrim: contributors on %s\n", a)
	}
	notify("READY=1")
	for err = srv.Serve(ctx); errors.Is(err, engine.ErrHalted); err = srv.Serve(ctx) {
		l.Logger.Warn().Msg("the data directory is closed, and opened anew from the disk; clients have to connect again")
		_ = srv.Close() // what it could not write is why
		if srv, err = r.reopen(); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	notify("STOPPING=1")
	return srv.Close()
}

// newLogger writes the log in the form that was asked for. Its level is the process's, which a
// reload changes.
func newLogger(w io.Writer, o options) zerolog.Logger {
	zerolog.SetGlobalLevel(logLevels[o.LogLevel])
	if o.LogFormat == "text" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: "2006-01-02T15:04:05.000Z07:00", NoColor: true}
	}
	return zerolog.New(w).With().Timestamp().Logger()
}
