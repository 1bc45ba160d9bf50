package tpch

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Options say which data is written.
type Options struct {
	Scale float64 // 1 is six million rows of lineitem
	Seed  uint64
	// Progress, if it is not nil, gets what is done and all there is, in rows; an order is one row
	// with its lines, and a part's four offers are one.
	Progress func(done, total int)
}

// Write writes a CSV file with a header for each table into dir, NAME.csv. The files are a function
// of the scale factor and the seed.
func Write(ctx context.Context, dir string, o Options) error {
	if !(o.Scale > 0 && o.Scale <= 100) {
		return errors.New("tpch: want a scale factor above 0 and at most 100")
	}
	g := &generator{Sizes: SizesOf(o.Scale), dir: dir, ctx: ctx, seed: o.Seed, progress: o.Progress, text: text(rand.New(rand.NewPCG(o.Seed, 0)))}
	g.total = len(regions) + len(nations) + g.Suppliers + 2*g.Parts + g.Customers + g.Orders
	for d := range g.dates {
		g.dates[d] = firstDay.AddDate(0, 0, d).Format(time.DateOnly)
	}
	for i, write := range []func() error{g.writeRegions, g.writeNations, g.writeSuppliers, g.writeParts, g.writeOffers, g.writeCustomers, g.writeOrders} {
		// a table's rows do not depend on the others'
		g.r = rand.New(rand.NewPCG(g.seed, uint64(i+1)))
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// FileOf is the path of a table's file in the directory that Write was given.
func FileOf(dir, table string) string { return filepath.Join(dir, table+".csv") }

var (
	firstDay   = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	orderDays  = dayOf(1998, 8, 2) + 1 // 151 days before the last day that any column has
	currentDay = dayOf(1995, 6, 17)
)

// lastDay is the last day of a receipt: 121 and 30 days after the last order.
const lastDay = 2557

func dayOf(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(firstDay).Hours() / 24)
}

// generator writes the tables, row by row.
type generator struct {
	Sizes
	dir         string
	ctx         context.Context
	seed        uint64
	progress    func(done, total int)
	done, total int

	text  string
	dates [lastDay]string
	r     *rand.Rand // of the table that is written
	line  []byte     // the row that is written
}

// output is the file of a table.
type output struct {
	*bufio.Writer
	file *os.File
}

func (g *generator) create(table, header string) (output, error) {
	f, err := os.Create(FileOf(g.dir, table))
	if err != nil {
		return output{}, err
	}
	o := output{bufio.NewWriterSize(f, 1<<20), f}
	o.WriteString(header + "\n") // an error comes back from the last Flush
	return o, nil
}

func (o output) close() error { return errors.Join(o.Flush(), o.file.Close()) }

// rows writes a table of n rows that row appends to g.line, and keeps the progress.
func (g *generator) rows(table, header string, n int, row func(i int)) error {
	o, err := g.create(table, header)
	if err != nil {
		return err
	}
	for i := range n {
		g.line = g.line[:0]
		row(i)
		o.Write(g.line)
		if err := g.step(i); err != nil {
			return errors.Join(err, o.close())
		}
	}
	return o.close()
}

// step counts a row, and now and then looks whether to go on.
func (g *generator) step(i int) error {
	g.done++
	if i%4096 != 0 && g.done != g.total {
		return nil
	}
	if g.progress != nil {
		g.progress(g.done, g.total)
	}
	return g.ctx.Err()
}

// What follows appends one column to the row, and what separates it from the next.

func (g *generator) number(n int) { g.line = append(strconv.AppendInt(g.line, int64(n), 10), ',') }

func (g *generator) word(w string) { g.line = append(append(g.line, w...), ',') }

// numbered is a name with a number of nine digits, as those of customers and clerks.
func (g *generator) numbered(name string, n int) {
	g.line = append(g.line, name...)
	for d := 100_000_000; d > 0; d /= 10 {
		g.line = append(g.line, byte('0'+n/d%10))
	}
	g.line = append(g.line, ',')
}

// cents is an amount of money with two decimals.
func (g *generator) cents(n int) {
	if n < 0 {
		g.line, n = append(g.line, '-'), -n
	}
	g.line = strconv.AppendInt(g.line, int64(n/100), 10)
	g.line = append(g.line, '.', byte('0'+n/10%10), byte('0'+n%10), ',')
}

// between is a random integer, both ends included.
func (g *generator) between(least, most int) int { return least + g.r.IntN(most-least+1) }

func (g *generator) pick(from []string) string { return from[g.r.IntN(len(from))] }

// last is the comment that ends a row.
func (g *generator) last(least, most int) {
	g.comment(least, most)
	g.line = append(g.line, '\n')
}

// phone is a number whose country code stands for the nation.
func (g *generator) phone(nation int) {
	for _, n := range []int{nation + 10, g.between(100, 999), g.between(100, 999), g.between(1000, 9999)} {
		g.line = append(strconv.AppendInt(g.line, int64(n), 10), '-')
	}
	g.line[len(g.line)-1] = ','
}
