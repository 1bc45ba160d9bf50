package synthetic

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/synthetic"
)

// Options say what is measured.
type Options struct {
	Epsilon, Delta float64
	Bins, Ways     int
	Runs           int
	Seed           uint64
	Progress       func(done, of int)
}

// Line is what one way of making tables is off by.
type Line struct {
	Way        string
	Two, Three float64 // of tables of two and of three columns; NaN where there is none
	Seconds    float64
}

// Run measures adult.
func Run(o Options) ([]Line, error) {
	columns, persons, err := Adult(o.Bins)
	if err != nil {
		return nil, err
	}
	rho := privacy.RhoFor(privacy.Epsilon(o.Epsilon), privacy.Delta(o.Delta)).Float()
	e, err := synthetic.New(synthetic.Params{Rho: rho, Columns: columns, Ways: o.Ways})
	if err != nil {
		return nil, err
	}
	w := newWorkload(columns, persons)
	own, alone, shared := Line{Way: "synthetic rows"}, Line{Way: "independent columns"}, Line{Way: "each table with noise, evenly"}
	for run := range o.Runs {
		n := noise.New(rand.NewPCG(o.Seed, uint64(run)))
		start := time.Now()
		r := synthetic.ResultOf(e.Release(n, estimator.Input{Vectors: persons}), len(columns))
		own.Seconds += time.Since(start).Seconds() / float64(o.Runs)
		counts := w.of(r.Rows)
		for k, at := range []*float64{&own.Two, &own.Three} {
			*at += w.off(k+2, func(t *table) []float64 { return counts(t) }) / float64(o.Runs)
		}
		shares := w.marginals(n, rho)
		for k, at := range []*float64{&alone.Two, &alone.Three} {
			*at += w.off(k+2, func(t *table) []float64 { return w.product(t, shares) }) / float64(o.Runs)
		}
		for k, at := range []*float64{&shared.Two, &shared.Three} {
			*at += w.off(k+2, func(t *table) []float64 { return w.noisy(n, t, rho/float64(len(w.tables[k+2]))) }) / float64(o.Runs)
		}
		if o.Progress != nil {
			o.Progress(run+1, o.Runs)
		}
	}
	return []Line{own, alone, shared}, nil
}

// Markdown writes lines as a table.
func Markdown(w io.Writer, lines []Line) error {
	if _, err := fmt.Fprint(w, "| | tables of two columns | tables of three | seconds |\n| --- | --- | --- | --- |\n"); err != nil {
		return err
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "| %s | %.4f | %.4f | %.1f |\n", l.Way, l.Two, l.Three, l.Seconds); err != nil {
			return err
		}
	}
	return nil
}

// workload are all tables of one, two and three columns.
type workload struct {
	columns []cube.Dimension
	dense   []int64
	persons float64
	tables  [4][]table
}

// table is the exact counts by some columns.
type table struct {
	columns, strides []int
	exact            []float64
}

func newWorkload(columns []cube.Dimension, persons *estimator.Block) *workload {
	w := &workload{columns: columns, dense: persons.Chunks[0].Dense, persons: float64(persons.Persons())}
	add := func(of ...int) {
		t := table{columns: of, strides: make([]int, len(of))}
		cells := 1
		for k := len(of) - 1; k >= 0; k-- {
			t.strides[k] = cells
			cells *= columns[of[k]].Size
		}
		t.exact = make([]float64, cells)
		for at := 0; at < len(w.dense); at += len(columns) {
			cell := 0
			for k, c := range of {
				cell += int(w.dense[at+c]) * t.strides[k]
			}
			t.exact[cell]++
		}
		w.tables[len(of)] = append(w.tables[len(of)], t)
	}
	for i := range columns {
		add(i)
		for j := range i {
			add(j, i)
			for k := range j {
				add(k, j, i)
			}
		}
	}
	return w
}

// off is the mean of ‖exact − made‖₁ over the tables of so many columns, in persons.
func (w *workload) off(columns int, made func(*table) []float64) float64 {
	sum := 0.0
	for i := range w.tables[columns] {
		t := &w.tables[columns][i]
		for c, x := range made(t) {
			sum += math.Abs(x - t.exact[c])
		}
	}
	return sum / w.persons / float64(len(w.tables[columns]))
}

// of counts rows.
func (w *workload) of(rows [][]uint16) func(*table) []float64 {
	return func(t *table) []float64 {
		out := make([]float64, len(t.exact))
		for _, r := range rows {
			cell := 0
			for k, c := range t.columns {
				cell += int(r[c]) * t.strides[k]
			}
			out[cell]++
		}
		return out
	}
}

// scaled multiplies counts.
func (t *table) scaled(counts []float64, by float64) []float64 {
	for c := range counts {
		counts[c] *= by
	}
	return counts
}

// noisy are the counts of a table with noise, those under 0 taken for 0.
func (w *workload) noisy(n noise.Noiser, t *table, rho float64) []float64 {
	sigma2 := uint64(math.Ceil(1 / (2 * rho)))
	out := make([]float64, len(t.exact))
	for c, x := range t.exact {
		out[c] = float64(max(0, n.GaussianInt(int64(x), noise.Variance{Lo: sigma2})))
	}
	return out
}

// marginals are the noisy shares of the values of each column, with all of the loss.
func (w *workload) marginals(n noise.Noiser, rho float64) [][]float64 {
	var out [][]float64
	for i := range w.tables[1] {
		y := w.noisy(n, &w.tables[1][i], rho/float64(len(w.columns)))
		sum := 0.0
		for _, x := range y {
			sum += x
		}
		out = append(out, w.tables[1][i].scaled(y, 1/sum))
	}
	return out
}

// product is a table of independent columns.
func (w *workload) product(t *table, shares [][]float64) []float64 {
	out := make([]float64, len(t.exact))
	for cell := range out {
		x, left := w.persons, cell
		for k, c := range t.columns {
			x *= shares[c][left/t.strides[k]]
			left %= t.strides[k]
		}
		out[cell] = x
	}
	return out
}
