// Package demo is the demonstration: it loads the public data sets that ship with Scrim, protects
// them, serves them, and takes a tour over its own wire as an analyst would, with each private
// answer beside the true value. Only the demonstration may show true values: its data are public.
package demo

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/engine/ops/datadir/fileimport"
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

// walk takes the whole tour, with the budget before and after it.
func (g *guide) walk(ctx context.Context) error {
	if err := g.budget(ctx, "The analyst's budget before:"); err != nil {
		return err
	}
	for _, s := range tour {
		if err := g.visit(ctx, s); err != nil {
			return fmt.Errorf("demo: %s: %w", s.sql, err)
		}
	}
	return g.budget(ctx, "The analyst's budget after:")
}

// printConnect says how to go on by hand.
func printConnect(out io.Writer, addr, analystPassword, rootPassword string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = addr, "3307"
	}
	fmt.Fprintf(out, `
Connect with any MySQL client:
  mysql --comments -h %[1]s -P %[2]s -u %[3]s -p%[4]s demo
  mysql --comments -h %[1]s -P %[2]s -u root -p%[5]s demo
Serving until Ctrl-C.
`, host, port, analyst, analystPassword, rootPassword)
}

// printPages says where the pages for browsers are; the passwords follow.
func printPages(out io.Writer, addr string) {
	fmt.Fprintf(out, "\nIn a browser:\n  http://%[1]s/console   as %[2]s, to ask\n  http://%[1]s/          as root, the dashboard\n", addr, analyst)
}

// setup is what the DBA does before the tour, statement by statement.
var setup = []string{
	"CALL dp_protect('demo.adult', 'row', 'census')",
	`CALL dp_set_domain('demo.adult', 'income', '["<=50K",">50K"]')`,
	`CALL dp_set_domain('demo.adult', 'sex', '["Female","Male"]')`,
	"CALL dp_protect('demo.visits', 'visitor_id', 'visitor')",
	`CALL dp_set_domain('demo.visits', 'day', '[1,2,3,4,5,6,7]')`,
	`CALL dp_set_domain('demo.visits', 'minutes', '{"min":0,"max":180}')`,
	"CALL dp_set_budget('demo.adult', '*', 30, 1e-6, 'month')",
	"CALL dp_set_budget('demo.adult', 'default', 20, 1e-6, 'month')",
	"CALL dp_set_budget('demo.visits', '*', 40, 1e-6, 'month')",
	"CALL dp_set_budget('demo.visits', 'default', 30, 1e-6, 'month')",
	`CALL dp_set_defaults('demo.visits', '{"dp_epsilon": 4}')`,
}

// stop is one statement of the tour.
type stop struct {
	title string
	sql   string // what the analyst sends
	// the same question without privacy, for the column beside it; "" where there is none
	exact string
	keys  int // leading columns of the answer that name the group
}

// tour is what the analyst does.
var tour = []stop{
	{
		title: "Plain SQL, as any BI tool sends it, is rewritten. Each row is one person.",
		sql:   "SELECT income, COUNT(*) AS persons, AVG(age) AS mean_age, AVG(hr_per_week) AS hours FROM adult GROUP BY income",
		exact: "SELECT income, COUNT(*), AVG(age), AVG(hr_per_week) FROM adult GROUP BY income",
		keys:  1,
	},
	{
		title: "The DP functions say more. Nobody declared a bound on age.",
		sql:   "SELECT DP_MEAN(age) AS mean_age, DP_MEDIAN(age) AS median_age, DP_QUANTILE(age, 0.9) AS p90_age, DP_VARIANCE(age) AS var_age FROM adult",
		exact: `SELECT AVG(age), (SELECT age FROM adult ORDER BY age LIMIT 1 OFFSET 15080),
			(SELECT age FROM adult ORDER BY age LIMIT 1 OFFSET 27145), VAR_SAMP(age) FROM adult`,
	},
	{
		title: "A vector a person: columns, or an embedding, are averaged together, with noise on the whole.",
		sql:   "SELECT income, DP_MEAN(DP_VECTOR(age, education_num, hr_per_week)) AS `mean of age, schooling, hours` FROM adult GROUP BY income",
		exact: "SELECT income, JSON_ARRAY(AVG(age), AVG(education_num), AVG(hr_per_week)) FROM adult GROUP BY income",
		keys:  1,
	},
	{
		title: "Many rows a person: a visitor who comes every day hides as well as one who came once.",
		sql:   "SELECT day, COUNT(*) AS visits, AVG(minutes) AS minutes FROM visits GROUP BY day ORDER BY day",
		exact: "SELECT day, COUNT(*), AVG(minutes) FROM visits GROUP BY day ORDER BY day",
		keys:  1,
	},
	{
		title: "Totals and persons.",
		sql:   "SELECT COUNT(DISTINCT visitor_id) AS visitors, SUM(spent) AS revenue, DP_MEAN(spent) AS spent_per_visitor FROM visits",
		exact: "SELECT COUNT(DISTINCT visitor_id), SUM(spent), (SELECT AVG(m) FROM (SELECT AVG(spent) AS m FROM visits GROUP BY visitor_id) v) FROM visits",
	},
	{
		title: "Rows are refused, and the message says what works.",
		sql:   "SELECT * FROM adult LIMIT 5",
	},
	{
		title: "So are lists of what persons have.",
		sql:   "SELECT GROUP_CONCAT(education) FROM adult",
	},
	{
		title: "EXPLAIN shows mechanisms, cost and expected error, and charges nothing.",
		sql:   "EXPLAIN SELECT income, COUNT(*), AVG(age) FROM adult GROUP BY income",
	},
}
