package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scrim/engine/collections/shuffler"
)

// shuffleCommand serves a shuffler; its subcommands are its operator's.
func shuffleCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shuffle --data DIR --upstream DSN --pin NAME:FINGERPRINT",
		Short: "Run a shuffler: it stands between contributors and a server, and mixes what they send",
		Long: `Shuffle takes sealed bundles of a shuffle collection from contributors, each with a one-time token, waits for
enough of them, permutes all their messages and releases them once to the server behind. It cannot open a message, and
the server cannot tell whose they are: as long as the two do not work together. Run it on another machine, by other people.

It pins the public parameters that contributors use, by their fingerprint: it fetches them from the server, verifies
them, prints what they promise, and refuses bundles of any other. What is pinned never changes. The server has to be
reachable for the first pin; later, batches wait for it.

The data directory is the shuffler's own. It holds what was accepted, and is as precious: a batch goes on after a crash
exactly where it was. The account of --upstream needs the role shuffler at the server.

Every flag may also be set by an environment variable (--max-connections by SCRIM_SHUFFLE_MAX_CONNECTIONS) or in the
TOML file of --config (max-connections = 256). Flags go before the environment, and that before the file. Passwords come
from the latter two only: contributor-password (none unless it is set: the token is the credential) and
operator-password (made at the first start otherwise, and kept in the file operator of the data directory).`,
		Example: `  scrim shuffle --data /var/lib/scrim-shuffle --upstream 'mixer:pw@tcp(db.example.org:3307)/?tls=true' \
    --listen :3308 --require-tls --pin commute:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  scrim shuffle tokens --data /var/lib/scrim-shuffle --collection commute --count 10000 > tokens.tsv
  scrim shuffle status --data /var/lib/scrim-shuffle
  scrim shuffle close  --data /var/lib/scrim-shuffle --collection commute`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return shuffle(cmd.Context(), s, cmd.Flags()) },
	}
	shuffleFlags(cmd.Flags())
	for _, sub := range []func(streams) *cobra.Command{
		shufflePinCommand, shuffleTokensCommand, shuffleHashesCommand, shuffleCloseCommand, shuffleReopenCommand, shuffleGiveUpCommand, shuffleStatusCommand,
	} {
		cmd.AddCommand(sub(s))
	}
	return cmd
}

func shuffleFlags(f *pflag.FlagSet) {
	d := shuffler.DefaultConfig()
	f.String("data", "", "data directory of the shuffler (required)")
	f.String("listen", d.Listen, "TCP address to listen on")
	f.String("contribute-listen", d.ContributeListen, "TCP address at which contributors send bundles over HTTPS, e.g. :8443 (default: none)")
	f.String("contribute-origins", d.ContributeOrigins, "origins whose pages may send bundles from browsers, e.g. https://example.org, between commas; * for all (default: none)")
	f.String("upstream", "", "the server behind, as user:password@tcp(host:port)/?tls=true (required)")
	f.StringArray("pin", nil, "NAME:FINGERPRINT of a round to take bundles for; may be repeated")
	f.String("close-when", string(d.When), "reports at which a batch closes by itself: max (n_max), expected (n_expected) or min (n_min)")
	f.String("close-at", "", "time at which all batches close and no more bundles are taken, e.g. 2026-11-30T18:00:00Z; those that are too small are destroyed")
	f.String("tls-cert", "", "PEM file of the TLS certificate; without it the shuffler makes one of its own")
	f.String("tls-key", "", "PEM file of the certificate's key")
	f.Bool("require-tls", false, "close connections that do not use TLS")
	f.Int("max-connections", d.MaxConnections, "open connections at most")
	f.Duration("login-timeout", d.AuthTimeout, "time from connecting to being logged in")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "json", "json, or text for people")
	f.String("config", "", "TOML file of settings; flags go before the environment, and that before the file")
}

// shufflePrefix begins the environment variables of scrim shuffle.
const shufflePrefix = environmentPrefix + "SHUFFLE_"

// shuffleSecrets are the settings without a flag, which everybody on the machine could read.
var shuffleSecrets = []string{"contributor-password", "operator-password"}

