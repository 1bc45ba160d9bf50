package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"scrim/engine"
	"scrim/engine/ops/datadir"
	"scrim/internal/release"
	"scrim/internal/shell"
)

// asking is what scrim sql was told.
type asking struct {
	way
	data                  string
	raw                   bool // dp_raw is ON in the session
	statements            []string
	file, format, history string
	force                 bool
}

// sqlCommand asks a server.
func sqlCommand(s streams) *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "sql [DATABASE]",
		Short: "Ask a server, or a data directory that nobody serves: an interactive shell, or a script",
		Long: `Sql sends statements to a server and writes the answers, their warnings with what would do, and what they cost.
At a terminal it is a shell with history and completion (Tab) of tables, columns, functions and keywords; \help lists its
commands, among them \price, \budget, \explain and \chart. A statement ends with ; and may have many lines; Ctrl-C ends a
running one, or forgets the line, and Ctrl-D leaves. Otherwise it reads standard input, or --execute, or --file: answers
go to standard output, everything else to standard error, and the first error ends it with exit code 1.

The password comes from --password-file, from the environment variable ` + clientPassword + `, or from a prompt;
never from an argument, which everybody on the machine could read. TLS is used where the server offers it; --tls-ca
verifies whom it reaches. With --data no server is needed: the directory is served to this shell alone, as the account
root without its password, with the settings of serve's environment and file; a directory in use is refused.`,
		Example: `  scrim sql --host db.example.org --user ann --tls-ca ca.pem shop
  scrim sql --data /var/lib/scrim
  scrim sql -u ann -e 'SELECT region, COUNT(*) FROM orders GROUP BY region' --format chart shop`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				a.database = args[0]
			}
			if a.data != "" && (cmd.Flags().Changed("host") || cmd.Flags().Changed("port")) {
				return errors.New("--data serves the directory itself; it excludes --host and --port")
			}
			return a.run(context.WithoutCancel(cmd.Context()), s) // an interrupt ends a statement
		},
	}
	f := cmd.Flags()
	a.register(f, "root", "account on the server")
	f.StringVar(&a.data, "data", "", "data directory that nobody serves, in the place of a server")
	f.StringArrayVarP(&a.statements, "execute", "e", nil, "run these statements and end; may be repeated")
	f.StringVarP(&a.file, "file", "f", "", "run the statements of a file and end")
	f.StringVar(&a.format, "format", "table", "how answers are written: "+strings.Join(shell.Formats(), ", "))
	f.BoolVar(&a.force, "force", false, "go on after an error; the exit code is 1 all the same")
	f.StringVar(&a.history, "history", "", "file of the history (default: scrim/history in the user's state directory; none: no file)")
	return cmd
}

// errTold ends the program with exit code 1 after what is wrong has been told.
var errTold = errors.New("not all statements were run; --force goes on after an error")

func (a *asking) run(ctx context.Context, s streams) (err error) {
	text, script, err := a.script(s.in)
	if err != nil {
		return err
	}
	db, leave, err := a.connect(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	defer onEnd(leave)()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	sh, err := shell.Open(ctx, shell.Options{
		DB: db, Out: s.out, Err: s.err, Format: a.format, Force: a.force, History: a.historyFile(), Width: width, Interrupts: interrupts,
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, sh.Close()) }()
	if !script {
		fmt.Fprintln(s.err, `scrim `+release.Version+`; \help lists the commands, Ctrl-D leaves`)
		return sh.Talk(ctx)
	}
	if sh.Script(ctx, text) != nil {
		return errTold
	}
	return nil
}

// onEnd ends the program when it is told to, by SIGTERM or SIGHUP: the terminal is as before, and
// what leave ends has ended. stop takes that back.
func onEnd(leave func() error) (stop func()) {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP)
	state, terminal := term.GetState(int(os.Stdin.Fd()))
	go func() {
		if _, ok := <-ends; !ok {
			return
		}
		_ = leave()
		if terminal == nil {
			_ = term.Restore(int(os.Stdin.Fd()), state)
		}
		os.Exit(1)
	}()
	return func() { signal.Stop(ends); close(ends) }
}

// script is what is to be run without a person; ok is false at a terminal.
func (a *asking) script(in io.Reader) (text string, ok bool, err error) {
	switch {
	case len(a.statements) > 0 && a.file != "":
		return "", false, errors.New("--execute and --file exclude each other")
	case len(a.statements) > 0:
		return strings.Join(a.statements, ";\n"), true, nil
	case a.file != "":
		b, err := os.ReadFile(a.file)
		return string(b), true, err
	case in == os.Stdin && term.IsTerminal(int(os.Stdin.Fd())):
		return "", false, nil
	}
	b, err := io.ReadAll(in)
	return string(b), true, err
}

// historyFile is where the history is kept, "" for nowhere.
func (a *asking) historyFile() string {
	if a.history != "" {
		if a.history == "none" {
			return ""
		}
		return a.history
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "scrim", "history")
}

// width is that of the terminal, 80 where there is none.
func width() int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// connect opens the connections of a shell; leave ends what they lead to.
func (a *asking) connect(ctx context.Context, s streams) (db *sql.DB, leave func() error, err error) {
	c := a.config()
	if a.raw {
		c.Params = map[string]string{"dp_raw": "ON"}
	}
	leave = func() error { return nil }
	if a.data != "" {
		if leave, err = a.serve(ctx, s, c); err != nil {
			return nil, nil, err
		}
	} else if err := a.reach(s, c); err != nil {
		return nil, nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err == nil {
		db = sql.OpenDB(connector)
		err = db.PingContext(ctx)
	}
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused) && refused.Number == 1045:
		err = fmt.Errorf("%w; --user names the account, --password-file or %s has its password", err, clientPassword)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w; no server listens there: scrim serve starts one", err)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting to %s as %s: %w", c.Addr, c.User, err), leave())
	}
	return db, leave, nil
}

