package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
)

// backupCommand copies a data directory.
func backupCommand(s streams) *cobra.Command {
	var from datadir.Place
	var to, connect, user string
	cmd := &cobra.Command{
		Use:   "backup (--data DIR | --connect HOST:PORT) --to DIR",
		Short: "Copy data, policies, accounts and ledger together, as of one moment",
		Long: `Backup writes a new directory with a copy of a data directory, reads it back and compares digests, and gives it its
name when all is well. Without a server it takes --data. Of a data directory that is being served the server makes the copy while
everybody goes on working: --connect calls dp_backup there, as the DBA account --user with the password from the
environment variable ` + clientPassword + `; --to is then a name in the server's backup-dir.

A backup holds rows in clear, and the key of the ledger: keep it as you keep the data directory. The audit log and the
configuration are not in it.`,
		Example: `  scrim backup --data /var/lib/scrim --to /backup/scrim-monday
  ` + clientPassword + `=... scrim backup --connect 127.0.0.1:3307 --user root --to monday
  scrim backup verify /backup/scrim-monday`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case to == "":
				return errors.New("want --to, the name of a new directory")
			case (from.Dir == "") == (connect == ""):
				return errors.New("want either --data or --connect")
			case connect != "":
				return backupOver(cmd.Context(), s, connect, user, to)
			}
			return backupHere(cmd.Context(), s, from, to)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from.Dir, "data", "", "data directory that nobody serves")
	f.StringVar(&to, "to", "", "new directory for the backup, or its name in the server's backup-dir (required)")
	f.StringVar(&connect, "connect", "", "address of the server that serves the data directory")
	f.StringVar(&user, "user", "root", "DBA account for --connect")
	cmd.AddCommand(backupVerifyCommand(s))
	return cmd
}

func backupHere(ctx context.Context, s streams, from datadir.Place, to string) error {
	progress, finish := progressOn(s.err, "backup "+to)
	m, err := backup.Make(ctx, from, to, progress)
	finish()
	if errors.Is(err, datadir.ErrInUse) {
		return fmt.Errorf("%w; let its server make the backup: scrim backup --connect HOST:PORT --to NAME, or CALL dp_backup('NAME')", err)
	}
	if err != nil {
		return err
	}
	describe(s, to, m)
	return nil
}

// describe prints what a backup holds.
func describe(s streams, path string, m backup.Manifest) {
	fmt.Fprintf(s.out, "%s: %d bytes in %d files, made at %s; the ledger ends at record %d of %s\n",
		path, m.Bytes(), len(m.Files), m.Made.Format("2006-01-02 15:04:05 MST"), m.Ledger.Record, m.Day())
}

