package demo

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/engine/datadir/fileimport"
	"scrim/testdata"
)

// analyst is the account that the demonstration makes and shows how to connect with.
const analyst = "ann"

// Options say how the demonstration runs.
type Options struct {
	Config engine.Config // DataDir "" means a temporary directory, removed at the end
	Exit   bool          // end after the tour instead of serving until the context is done
	Out    io.Writer
}

// Run loads, protects, serves, takes the tour, and then serves until ctx is done.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Config.DataDir == "" {
		dir, err := os.MkdirTemp("", "scrim-demo-")
		if err != nil {
			return Report{}, err
		}
		defer os.RemoveAll(dir)
		o.Config.DataDir = filepath.Join(dir, "data")
	} else if _, err := os.Stat(o.Config.DataDir); err == nil {
		return Report{}, fmt.Errorf("demo: %s exists; the demonstration wants a new directory", o.Config.DataDir)
	}
	start := time.Now()
	if err := load(ctx, o); err != nil {
		return Report{}, err
	}
	o.Config.RootPassword = password()
	srv, err := engine.Open(o.Config)
	if err != nil {
		return Report{}, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- srv.Serve(serving) }()
	report, err := show(ctx, o, srv, start)
	if err == nil && !o.Exit {
		err = waitFor(ctx, done)
	}
	stop()
	if err := srv.Close(); err != nil {
		return report, err
	}
	return report, err
}

// waitFor waits for the end of ctx, or for the server's.
func waitFor(ctx context.Context, done <-chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-done:
		return err
	}
}

// load imports the embedded files as tables of the schema demo.
func load(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "scrim-files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, table := range []string{"adult", "visits"} {
		b, err := testdata.Files.ReadFile(table + ".csv.gz")
		if err != nil {
			return err
		}
		file := filepath.Join(dir, table+".csv.gz")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			return err
		}
		r, err := fileimport.Load(ctx, o.Config.Place(), file, "demo."+table, fileimport.Options{Mode: fileimport.Create}, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "loaded demo.%s: %d rows\n", table, r.Rows)
	}
	return nil
}

// show sets the policies up as the DBA, takes the tour as the analyst, and says how to connect.
func show(ctx context.Context, o Options, srv *engine.Server, start time.Time) (Report, error) {
	addr := srv.Addr().String()
	root, err := connect(ctx, addr, "root", o.Config.RootPassword)
	if err != nil {
		return Report{}, err
	}
	defer root.Close()
	word := password()
	statements := append([]string{
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", analyst, word),
		fmt.Sprintf("GRANT SELECT ON demo.* TO '%s'@'%%'", analyst),
	}, setup...)
	fmt.Fprintln(o.Out, "\nThe DBA:")
	for i, s := range append(statements, "SET dp_raw = ON") {
		if i > 0 {
			fmt.Fprintf(o.Out, "mysql> %s;\n", s)
		}
		if _, err := root.ExecContext(ctx, s); err != nil {
			return Report{}, fmt.Errorf("demo: %s: %w", s, err)
		}
	}
	conn, err := connect(ctx, addr, analyst, word)
	if err != nil {
		return Report{}, err
	}
	defer conn.Close()
	g := &guide{out: o.Out, analyst: conn, truth: root}
	if err := g.walk(ctx); err != nil {
		return g.report, err
	}
	fmt.Fprintf(o.Out, "\n%d of %d private cells are within 10 %% of the truth; %.1f s in all.\n",
		g.report.Close, g.report.Cells, time.Since(start).Seconds())
	if !o.Exit {
		if a := srv.HTTPAddr(); a != nil {
			printPages(o.Out, a.String())
		}
		printConnect(o.Out, addr, word, o.Config.RootPassword)
	}
	return g.report, nil
}

// connect opens one connection. Hints are comments, which this driver sends as they are.
func connect(ctx context.Context, addr, user, word string) (*sql.Conn, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, word, "tcp", addr, "demo"
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector).Conn(ctx)
}

func password() string {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		panic("demo: no randomness: " + err.Error())
	}
	return hex.EncodeToString(b)
}
