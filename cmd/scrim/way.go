package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

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
