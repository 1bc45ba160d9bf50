package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/shuffler"
)

// operatorTarget is which shuffler an operator's command speaks to.
type operatorTarget struct{ data, address string }

func (t *operatorTarget) flags(f *pflag.FlagSet) {
	f.StringVar(&t.data, "data", os.Getenv(shufflePrefix+"DATA"), "data directory of the running shuffler, on this machine")
	f.StringVar(&t.address, "shuffler", "", "host:port of a shuffler elsewhere, over TLS; the operator's password is in SCRIM_SHUFFLE_OPERATOR_PASSWORD")
}

// connect opens a connection as the operator. With --data the address, the password and the
// certificate are read there.
func (t operatorTarget) connect() (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Passwd = shuffler.Operator, "tcp", t.address, os.Getenv(shufflePrefix+"OPERATOR_PASSWORD")
	c.Timeout, c.ReadTimeout, c.Logger, c.TLSConfig = 10*time.Second, 15*time.Minute, &mysql.NopLogger{}, "true"
	switch {
	case (t.data == "") == (t.address == ""):
		return nil, errors.New("give either --data, the data directory of a shuffler on this machine, or --shuffler host:port")
	case t.data != "":
		if err := t.local(c); err != nil {
			return nil, err
		}
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// local reads what the running shuffler has left in its directory.
func (t operatorTarget) local(c *mysql.Config) error {
	address, err := os.ReadFile(filepath.Join(t.data, shuffler.FileAddress))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("no shuffler runs on %s: start scrim shuffle --data %s", t.data, t.data)
	}
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(strings.TrimSpace(string(address)))
	if err != nil {
		return fmt.Errorf("%s holds no address", filepath.Join(t.data, shuffler.FileAddress))
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	c.Addr = net.JoinHostPort(host, port)
	if c.Passwd == "" {
		b, err := os.ReadFile(filepath.Join(t.data, shuffler.FilePassword))
		if err != nil {
			return fmt.Errorf("the operator's password: %w; set %sOPERATOR_PASSWORD", err, shufflePrefix)
		}
		c.Passwd = strings.TrimSpace(string(b))
	}
	// to this machine; the password is not sent
	c.TLS = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if pem, err := os.ReadFile(filepath.Join(t.data, "server-cert.pem")); err == nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		c.TLS = &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	}
	c.TLSConfig = ""
	return nil
}

// ask runs one statement and hands over its rows, as texts.
func (t operatorTarget) ask(ctx context.Context, row func([]string) error, statement string, args ...any) error {
	db, err := t.connect()
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return refusedBy(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]sql.NullString, len(columns))
	targets, texts := make([]any, len(columns)), make([]string, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, v := range values {
			texts[i] = v.String
		}
		if err := row(texts); err != nil {
			return err
		}
	}
	return rows.Err()
}

// refusedBy is a refusal as people read it: its SQLSTATE and its text.
func refusedBy(err error) error {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %s", e.SQLState, e.Message)
	}
	return err
}

func shufflePinCommand(s streams) *cobra.Command {
	var t operatorTarget
	cmd := &cobra.Command{
		Use:   "pin --data DIR NAME:FINGERPRINT",
		Short: "Take bundles of a round from now on",
		Long: `Pin makes a running shuffler fetch the parameters of a fingerprint from its server, verify them and take bundles
of them. It prints what they promise. Compare the fingerprint with one that was published elsewhere than at the server.
The rounds before end with it: their batches have to be closed.`,
		Example: `  scrim shuffle pin --data /var/lib/scrim-shuffle commute:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, print, err := shuffler.ParsePin(args[0])
			if err != nil {
				return err
			}
			return t.ask(cmd.Context(), func(row []string) error {
				_, err := fmt.Fprintln(s.out, "pinned", row[0])
				return err
			}, "CALL shuffle_pin(?, ?)", name, fmt.Sprintf("%x", print))
		},
	}
	t.flags(cmd.Flags())
	return cmd
}

func shuffleTokensCommand(s streams) *cobra.Command {
	var t operatorTarget
	var collection, stratum string
	var count uint64
	var round int
	cmd := &cobra.Command{
		Use:   "tokens --data DIR --collection NAME --count N",
		Short: "Issue one-time tokens to people",
		Long: `Tokens makes N further tokens and prints them, a row each: token, round, cell and stratum, with tabs between.
They are shown once; the shuffler keeps their hashes. The rows are in random order: give them to people one by one. Issue
them to people whom you know to be different: who has several tokens has several votes, and who has nearly all of a batch's
learns the rest.`,
		Example: `  scrim shuffle tokens --data /var/lib/scrim-shuffle --collection commute --count 10000 > tokens.tsv
  scrim shuffle tokens --data /var/lib/scrim-shuffle --collection commute --count 500 --stratum north --round 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := bufio.NewWriter(s.out)
			fmt.Fprintln(out, "token\tround\tcell\tstratum")
			err := t.ask(cmd.Context(), func(row []string) error {
				_, err := fmt.Fprintln(out, strings.TrimRight(strings.Join(row, "\t"), "\t"))
				return err
			}, "CALL shuffle_tokens(?, ?, ?, ?)", collection, count, stratum, round)
			if err != nil {
				return err
			}
			return out.Flush()
		},
	}
	t.flags(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&collection, "collection", "", "name of the collection (required)")
	f.Uint64Var(&count, "count", 0, "how many tokens (required)")
	f.StringVar(&stratum, "stratum", "", "stratum of the people, if the collection has strata")
	f.IntVar(&round, "round", 0, "round that they are for (default: all that are not over, by their planned sizes)")
	return cmd
}

