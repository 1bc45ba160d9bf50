package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scrim/engine"
	"scrim/engine/observe/traces"
	"scrim/internal/lists"
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

// reloader reads the configuration again when the process is told to.
type reloader struct {
	mu      sync.Mutex
	srv     *engine.Server
	flags   *pflag.FlagSet
	current *loaded
	log     zerolog.Logger
}

func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-hangups:
			r.reload()
		case <-ctx.Done():
			return
		}
	}
}

// reload puts into effect what has changed and can, or nothing where anything is wrong.
func (r *reloader) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := load(r.flags, os.Environ())
	if err := next.err(); err != nil {
		r.log.Error().Strs("problems", lists.Map(next.problems, func(err error) string { return err.Error() })).Msg("the configuration is not reloaded: nothing has changed")
		return
	}
	now, later := r.changes(next)
	if err := r.srv.Reload(next.Config, strings.Join(now, ", ")); err != nil {
		r.log.Error().Err(err).Msg("the configuration is not reloaded: nothing has changed")
		return
	}
	zerolog.SetGlobalLevel(logLevels[next.LogLevel])
	for _, name := range later {
		s, _ := find(name)
		r.log.Warn().Str("setting", name).Str("now", s.shown(r.current.options)).Str("configured", s.shown(next.options)).
			Msg("the setting changes with the next start of the server only")
	}
	r.keep(next)
	// At any level: the one that has just been set may be higher.
	r.log.Log().Strs("changed", now).Msg("the configuration is reloaded")
}

// reopen opens the data directory of a server that is closed anew, at the same addresses and with
// what was reloaded.
func (r *reloader) reopen() (*engine.Server, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg := r.current.Config
	cfg.Listen = r.srv.Addr().String()
	if a := r.srv.HTTPAddr(); a != nil {
		cfg.HTTP = a.String()
	}
	if a := r.srv.ContributeAddr(); a != nil {
		cfg.ContributeListen = a.String()
	}
	srv, err := engine.Open(cfg)
	if err == nil {
		r.srv = srv
	} else {
		srv = r.srv
	}
	return srv, err
}

// changes lists the settings that are to take effect now, and those that need a restart.
func (r *reloader) changes(next *loaded) (now, later []string) {
	now, later = []string{}, []string{}
	for _, s := range settings {
		if s.text(r.current.options) == s.text(next.options) || s.field == "RootPassword" || s.field == "RootPasswordFile" {
			continue // the password of root is for the first start
		}
		switch tls := s.field == "TLSCert" || s.field == "TLSKey"; {
		case !s.reload, tls && (r.current.TLSCert == "") != (next.TLSCert == ""):
			later = append(later, s.name)
		default:
			now = append(now, s.name)
		}
	}
	return now, later
}

// keep makes next's reloadable values the current ones.
func (r *reloader) keep(next *loaded) {
	now, _ := r.changes(next)
	for _, s := range settings {
		if slices.Contains(now, s.name) {
			s.in(&r.current.options).Set(s.in(&next.options))
		}
	}
}

// notify tells systemd about the process, where systemd has started it: sd_notify(3).
func notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}

// healthCommand asks a server on this machine whether it answers clients.
func healthCommand(s streams) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the server on this machine whether it is ready",
		Long: `Health asks /readyz at the address that serve was given with --http, and ends with exit code 0 where the server is ready.
It reads the configuration that serve reads. It is for health checks of containers, where nothing else can ask.`,
		Example: "  scrim health --http 127.0.0.1:8307",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			if l.HTTP == "" {
				return errors.New("there is no address to ask: want --http, SCRIM_HTTP, or http in the configuration file")
			}
			scheme := "http"
			if l.TLSCert != "" {
				scheme = "https"
			}
			if err := ready(cmd.Context(), scheme+"://"+l.HTTP+"/readyz", timeout); err != nil {
				return err
			}
			fmt.Fprintln(s.out, "ready")
			return nil
		},
	}
	registerSettings(cmd.Flags())
	cmd.Flags().DurationVar(&timeout, "timeout", 4*time.Second, "how long the answer may take")
	return cmd
}

// ready asks url. The certificate is not looked at: nothing is told, and its name is not that of
// the loopback address.
func ready(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
