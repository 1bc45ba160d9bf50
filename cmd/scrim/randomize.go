package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/contribute"
)

// randomizing is a command line of scrim randomize.
type randomizing struct {
	dsn, shuffler, ca     string
	unverified            bool
	trustOperator         bool
	collection, tokenFile string
	value, vector         string
	null                  bool
	fingerprint, wallet   string
	dryRun, explain       bool
	within                time.Duration
	at                    string
	hasValue, hasVector   bool
	dueAt                 time.Time
	parsedToken           contribute.Token
	parsedValue           contribute.Value
	fingerprintBytes      []byte
}

// randomizeCommand is the contributor's: one report, made on this device.
func randomizeCommand(s streams) *cobra.Command {
	r := &randomizing{}
	cmd := &cobra.Command{
		Use:   "randomize --dsn DSN --collection NAME --token-file FILE (--value X | --vector '[X, ...]' | --null)",
		Short: "Report one value to a collection, randomised on this device",
		Long: `Randomize reports one person's value to a collection. It fetches the collection's public parameters, recomputes every
probability from the advertised epsilon, randomises the value once on this device, keeps the report in the person's wallet,
and sends that. Whatever goes wrong on the way, the same command sends the same bytes again: nobody reports twice, and a value
is never randomised a second time.

The wallet adds up what all collections cost, and refuses to go beyond the caps (scrim wallet set-cap). It is the file
scrim/wallet in the user's configuration directory, unless --wallet names another one. docs/collections/contributors.md says what is
sent and what it means; --explain says it for one collection, in numbers, and --dry-run says what would be done.

The token is one row that the issuer sent: secret, round, cell, stratum. The value is better not typed where others see it:
--value - reads it from standard input. Without a value, a report that is already in the wallet is sent again.

Collections of the shuffle model send to a shuffler, --shuffler HOST:PORT or a DSN, and never to the server. It is asked whether it has
pinned the parameters before anything is made or charged. Where one operator runs the shuffler and the server, that operator can read the
value: --accept-trusted-operator says that you agree.

Connections to other machines must use TLS that verifies (tls=true in the DSN, or --tls-ca); --unverified allows others. The DSN
is that of go-sql-driver/mysql; without --dsn it is taken from SCRIM_DSN, where no list of processes shows its password.

The exit code is 0 when the report has arrived, now or before, or when nothing was to be sent; otherwise it is 1, and the
error says what to do.`,
		Example: `  scrim randomize --dsn 'contributor:pw@tcp(survey.example.org:3307)/?tls=true' --collection commute --token-file t.txt --value 37.5
  scrim randomize --collection commute --token-file t.txt --explain
  echo 37.5 | scrim randomize --collection commute --token-file t.txt --value - --within 6h
  scrim randomize --collection sleep --token-file t.txt --vector '[7.5, 0.9]' --shuffler mix.example.net:3308`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.hasValue, r.hasVector = cmd.Flags().Changed("value"), cmd.Flags().Changed("vector")
			if err := r.check(s.in); err != nil {
				return err
			}
			return r.run(cmd.Context(), s)
		},
	}
	r.flags(cmd)
	return cmd
}

func (r *randomizing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.dsn, "dsn", "", "server, as USER:PASSWORD@tcp(HOST:PORT)/?tls=true (default $"+dsnVariable+")")
	f.StringVar(&r.shuffler, "shuffler", "", "shuffler of a shuffle collection, as HOST:PORT or a DSN")
	f.StringVar(&r.ca, "tls-ca", "", "file of PEM certificates that sign the server's and the shuffler's, instead of the system's")
	f.BoolVar(&r.trustOperator, "accept-trusted-operator", false, "report to a shuffle collection of which one operator runs shuffler and server, and can read the value")
	f.BoolVar(&r.unverified, "unverified", false, "connect to other machines without TLS that verifies who they are")
	f.StringVar(&r.collection, "collection", "", "name of the collection (required)")
	f.StringVar(&r.tokenFile, "token-file", "", "file with the token, - for standard input (required)")
	f.StringVar(&r.value, "value", "", "the number to report, - for a line of standard input")
	f.StringVar(&r.vector, "vector", "", "the vector to report, as a JSON array, - for standard input")
	f.BoolVar(&r.null, "null", false, "report that there is no value: as the collection's public null_default, which nobody can see")
	f.StringVar(&r.fingerprint, "fingerprint", "", "fingerprint of the parameters that was published elsewhere, in hex: report by no others")
	walletFlag(cmd, &r.wallet)
	f.BoolVar(&r.dryRun, "dry-run", false, "say what would be sent and what it costs; make and send nothing")
	f.BoolVar(&r.explain, "explain", false, "say in words and numbers what a report tells; make and send nothing without a value")
	f.DurationVar(&r.within, "within", 0, "make the report now, and send it at a random moment of this span")
	f.StringVar(&r.at, "at", "", "make the report now, and send it at this time, as 2026-11-22T18:00:00Z")
}