// shuffleSettings fills the flags that were not given from the environment and the file, and
// returns the secrets.
func shuffleSettings(f *pflag.FlagSet, environ []string) (secrets map[string]string, err error) {
	env := map[string]string{}
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && strings.HasPrefix(name, shufflePrefix) {
			env[strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, shufflePrefix)), "_", "-")] = value
		}
	}
	path, _ := f.GetString("config")
	if path == "" {
		path = env["config"]
	}
	k := koanf.New("\x00")
	if path != "" {
		if err := k.Load(file.Provider(path), toml.Parser()); err != nil {
			return nil, fmt.Errorf("configuration file %s: %w", path, err)
		}
	}
	secrets = map[string]string{}
	for _, name := range shuffleSecrets {
		if secrets[name] = k.String(name); env[name] != "" {
			secrets[name] = env[name]
		}
		k.Delete(name)
	}
	return secrets, fillFlags(f, env, k, path)
}

// fillFlags sets flags that were not given. It tells all problems.
func fillFlags(f *pflag.FlagSet, env map[string]string, k *koanf.Koanf, path string) error {
	var problems []error
	for _, key := range k.Keys() {
		if f.Lookup(key) == nil || key == "config" {
			problems = append(problems, fmt.Errorf("configuration file %s: there is no setting %q", path, key))
		}
	}
	f.VisitAll(func(flag *pflag.Flag) {
		values, source := []string{env[flag.Name]}, "environment"
		switch {
		case flag.Changed || flag.Name == "config" || flag.Name == "help":
			return
		case env[flag.Name] != "":
		case k.Exists(flag.Name):
			values, source = []string{fmt.Sprint(k.Get(flag.Name))}, "file "+path
			if list := k.Strings(flag.Name); len(list) > 0 {
				values = list
			}
		default:
			return
		}
		for _, v := range values {
			if err := f.Set(flag.Name, v); err != nil {
				problems = append(problems, fmt.Errorf("%s (%s): %w", flag.Name, source, err))
			}
		}
	})
	return errors.Join(problems...)
}

// shuffleConfig reads the flags.
func shuffleConfig(f *pflag.FlagSet, secrets map[string]string) (shuffler.Config, error) {
	c := shuffler.DefaultConfig()
	text := func(name string) string { v, _ := f.GetString(name); return v }
	c.DataDir, c.Listen, c.Upstream, c.TLSCert, c.TLSKey = text("data"), text("listen"), text("upstream"), text("tls-cert"), text("tls-key")
	c.ContributeListen, c.ContributeOrigins = text("contribute-listen"), text("contribute-origins")
	c.When = shuffler.When(text("close-when"))
	c.Pins, _ = f.GetStringArray("pin")
	c.RequireTLS, _ = f.GetBool("require-tls")
	c.MaxConnections, _ = f.GetInt("max-connections")
	c.AuthTimeout, _ = f.GetDuration("login-timeout")
	c.ContributorPassword, c.OperatorPassword = secrets["contributor-password"], secrets["operator-password"]
	var problems []error
	if at := text("close-at"); at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			problems = append(problems, fmt.Errorf("close-at %q: want a time such as 2026-11-30T18:00:00Z", at))
		}
		c.CloseAt = t
	}
	o := options{LogLevel: text("log-level"), LogFormat: text("log-format")}
	if _, ok := logLevels[o.LogLevel]; !ok {
		problems = append(problems, fmt.Errorf("log level %q: want debug, info, warn or error", o.LogLevel))
	}
	if o.LogFormat != "json" && o.LogFormat != "text" {
		problems = append(problems, fmt.Errorf("log format %q: want json or text", o.LogFormat))
	}
	return c, errors.Join(append(problems, c.Validate())...)
}

func shuffle(ctx context.Context, s streams, f *pflag.FlagSet) error {
	secrets, err := shuffleSettings(f, os.Environ())
	if err != nil {
		return err
	}
	c, err := shuffleConfig(f, secrets)
	if err != nil {
		return err
	}
	level, _ := f.GetString("log-level")
	form, _ := f.GetString("log-format")
	c.Logger = newLogger(s.err, options{LogLevel: level, LogFormat: form})
	server, err := shuffler.Listen(ctx, c)
	if err != nil {
		return err
	}
	defer server.Close()
	for _, p := range server.Pinned() {
		fmt.Fprintf(s.out, "scrim: pinned %s\n", p)
	}
	fmt.Fprintf(s.out, "scrim: ready on %s\n", server.Addr())
	if a := server.ContributeAddr(); a != nil {
		fmt.Fprintf(s.out, "scrim: contributors on %s\n", a)
	}
	notify("READY=1")
	err = server.Serve(ctx)
	notify("STOPPING=1")
	return err
}

