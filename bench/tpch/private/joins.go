package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"scrim/bench/internal/form"
	"scrim/bench/internal/served"
)

// JoinDelta is the δ that the joins are asked with.
const JoinDelta = 1e-6

// Join is a number or a sum of results of a join, as R2T was measured on it at scale factor 1.
type Join struct {
	Name    string
	Setup   Setup
	Text    string
	Error   float64       // R2T's, mean absolute, in pure DP
	Aim     float64       // the root of the mean square that is aimed at here
	Elapsed time.Duration // R2T's

	Refusal string // why there is no answer
	Truth   float64
	Off     []float64 // of each answer: what it is off by
	None    int       // answers that were NULL
	took    times
}

// protecting is a set-up in which lines belong to persons of one or two entities, in this order.
func protecting(name string, tables []string, policies ...string) Setup {
	return Setup{Name: name, Protected: tables, Policies: policies}
}

// Joins are what is measured. The last are triangles, whose results belong to three persons.
func Joins() []*Join {
	const (
		orders       = "CALL dp_protect('tpch.orders', 'o_orderkey', 'order')"
		orderLines   = "CALL dp_protect('tpch.lineitem', 'l_orderkey', 'order')"
		suppliers    = "CALL dp_protect('tpch.supplier', 's_suppkey', 'supplier')"
		offers       = "CALL dp_protect('tpch.partsupp', 'ps_suppkey', 'supplier')"
		supplierRows = "CALL dp_protect('tpch.lineitem', 'l_suppkey', 'supplier')"
	)
	order := protecting("orders", []string{"orders", "lineitem"}, orders, orderLines)
	supplier := protecting("suppliers", []string{"supplier", "partsupp", "lineitem"}, suppliers, offers, supplierRows)
	supplierOrder := protecting("suppliers and orders", []string{"orders", "supplier", "lineitem"}, orders, suppliers, "CALL dp_set_disjoint('order', 'supplier')", orderLines, supplierRows)
	lines := " FROM customer, orders, lineitem WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey"
	both := " FROM customer, orders, lineitem, supplier WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_suppkey = s_suppkey"
	ms := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return []*Join{
		{Name: "Q3", Setup: Customers, Text: "SELECT COUNT(*)" + lines + " AND o_orderdate < DATE '1995-03-15'", Error: 7339, Aim: 800, Elapsed: ms(3)},
		{Name: "Q10", Setup: Customers, Text: "SELECT COUNT(*) FROM customer, orders WHERE c_custkey = o_custkey", Error: 2615, Aim: 300, Elapsed: ms(1.7)},
		{Name: "Q18", Setup: Customers, Text: "SELECT SUM(l_quantity)" + lines, Error: 201958, Aim: 32000, Elapsed: ms(6.3)},
		{Name: "Q12", Setup: order, Text: "SELECT COUNT(*) FROM orders, lineitem WHERE o_orderkey = l_orderkey", Error: 1373, Aim: 85, Elapsed: ms(7.6)},
		{Name: "Q20", Setup: supplier, Text: "SELECT COUNT(*) FROM supplier, lineitem WHERE s_suppkey = l_suppkey", Error: 34726, Aim: 6500, Elapsed: ms(5)},
		{Name: "Q11", Setup: supplier, Text: "SELECT SUM(ps_supplycost * ps_availqty / 1000000) FROM supplier, partsupp WHERE s_suppkey = ps_suppkey", Error: 36438, Aim: 2500, Elapsed: ms(.8)},
		{Name: "Q5", Setup: Both, Text: "SELECT COUNT(*)" + both + " AND c_nationkey = s_nationkey", Error: 3902, Aim: 500, Elapsed: ms(2.7)},
		{Name: "Q8", Setup: Both, Text: "SELECT COUNT(*)" + both + " AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'", Error: 35087, Aim: 2000, Elapsed: ms(24.8)},
		{Name: "Q7", Setup: Both, Text: "SELECT SUM(l_extendedprice * (1 - l_discount) / 1000)" + both, Error: 1.32e6, Aim: 230000, Elapsed: ms(91.5)},
		{Name: "Q21", Setup: supplierOrder, Text: "SELECT COUNT(*) FROM orders, lineitem, supplier WHERE o_orderkey = l_orderkey AND l_suppkey = s_suppkey", Error: 39262, Aim: 6500, Elapsed: ms(82.9)},
		{Name: "triangles", Setup: order, Text: "SELECT COUNT(*) FROM orders a, orders b, orders c WHERE a.o_custkey = b.o_custkey AND b.o_orderdate = c.o_orderdate AND a.o_clerk = c.o_clerk",
			Error: 44345, Elapsed: ms(10.1)},
	}
}

