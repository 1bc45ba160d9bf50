package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"scrim/engine/collections/contribute"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// walletCommand holds the commands on a person's wallet.
func walletCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wallet",
		Short: "Show, cap, abandon or verify what a person has reported to collections",
		Long: `Wallet works on the file in which scrim randomize keeps a person's reports: what was sent, what each cost, and how much
all of them may cost together. One person has one wallet. It must not be put back from an older copy, which does not know what was
reported since; it notices that, and damage, and then refuses to open.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(walletShow(s), walletSetCap(s), walletAbandon(s), walletVerify(s))
	return cmd
}

// walletFlag adds --wallet.
func walletFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "wallet", "", "the wallet's file (default scrim/wallet in the user's configuration directory)")
}

// withWallet opens a wallet for as long as do runs; one that is not there yet is made by the first
// report or cap.
func withWallet(file string, do func(*contribute.Wallet) error) error {
	w, err := contribute.Open(file)
	if errors.Is(err, contribute.ErrInUse) {
		return fmt.Errorf("%w; wait until it has ended", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(advise(do(w), file), w.Close())
}

// advise has a refusal that names a command on the wallet name the wallet too.
func advise(err error, file string) error {
	if e, ok := refuse.As(err); ok && e.Code == refuse.BudgetExhausted && file != "" {
		return e.With("%s --wallet %s.", strings.TrimSuffix(e.Remedy, "."), file)
	}
	return err
}

// withKnownWallet is withWallet for a wallet that has to be there; none is made by looking for it.
func withKnownWallet(file string, do func(*contribute.Wallet) error) error {
	path := file
	if path == "" {
		var err error
		if path, err = contribute.DefaultPath(); err != nil {
			return err
		}
	}
	missing := func(name string) bool {
		_, err := os.Stat(name)
		return errors.Is(err, fs.ErrNotExist)
	}
	if missing(path) && missing(path+".lock") {
		return fmt.Errorf("there is no wallet at %s, and there has never been one; the first report or scrim wallet set-cap makes it", path)
	}
	return withWallet(file, do)
}

func walletShow(s streams) *cobra.Command {
	var file string
	var reports bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "List the reports, what they cost, and the caps",
		Long: `Show lists every report that was made: its day, the collection, the round, what it cost, whether it arrived, against whom its
value is protected, and the fingerprint of the parameters it was made by. --reports adds the bytes that were sent. The last lines are the sums and the caps. A report counts
whether it arrived or not: nobody knows who has seen it.`,
		Example: "  scrim wallet show\n  scrim wallet show --reports --wallet ann.wallet",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return withKnownWallet(file, func(w *contribute.Wallet) error { return list(s.out, w, reports) })
		},
	}
	walletFlag(cmd, &file)
	cmd.Flags().BoolVar(&reports, "reports", false, "show the bytes of each report, or the SHA-256 of each bundle")
	return cmd
}

// list writes a wallet's contents.
func list(out io.Writer, w *contribute.Wallet, reports bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	records := w.Records()
	if len(records) > 0 {
		fmt.Fprintln(t, "made\tcollection\tprotocol\tround\tcell\tepsilon\tdelta\tstate\tprotected against\tfingerprint")
	}
	for _, r := range records {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%v\t%v\t%s\t%s\t%v\n", r.Made, r.Collection, r.Protocol, r.Round, r.Cell, r.Cost.Epsilon, r.Cost.Delta, r.State, r.Protected(), r.Fingerprint)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if reports {
		for _, r := range records {
			fmt.Fprintf(out, "%s: %s\n", r.Collection, shown(r))
		}
	}
	_, err := fmt.Fprintf(out, "reports: %d, costing %v together\ncaps: %v\n", len(records), w.Spent(), w.Caps())
	return err
}

func walletSetCap(s streams) *cobra.Command {
	var file, epsilon, delta string
	cmd := &cobra.Command{
		Use:   "set-cap [--epsilon E] [--delta D]",
		Short: "Set how much all reports together may cost",
		Long: `Set-cap sets the caps of a wallet: the sums of epsilon and delta over all reports may not go beyond them. What it costs to be in one