func shuffleHashesCommand(s streams) *cobra.Command {
	var t operatorTarget
	var collection string
	cmd := &cobra.Command{
		Use:   "hashes --data DIR --collection NAME FILE",
		Short: "Take the hashes of tokens that somebody else has issued",
		Long: `Hashes reads lines of SHA-256 of a token in hex, round, cell and stratum, with tabs between, from a file or from -
(standard input). The issuer keeps the tokens; neither the server nor the shuffler then knows who has which. Where a line has a
token itself, as dp_issue_tokens prints them for collections whose server and shuffler are one operator's, its hash is sent.`,
		Example: `  scrim shuffle hashes --data /var/lib/scrim-shuffle --collection commute hashes.tsv`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readInput(s.in, args[0])
			if err != nil {
				return err
			}
			total := 0
			for _, part := range inParts(hashed(string(text)), 4<<20) {
				if err := t.ask(cmd.Context(), func(row []string) error {
					n := 0
					_, err := fmt.Sscan(row[0], &n)
					total += n
					return err
				}, "CALL shuffle_hashes(?, ?)", collection, part); err != nil {
					return err
				}
			}
			fmt.Fprintf(s.out, "%d tokens added\n", total)
			return nil
		},
	}
	t.flags(cmd.Flags())
	cmd.Flags().StringVar(&collection, "collection", "", "name of the collection (required)")
	return cmd
}

func readInput(in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(path)
}

// hashed puts the hash of a token into the place of one, and leaves out the line of the columns'
// names.
func hashed(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		first, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		token, err := hex.DecodeString(first)
		switch {
		case strings.HasPrefix(strings.ToLower(first), "token") || strings.HasPrefix(strings.ToLower(first), "sha"):
			continue
		case err == nil && len(token) == issue.TokenSize:
			first = fmt.Sprintf("%x", sha256.Sum256(token))
		}
		fmt.Fprintf(&out, "%s\t%s\n", first, rest)
	}
	return out.String()
}

// inParts cuts a text between lines.
func inParts(text string, size int) (parts []string) {
	for len(text) > size {
		at := strings.LastIndexByte(text[:size], '\n') + 1
		if at == 0 {
			break
		}
		parts, text = append(parts, text[:at]), text[at:]
	}
	return append(parts, text)
}

// placeFlags are the flags of which places a command is about.
type placeFlags struct {
	collection, stratum string
	round, cell         int
	set                 *pflag.FlagSet
}

func (p *placeFlags) flags(f *pflag.FlagSet) {
	p.set = f
	f.StringVar(&p.collection, "collection", "", "name of the collection (required)")
	f.IntVar(&p.round, "round", 0, "round (default: all)")
	f.StringVar(&p.stratum, "stratum", "", "stratum (default: all)")
	f.IntVar(&p.cell, "cell", 0, "cell (default: all)")
}

// args are the arguments of a call.
func (p *placeFlags) args() []any {
	out := []any{p.collection, p.round, nil, nil}
	if p.set.Changed("stratum") {
		out[2] = p.stratum
	}
	if p.set.Changed("cell") {
		out[3] = p.cell
	}
	return out
}

func shuffleStatusCommand(s streams) *cobra.Command {
	var t operatorTarget
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status --data DIR",
		Short: "Show the batches: how many reports they have, and what the server has of them",
		Example: `  scrim shuffle status --data /var/lib/scrim-shuffle
  scrim shuffle status --data /var/lib/scrim-shuffle --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := t.batches(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, list)
			}
			return printBatches(s.out, list)
		},
	}
	t.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printBatches(out io.Writer, list [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COLLECTION\tROUND\tSTRATUM\tCELL\tBATCH\tSTATE\tREPORTS\tNEEDED\tAT MOST\tTOKENS\tSENT\tNOTE")
	for _, r := range list {
		stratum := cmp.Or(r[2], "-")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s/%s\t%s\n", r[0], r[1], stratum, r[3], r[4], r[columnState], r[6], r[7], r[8], r[9],
			r[columnSent], r[columnParts], r[columnNote])
	}
	return w.Flush()
}

func printJSON(out io.Writer, list [][]string) error {
	rows := []shuffler.Status{}
	for _, r := range list {
		rows = append(rows, shuffler.Status{
			Collection: r[0], Round: whole(r[1]), Stratum: r[2], Cell: uint32(whole(r[3])), Batch: uint32(whole(r[4])), State: shuffler.State(r[columnState]),
			Reports: uint64(whole(r[6])), Min: uint64(whole(r[7])), Max: uint64(whole(r[8])), Tokens: uint64(whole(r[9])), Sent: whole(r[columnSent]),
			Parts: whole(r[columnParts]), Ended: r[12] == "1", Note: r[columnNote], Fingerprint: r[14],
		})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}