func shuffleCloseCommand(s streams) *cobra.Command {
	var t operatorTarget
	var p placeFlags
	var destroy, goOn, noWait bool
	cmd := &cobra.Command{
		Use:   "close --data DIR --collection NAME",
		Short: "Close batches: they are permuted and released",
		Long: `Close closes the open batches, and no more bundles are taken there unless --go-on is given. It waits until the server
has the batches. If one of them has fewer reports than it needs nothing is closed; with --destroy such a batch is
erased and never released, and its contributors cannot report again: a retry is a new collection with retry_of.`,
		Example: `  scrim shuffle close --data /var/lib/scrim-shuffle --collection commute
  scrim shuffle close --data /var/lib/scrim-shuffle --collection commute --round 1 --stratum north --destroy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			closed, err := t.list(cmd.Context(), "CALL shuffle_close(?, ?, ?, ?, ?, ?)", append(p.args(), destroy, goOn)...)
			if err != nil {
				return err
			}
			if noWait || len(closed) == 0 {
				return printBatches(s.out, closed)
			}
			return t.await(cmd.Context(), s, closed)
		},
	}
	t.flags(cmd.Flags())
	p.flags(cmd.Flags())
	f := cmd.Flags()
	f.BoolVar(&destroy, "destroy", false, "erase batches that have too few reports")
	f.BoolVar(&goOn, "go-on", false, "let the next batch begin")
	f.BoolVar(&noWait, "no-wait", false, "do not wait for the server")
	return cmd
}

// batchColumn are the columns of the table batches that commands look at.
const (
	columnState = 5
	columnSent  = 10
	columnParts = 11
	columnNote  = 13
	batchID     = 5 // columns that say which batch it is
)

// await waits until the server has the batches, and shows how far it is.
func (t operatorTarget) await(ctx context.Context, s streams, closed [][]string) error {
	for {
		now, err := t.batches(ctx)
		if err != nil {
			return err
		}
		var mine [][]string
		over := true
		sent, parts := 0, 0
		for _, row := range now {
			for _, c := range closed {
				if strings.Join(row[:batchID], "\x00") == strings.Join(c[:batchID], "\x00") {
					mine = append(mine, row)
					over = over && (row[columnState] != string(shuffler.Closed) && row[columnState] != string(shuffler.Releasing))
					sent, parts = sent+whole(row[columnSent]), parts+whole(row[columnParts])
				}
			}
		}
		if over {
			return printBatches(s.out, mine)
		}
		fmt.Fprintf(s.err, "scrim: the server has %d of %d parts\n", sent, parts)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func whole(text string) (n int) { _, _ = fmt.Sscan(text, &n); return n }

// list runs one statement and returns its rows, as texts.
func (t operatorTarget) list(ctx context.Context, statement string, args ...any) (rows [][]string, err error) {
	err = t.ask(ctx, func(row []string) error {
		rows = append(rows, slices.Clone(row))
		return nil
	}, statement, args...)
	return rows, err
}

func (t operatorTarget) batches(ctx context.Context) ([][]string, error) {
	return t.list(ctx, "SELECT * FROM batches")
}

// placesCommand is a command that calls a procedure on places, and says how many it was about.
func placesCommand(s streams, procedure, says string, cmd cobra.Command) *cobra.Command {
	var t operatorTarget
	var p placeFlags
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return t.ask(cmd.Context(), func(row []string) error {
			_, err := fmt.Fprintf(s.out, says, row[0])
			return err
		}, "CALL "+procedure+"(?, ?, ?, ?)", p.args()...)
	}
	t.flags(cmd.Flags())
	p.flags(cmd.Flags())
	return &cmd
}

func shuffleReopenCommand(s streams) *cobra.Command {
	return placesCommand(s, "shuffle_reopen", "%s places take bundles again\n", cobra.Command{
		Use:     "reopen --data DIR --collection NAME",
		Short:   "Take bundles of further people where none were taken any more",
		Long:    `Reopen begins the next batch of closed rounds, for other people than before; it has a minimum of its own.`,
		Example: `  scrim shuffle reopen --data /var/lib/scrim-shuffle --collection commute --round 1`,
	})
}

func shuffleGiveUpCommand(s streams) *cobra.Command {
	return placesCommand(s, "shuffle_give_up", "%s batches given up\n", cobra.Command{
		Use:   "give-up --data DIR --collection NAME",
		Short: "Erase closed batches that the server does not take",
		Long: `Give-up erases batches that are closed and not acknowledged, for instance because the server has deleted the key of
their round, or is lost. They are never released. Their contributors cannot report again.`,
		Example: `  scrim shuffle give-up --data /var/lib/scrim-shuffle --collection commute --round 1`,
	})
}