collection is said by scrim randomize --explain. A cap below what is spent allows no further report. A new wallet has caps of
epsilon 4 and delta 1e-6.`,
		Example: "  scrim wallet set-cap --epsilon 2.5\n  scrim wallet set-cap --epsilon 6 --delta 1e-5",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if epsilon == "" && delta == "" {
				return errors.New("want --epsilon, --delta or both")
			}
			return withWallet(file, func(w *contribute.Wallet) error {
				caps, err := newCaps(w.Caps(), epsilon, delta)
				if err != nil {
					return err
				}
				if err := w.SetCaps(caps); err != nil {
					return err
				}
				_, err = fmt.Fprintf(s.out, "caps: %v; spent: %v\n", caps, w.Spent())
				return err
			})
		},
	}
	walletFlag(cmd, &file)
	cmd.Flags().StringVar(&epsilon, "epsilon", "", "cap of the sum of epsilon, a decimal with at most four digits after the point")
	cmd.Flags().StringVar(&delta, "delta", "", "cap of the sum of delta, a decimal from 0 to 1 such as 1e-6")
	return cmd
}

// newCaps changes the caps that are named.
func newCaps(caps contribute.Caps, epsilon, delta string) (_ contribute.Caps, err error) {
	if epsilon != "" {
		if caps.Epsilon, err = contribute.ParseEpsilon(epsilon); err != nil {
			return caps, err
		}
	}
	if delta != "" {
		if caps.Delta, err = contribute.ParseDelta(delta); err != nil {
			return caps, err
		}
	}
	return caps, nil
}

func walletAbandon(s streams) *cobra.Command {
	var file, collection string
	cmd := &cobra.Command{
		Use:   "abandon --collection NAME",
		Short: "Give up a report that is pending",
		Long: `Abandon gives up a report that was made and has not arrived: because its round is over, or its token was used by somebody
else. It is not sent any more. A bundle of the shuffle model is deleted, which with the server's key would tell the value. What it cost stays spent, because
it may have been seen, and there is no second report to the collection.`,
		Example: "  scrim wallet abandon --collection survey.commute",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if collection == "" {
				return errors.New("want --collection, the name with its database as scrim wallet show has it, or the uuid")
			}
			return withKnownWallet(file, func(w *contribute.Wallet) error { return abandon(s.out, w, collection) })
		},
	}
	walletFlag(cmd, &file)
	cmd.Flags().StringVar(&collection, "collection", "", "collection with its database, or its uuid (required)")
	return cmd
}

// abandon gives up the pending reports to a collection: to one of several of the same name only if
// they are named by uuid.
func abandon(out io.Writer, w *contribute.Wallet, collection string) error {
	found := lists.Filter(w.Records(), func(r contribute.Record) bool {
		return r.State == contribute.Pending && (r.Collection == collection || r.UUID == collection)
	})
	switch len(found) {
	case 0:
		return fmt.Errorf("the wallet has no pending report to %q; scrim wallet show lists them", collection)
	case 1:
		if err := w.Abandon(found[0].UUID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s: the report of %s is given up; it still counts as %v\n", found[0].Collection, found[0].Made, found[0].Cost)
		return err
	}
	return fmt.Errorf("there are %d pending reports to collections of this name; name one by its uuid: %s, %s, …", len(found), found[0].UUID, found[1].UUID)
}

func walletVerify(s streams) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Read the wallet and check every byte of it",
		Long: `Verify reads the wallet and changes nothing. It checks the file's hash and form, that each report is the one that its record and its
parameters' fingerprint speak of, that no collection and no token is there twice, and that it is the newest copy. It says what it
found, or what is wrong, with exit code 1.`,
		Example: "  scrim wallet verify",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return withKnownWallet(file, func(w *contribute.Wallet) error {
				if err := w.Verify(); err != nil {
					return err
				}
				_, err := fmt.Fprintf(s.out, "%s is sound\nreports: %d, costing %v of at most %v\n", w.Path(), len(w.Records()), w.Spent(), w.Caps())
				return err
			})
		},
	}
	walletFlag(cmd, &file)
	return cmd
}
