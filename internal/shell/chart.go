package shell

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"scrim/internal/client"
)

// bar is one line of a chart. low and high are the ends of an interval, NaN where none is known.
type bar struct {
	label            string
	shown            string // the value as it is told
	value, low, high float64
}

// writeChart writes a bar for each row of an answer (label, value), or (label, value, low, high)
// whose intervals it draws over the bars:
//
//	north  ████████████├──┼──┤   40 [35, 46]
func writeChart(w io.Writer, a client.Answer, width int) error {
	if n := len(a.Columns); n != 2 && n != 4 || !a.Numeric(1) {
		return fmt.Errorf("a chart wants two columns, a label and a number, or four, with the ends of the number's interval; this answer has %s", columnsOf(a))
	}
	bars := make([]bar, len(a.Rows))
	labels, least, most := 0, 0.0, 0.0
	for i, row := range a.Rows {
		b := bar{label: text.Trim(client.Printable(client.Cell(row[0]), ""), max(width/3, 8)), shown: brief(row[1]), value: client.Number(row[1]), low: math.NaN(), high: math.NaN()}
		if len(row) == 4 {
			b.low, b.high = client.Number(row[2]), client.Number(row[3])
		}
		if b.bounded() {
			b.shown += fmt.Sprintf(" [%s, %s]", brief(row[2]), brief(row[3]))
		}
		bars[i], labels = b, max(labels, text.StringWidth(b.label))
		for _, v := range []float64{b.value, b.low, b.high} {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	told := 0
	for _, b := range bars {
		told = max(told, text.StringWidth(b.shown))
	}
	s := scale{least, most, max(width-labels-told-4, 10)}
	for _, b := range bars {
		if _, err := fmt.Fprintf(w, "%s  %s  %s\n", text.AlignLeft.Apply(b.label, labels), s.draw(b), b.shown); err != nil {
			return err
		}
	}
	return nil
}

// brief is a value with six digits where it is a float: a chart shows no more.
func brief(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	return client.Cell(v)
}

// columnsOf tells the columns of an answer.
func columnsOf(a client.Answer) string {
	var out []string
	for i, name := range a.Columns {
		out = append(out, name+" "+a.Types[i])
	}
	return strings.Join(out, ", ")
}

func (b bar) bounded() bool { return !math.IsNaN(b.low) && !math.IsNaN(b.high) }

// scale maps numbers from least to most, 0 among them, to so many cells.
type scale struct {
	least, most float64
	cells       int
}

// at is the cell of a number; what is infinite stands at the edge.
func (s scale) at(v float64) int {
	if s.most == s.least {
		return 0
	}
	place := (v - s.least) / (s.most - s.least) * float64(s.cells-1)
	return int(math.Round(min(max(place, 0), float64(s.cells-1))))
}

// draw is the bar from 0 to the value with the interval over it, as wide as the scale.
func (s scale) draw(b bar) string {
	line := []rune(strings.Repeat(" ", s.cells))
	fill := func(from, to float64, with rune) {
		for i := min(s.at(from), s.at(to)); i <= max(s.at(from), s.at(to)); i++ {
			line[i] = with
		}
	}
	if !math.IsNaN(b.value) && b.value != 0 {
		fill(0, b.value, '█')
	}
	if b.bounded() {
		fill(b.low, b.high, '─')
		line[s.at(b.low)], line[s.at(b.high)] = '├', '┤'
		if !math.IsNaN(b.value) {
			line[s.at(b.value)] = '┼'
		}
	}
	return string(line)
}