// RunJoins asks each join several times, in a server for each set-up. o.Only has names of joins;
// o.Setup is not read.
func RunJoins(ctx context.Context, o Options) ([]*Join, error) {
	list := slices.DeleteFunc(Joins(), func(j *Join) bool { return o.Only != nil && !o.Only[j.Name] })
	if len(list) == 0 {
		return nil, errors.New("private: no join of these names")
	}
	return list, within(ctx, o, func(tables, dir string) error {
		for i := 0; i < len(list); {
			n := i
			for n < len(list) && list[n].Setup.Name == list[i].Setup.Name {
				n++
			}
			o.Setup = list[i].Setup
			if err := runJoins(ctx, o, tables, filepath.Join(dir, o.Setup.Name), list[i:n]); err != nil {
				return err
			}
			if i = n; o.Progress != nil {
				o.Progress(n, len(list))
			}
		}
		return nil
	})
}

// runJoins asks those of one set-up, in a directory that it removes.
func runJoins(ctx context.Context, o Options, tables, dir string, list []*Join) error {
	defer os.RemoveAll(dir)
	srv, err := start(ctx, tables, dir, o)
	if err != nil {
		return err
	}
	return errors.Join(askJoins(ctx, srv, o, list), srv.Stop())
}

func askJoins(ctx context.Context, srv *served.Server, o Options, list []*Join) error {
	c, err := srv.Connect(ctx, "tpch")
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, fmt.Sprintf("SET dp_delta = %g", JoinDelta)); err != nil {
		return err
	}
	for _, j := range list {
		if err := j.ask(ctx, c, o); err != nil {
			return fmt.Errorf("private: %s: %w", j.Name, err)
		}
	}
	return nil
}

// ask notes the exact answer and what the private ones are off by. Each asks for a slightly
// different ε, so that none is a replay.
func (j *Join) ask(ctx context.Context, c served.Session, o Options) error {
	if _, err := c.Query(ctx, "EXPLAIN "+j.Text); err != nil {
		j.Refusal = reason(err)
		return ctx.Err()
	}
	if _, err := c.ExecContext(ctx, "SET dp_raw = ON"); err != nil {
		return err
	}
	exact, err := c.Query(ctx, j.Text)
	if err != nil {
		return err
	}
	if j.Truth, err = strconv.ParseFloat(*exact[0][0], 64); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "SET dp_raw = OFF"); err != nil {
		return err
	}
	for turn := range o.Runs {
		if _, err := c.ExecContext(ctx, fmt.Sprintf("SET dp_epsilon = %.9f", o.Epsilon*(1+1e-6*float64(turn)))); err != nil {
			return err
		}
		var rows [][]*string
		if err := j.took.take(func() (err error) {
			rows, err = c.Query(ctx, j.Text)
			return err
		}); err != nil {
			return err
		}
		if rows[0][0] == nil {
			j.None++
			continue
		}
		x, err := strconv.ParseFloat(*rows[0][0], 64)
		if err != nil {
			return err
		}
		j.Off = append(j.Off, x-j.Truth)
	}
	return nil
}

// errors are the root of the mean square and the mean absolute error.
func (j *Join) errors() (rms, mean float64) {
	for _, d := range j.Off {
		rms, mean = rms+d*d, mean+math.Abs(d)
	}
	n := float64(len(j.Off))
	return math.Sqrt(rms / n), mean / n
}

// JoinsMarkdown writes the table, and below it why joins were refused.
func JoinsMarkdown(w io.Writer, list []*Join) error {
	var b strings.Builder
	form.Table(&b, []string{"", "protected", "truth", "rms", "aim", "mean absolute", "R2T", "NULL", "time", "processor", "R2T's time"}, func(row func([]string)) {
		for _, j := range list {
			row(j.cells())
		}
	})
	for _, j := range list {
		if j.Refusal != "" {
			fmt.Fprintf(&b, "- %s: %s\n", j.Name, j.Refusal)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (j *Join) cells() []string {
	whole := func(x float64) string { return fmt.Sprintf("%.0f", x) }
	out := []string{j.Name, j.Setup.Name, "refused", "–", "–", "–", whole(j.Error), "–", "–", "–", fmt.Sprintf("%.1f s", j.Elapsed.Seconds())}
	if j.Refusal != "" {
		return out
	}
	out[2], out[4], out[7] = whole(j.Truth), whole(j.Aim), fmt.Sprintf("%d of %d", j.None, j.None+len(j.Off))
	if len(j.Off) > 0 {
		rms, mean := j.errors()
		out[3], out[5] = whole(rms), whole(mean)
	}
	out[8], out[9] = fmt.Sprintf("%.2f s", median(j.took.clock)/1e9), fmt.Sprintf("%.2f s", median(j.took.worked)/1e9)
	return out
}