// serve serves the data directory on a free port of loopback, by the settings of scrim serve, and
// connects as root with a password that only this process knows, or as another account with its
// own.
func (a *asking) serve(ctx context.Context, s streams, c *mysql.Config) (leave func() error, err error) {
	if _, err := os.Stat(a.data); err != nil {
		return nil, fmt.Errorf("--data: %w; scrim import and scrim serve make a data directory", err)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	registerSettings(flags)
	for name, value := range map[string]string{"data": a.data, "listen": "127.0.0.1:0", "http": "", "log-level": "error"} {
		if err := flags.Set(name, value); err != nil {
			return nil, err
		}
	}
	l := load(flags, os.Environ())
	if err := l.err(); err != nil {
		return nil, err
	}
	l.Logger = zerolog.New(zerolog.ConsoleWriter{Out: s.err, NoColor: true}).Level(zerolog.ErrorLevel)
	srv, err := engine.Open(l.Config)
	if errors.Is(err, datadir.ErrInUse) {
		return nil, fmt.Errorf("%w; ask the server that has it: scrim sql --host HOST --port PORT --user USER", err)
	}
	if err != nil {
		return nil, err
	}
	if p := srv.RootPassword(); p != "" {
		fmt.Fprintf(s.err, "scrim: made the account root with the password %s (it is not shown again)\n", p)
	}
	if c.Net, c.Addr = "tcp", srv.Addr().String(); a.user == engine.Root {
		c.Passwd, err = srv.AdmitRoot()
	} else {
		c.Passwd, err = a.password(s)
	}
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	go func() { _ = srv.Serve(ctx) }()
	return srv.Close, nil
}

// clientPassword names the environment variable with the password of a client of the server.
const clientPassword = environmentPrefix + "PASSWORD"

// way is how a client of the program reaches a server, and as whom.
type way struct {
	host, user, database, passwordFile, ca string
	port                                   int
}

// register adds the flags; user is the account where none is named.
func (w *way) register(f *pflag.FlagSet, user, account string) {
	// -h is the host in other clients, and help in this program
	f.StringVar(&w.host, "host", "127.0.0.1", "host of the server, or the path of its socket")
	f.IntVarP(&w.port, "port", "P", 3307, "port of the server")
	w.registerAccount(f, user, account)
}

// registerAccount adds those of whose connection it is, and how the server is known.
func (w *way) registerAccount(f *pflag.FlagSet, user, account string) {
	f.StringVarP(&w.user, "user", "u", user, account)
	f.StringVar(&w.passwordFile, "password-file", "", "file whose one line is the password")
	f.StringVar(&w.ca, "tls-ca", "", "PEM file of the certificates that the server's has to be signed by")
}

// at takes the server's place from HOST:PORT, or a socket's path.
func (w *way) at(server string) error {
	if strings.HasPrefix(server, "/") {
		w.host = server
		return nil
	}
	host, port, err := net.SplitHostPort(server)
	if err == nil {
		w.host = host
		w.port, err = strconv.Atoi(port)
	}
	if err != nil || host == "" {
		return fmt.Errorf("--server %q: want HOST:PORT, as 127.0.0.1:3307, or the path of a socket", server)
	}
	return nil
}

// config is a connection of the account, to nowhere yet: in TLS where the server offers it.
func (w *way) config() *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.DBName, c.Logger, c.Timeout = w.user, w.database, &mysql.NopLogger{}, dialTimeout
	c.TLSConfig, c.AllowFallbackToPlaintext = "preferred", true
	return c
}

// reach says where the server is, and asks for the password.
func (w *way) reach(s streams, c *mysql.Config) (err error) {
	if c.Net, c.Addr = "tcp", net.JoinHostPort(w.host, strconv.Itoa(w.port)); strings.HasPrefix(w.host, "/") {
		c.Net, c.Addr = "unix", w.host
	}
	if w.ca != "" {
		if err := trust(c, w.ca); err != nil {
			return err
		}
	} else if !near(c) {
		fmt.Fprintf(s.err, "scrim: WARNING: the connection to %s does not verify whom it reaches; --tls-ca FILE does\n", c.Addr)
	}
	c.Passwd, err = w.password(s)
	return err
}

// password is that of the account: of the file, of the environment, or typed.
func (w *way) password(s streams) (string, error) {
	if w.passwordFile != "" {
		b, err := os.ReadFile(w.passwordFile)
		if err != nil {
			return "", fmt.Errorf("--password-file: %w", err)
		}
		word := strings.TrimRight(string(b), "\r\n")
		if word == "" || strings.Contains(word, "\n") {
			return "", fmt.Errorf("--password-file: %s: want one line, the password", w.passwordFile)
		}
		return word, nil
	}
	if word := os.Getenv(clientPassword); word != "" {
		return word, nil
	}
	if s.in != os.Stdin || !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", fmt.Errorf("there is no terminal to ask for the password of %s; want --password-file, or the environment variable %s", w.user, clientPassword)
	}
	fmt.Fprintf(s.err, "Password of %s: ", w.user)
	word, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(s.err)
	return string(word), err
}