// check reports every problem of a command line at once, and reads the token and the value.
func (r *randomizing) check(in io.Reader) error {
	var problems []error
	problem := func(bad bool, text string) {
		if bad {
			problems = append(problems, errors.New(text))
		}
	}
	problem(r.collection == "", "want --collection, the collection's name")
	problem(r.tokenFile == "", "want --token-file, the file with the token that you were sent")
	problem(howMany(r.hasValue, r.hasVector, r.null) > 1, "--value, --vector and --null exclude each other")
	problem(r.within < 0 || r.within > 0 && r.at != "", "want --within of a positive time, or --at, not both")
	problem(r.tokenFile == "-" && (r.value == "-" || r.vector == "-"), "the token and the value cannot both come from standard input")
	var err error
	if r.at != "" {
		if r.dueAt, err = time.Parse(time.RFC3339, r.at); err != nil {
			problems = append(problems, fmt.Errorf("--at %q: want a time such as 2026-11-22T18:00:00Z", r.at))
		}
	}
	if r.fingerprint != "" {
		r.fingerprintBytes, err = hex.DecodeString(r.fingerprint)
		problem(err != nil || len(r.fingerprintBytes) != 32, "--fingerprint: want 64 digits of hex")
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if r.parsedToken, err = readToken(in, r.tokenFile); err != nil {
		return err
	}
	r.parsedValue, err = r.readValue(in)
	return err
}

func howMany(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// given tells whether the command line has a value, NULL included.
func (r *randomizing) given() bool { return r.hasValue || r.hasVector || r.null }

// run fetches the parameters, and does what was asked for with them.
func (r *randomizing) run(ctx context.Context, s streams) error {
	server, err := r.server(s.err)
	if err != nil {
		return err
	}
	defer server.Close()
	p, err := contribute.FetchParams(ctx, server, r.collection, r.parsedToken)
	if err != nil {
		return err
	}
	if print := p.Fingerprint(); r.fingerprintBytes != nil && string(print[:]) != string(r.fingerprintBytes) {
		return fmt.Errorf("the server's parameters of %s have the fingerprint %x, not the one that was published; nothing was made or sent, tell whoever runs the collection", r.collection, print)
	}
	if err := r.fits(p); err != nil {
		return err
	}
	if r.explain {
		words, err := contribute.Explain(p, r.parsedToken.Cell)
		if err != nil {
			return err
		}
		fmt.Fprint(s.out, words)
		if !r.given() {
			return nil
		}
		fmt.Fprintln(s.out)
	}
	if r.dryRun {
		return r.rehearse(s, p)
	}
	return r.contribute(ctx, s, server, p)
}

// rehearse says what would be done. It draws nothing: a second draw of the same value would be a
// second report to whoever looks over the shoulder.
func (r *randomizing) rehearse(s streams, p *contribute.Params) error {
	return withWallet(r.wallet, func(w *contribute.Wallet) error {
		if kept, ok := w.Record(p.UUID); ok {
			if err := w.Allows(p); err != nil {
				return err
			}
			then := "nothing would be sent"
			if kept.State == contribute.Pending {
				then = "it would be sent unchanged"
			}
			fmt.Fprintf(s.out, "the wallet has a report to %s from %s, which is %s; %s%s\n", p.Collection, kept.Made, kept.State, then, unprotected(kept))
			return nil
		}
		if err := w.Allows(p); err != nil {
			return err
		}
		cost, err := contribute.CostOf(p)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s\nwould send: %s\n%s\nnothing was made, kept or sent\n", heading(p, r.parsedToken), statement(p, r.parsedToken), balance(w.Spent().Add(cost), cost, w.Caps()))
		if contribute.Trusting(p) && !r.trustOperator {
			fmt.Fprintln(s.out, "it would be refused: agree to the operator by --accept-trusted-operator")
		}
		return nil
	})
}

// statement says what would be sent to whom.
func statement(p *contribute.Params, t contribute.Token) string {
	if info, _ := p.Protocol.Info(); info.Model == collect.Shuffle {
		return fmt.Sprintf("INSERT INTO inbox (token, bundle) VALUES (16 bytes, %d sealed messages) to the shuffler", p.Messages())
	}
	c, _ := p.Cell(t.Cell)
	_, short, _ := strings.Cut(p.Collection, ".")
	return fmt.Sprintf("INSERT INTO dp_in.%s (token, report) VALUES (16 bytes, %d bytes) to the server", short, collect.HeaderSize+c.PayloadSize())
}

func heading(p *contribute.Params, t contribute.Token) string {
	head := fmt.Sprintf("%s: %s, round %d of %d, cell %d, fingerprint %x", p.Collection, p.Protocol, p.Round, p.Rounds(), t.Cell, p.Fingerprint())
	if contribute.Trusting(p) {
		head += "\n" + oneOperator
	}
	return head
}

// oneOperator is said wherever a report is spoken of whose operator can read the value.
const oneOperator = "ONE operator runs the shuffler and the server: your value is NOT protected against this operator"

func balance(spent, cost contribute.Loss, caps contribute.Caps) string {
	return fmt.Sprintf("costs %v; with it, your reports cost %v of at most %v", cost, spent, caps)
}

// maxInput bounds what is read of a token or a value.
const maxInput = 1 << 20

// readToken reads the token of a file or of standard input.
func readToken(in io.Reader, file string) (contribute.Token, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return contribute.Token{}, fmt.Errorf("token: %w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return contribute.Token{}, fmt.Errorf("token: %w", err)
	}
	return contribute.ParseToken(string(b))
}

// readValue reads the value of the command line; nil is NULL.
func (r *randomizing) readValue(in io.Reader) (contribute.Value, error) {
	switch {
	case r.hasValue:
		text, err := lineOr(in, r.value)
		if err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(text, 64)
		// beyond the range of floats is beyond every collection's, and counts as its end
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, errors.New("--value: want a number such as 37.5, or --null for no value")
		}
		return contribute.Number(x), nil
	case r.hasVector:
		text, err := lineOr(in, r.vector)
		if err != nil {
			return nil, err
		}
		var v []float64
		if err := json.Unmarshal([]byte(text), &v); err != nil || v == nil {
			return nil, errors.New("--vector: want a JSON array of numbers such as [1.5, -2], or --null for no value")
		}
		return contribute.Vector(v...), nil
	}
	return contribute.Null(), nil
}

// fits refuses a value of another shape than the collection asks for: the library would count it as
// NULL, which is right for data, and here a slip of who typed it.
func (r *randomizing) fits(p *contribute.Params) error {
	want := max(p.Declaration.Dimension, 1)
	switch {
	case !r.hasValue && !r.hasVector || len(r.parsedValue) == want:
		return nil
	case p.Declaration.Dimension == 0:
		return fmt.Errorf("%s asks for one number, and --vector has %d; nothing was made or sent; --null reports that there is no value", p.Collection, len(r.parsedValue))
	}
	return fmt.Errorf("%s asks for a vector of %d numbers, and there are %d; nothing was made or sent; --null reports that there is no value", p.Collection, want, len(r.parsedValue))
}

// lineOr returns text, or a line of standard input where it is "-".
func lineOr(in io.Reader, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxInput)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("value: %w", err)
	}
	return strings.TrimSpace(line), nil
}