func backupOver(ctx context.Context, s streams, addr, user, name string) error {
	if strings.ContainsAny(name, `/\`) {
		return errors.New("with --connect, --to is the name of a directory in the server's backup-dir, not a path")
	}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.TLSConfig = user, os.Getenv(clientPassword), "tcp", addr, "preferred"
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var path string
	var bytes int64
	// The name is quoted here: a procedure's parameters are not those of a prepared statement.
	quoted := "'" + strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), "'", "''") + "'"
	if err := db.QueryRowContext(ctx, "CALL dp_backup("+quoted+")").Scan(&path, &bytes); err != nil {
		return fmt.Errorf("%s: %w", addr, err)
	}
	fmt.Fprintf(s.out, "%s: %d bytes, on the server's machine\n", path, bytes)
	return nil
}

func backupVerifyCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "verify DIR",
		Short:   "Read a backup and compare it with its digests",
		Example: "  scrim backup verify /backup/scrim-monday",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress, finish := progressOn(s.err, "verify "+args[0])
			m, err := backup.Verify(cmd.Context(), args[0], progress)
			finish()
			if err == nil {
				describe(s, args[0], m)
			}
			return err
		},
	}
}

// acceptLedger takes an older ledger where it is.
func acceptLedger(ctx context.Context, s streams, o backup.RestoreOptions) error {
	end, err := rollback.Accept(ctx, o.To, o.Accept)
	if err != nil {
		return err
	}
	then := "lower the budgets by that"
	if o.Accept.BudgetsSpent {
		then = "all budgets count as spent"
	}
	fmt.Fprintf(s.out, "%s: its ledger is accepted, up to record %d; what was charged since %s is not in it: %s\n",
		o.To.Dir, end.Record, o.Accept.LedgerOf, then)
	return nil
}

// restoreCommand puts a backup back.
func restoreCommand(s streams) *cobra.Command {
	o := backup.RestoreOptions{Accept: rollback.Acceptance{By: "operator"}}
	lost := false
	cmd := &cobra.Command{
		Use:   "restore --from DIR --data DIR",
		Short: "Put a backup back without giving spent budgets back",
		Long: `Restore verifies a backup and puts it into a data directory that nobody serves. What it replaces is kept beside, in a
directory called replaced-TIME.

Into the directory that the backup was made of, it puts data and policies, and leaves the ledger and the accounts that are there: the
ledger holds everything that the backup's holds, and what was spent since. Where that ledger is lost or cannot be
read, and in a new directory, the backup's ledger becomes the account. What was charged after it is then forgotten,
so this has to be said: --accept-ledger-of with the day of the backup's last record. The ledger records it.

Without --from, --accept-lost-changes has a store go on whose log was removed or cut short, which the server refuses: what
it had acknowledged and lost is given up. Again without --from, --accept-ledger-of takes the ledger that is in the data directory: an older copy that was put back by hand,
which the server refuses. With --budgets-spent every budget then counts as spent until its window ends or a DBA resets it.
Where the server has an audit-dir or a witness, name them, for they know how far the ledger had come.`,
		Example: `  scrim restore --from /backup/scrim-monday --data /var/lib/scrim
  scrim restore --from /backup/scrim-monday --data /var/lib/scrim-new --accept-ledger-of 2026-11-22`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case lost && o.To.Dir != "" && o.From == "" && o.Accept.LedgerOf == "":
				if err := rollback.AcceptLost(o.To, o.Accept.By); err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s: the next start takes the store as it is: compare its tables with what has to be in them\n", o.To.Dir)
				return nil
			case lost, o.To.Dir == "", o.From == "" && o.Accept.LedgerOf == "":
				return errors.New("want --from, a backup, and --data, a data directory")
			case o.From == "":
				return acceptLedger(cmd.Context(), s, o)
			}
			progress, finish := progressOn(s.err, "restore "+o.To.Dir)
			r, err := backup.Restore(cmd.Context(), o, progress)
			finish()
			if err != nil {
				return err
			}
			kept := "its ledger is the account"
			if r.KeptLedger {
				kept = "the directory's own ledger and accounts stay"
			}
			fmt.Fprintf(s.out, "%s: restored the backup of %s; %s\n", o.To.Dir, r.Manifest.Made.Format("2006-01-02 15:04:05 MST"), kept)
			if r.Aside != "" {
				fmt.Fprintf(s.out, "%s: what was replaced is in %s; it holds rows in clear: delete it when it is not needed\n", o.To.Dir, r.Aside)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&lost, "accept-lost-changes", false, "go on without acknowledged changes that the store of --data has lost")
	f.StringVar(&o.From, "from", "", "directory of the backup (required)")
	f.StringVar(&o.To.Dir, "data", "", "data directory that nobody serves (required)")
	f.BoolVar(&o.Accept.BudgetsSpent, "budgets-spent", false, "count all budgets as spent, where an older ledger becomes the account")
	f.StringVar(&o.To.Audit, "audit-dir", "", "the server's directory of the audit log (default: audit in the data directory)")
	f.StringVar(&o.To.Witness, "witness", "", "the server's witness, if it has one")
	f.StringVar(&o.Accept.LedgerOf, "accept-ledger-of", "", "day (UTC, YYYY-MM-DD) of the last record in the backup's ledger, where that ledger is to be the account")
	return cmd
}
