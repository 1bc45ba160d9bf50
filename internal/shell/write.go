package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"scrim/internal/client"
	"scrim/internal/lists"
)

// writers write an answer, by the names that --format and \format know.
var writers = map[string]func(w io.Writer, a client.Answer, width int) error{
	"table":    writeTable,
	"csv":      writeCSV,
	"json":     writeJSON,
	"markdown": writeMarkdown,
	"vertical": writeVertical,
	"chart":    writeChart,
}

// Formats lists the names of the forms of answers.
func Formats() []string { return []string{"table", "csv", "json", "markdown", "vertical", "chart"} }

// tabled is an answer for the table writer.
func tabled(w io.Writer, a client.Answer, white string) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleDefault
	style.Format.Header = text.FormatDefault // the names as they are
	t.SetStyle(style)
	header, configs := table.Row{}, []table.ColumnConfig{}
	for i, name := range a.Columns {
		header = append(header, client.Printable(name, ""))
		if a.Numeric(i) {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight})
		}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, row := range a.Rows {
		cells := table.Row{}
		cells = append(cells, lists.Map(row, func(v any) any { return client.Printable(client.Cell(v), white) })...)
		t.AppendRow(cells)
	}
	return t
}

func writeTable(w io.Writer, a client.Answer, _ int) error {
	if len(a.Rows) > 0 {
		tabled(w, a, "\n").Render()
	}
	return nil
}

func writeMarkdown(w io.Writer, a client.Answer, _ int) error {
	tabled(w, a, "").RenderMarkdown()
	return nil
}

// writeCSV writes a line of names and one for each row. NULL is an empty field.
func writeCSV(w io.Writer, a client.Answer, _ int) error {
	c := csv.NewWriter(w)
	if err := c.Write(a.Columns); err != nil {
		return err
	}
	for _, row := range a.Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				fields[i] = client.Cell(v)
			}
		}
		if err := c.Write(fields); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// writeJSON writes an array of objects, their fields in the order of the columns. Numbers are
// numbers, with all digits of a DECIMAL; JSON columns are what they hold.
func writeJSON(w io.Writer, a client.Answer, _ int) error {
	var b bytes.Buffer
	b.WriteString("[")
	for r, row := range a.Rows {
		b.WriteString(map[bool]string{true: "\n  {", false: ",\n  {"}[r == 0])
		for i, v := range row {
			if i > 0 {
				b.WriteString(", ")
			}
			name, err := json.Marshal(a.Columns[i])
			if err != nil {
				return err
			}
			value, err := jsonValue(a, i, v)
			if err != nil {
				return err
			}
			b.Write(name)
			b.WriteString(": ")
			b.Write(value)
		}
		b.WriteString("}")
	}
	if len(a.Rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// jsonValue is one value of a column. A text that looks like a number is one only where the column
// is numeric.
func jsonValue(a client.Answer, column int, v any) ([]byte, error) {
	s, isText := v.(string)
	if isText && (a.Numeric(column) || a.Types[column] == "JSON") && json.Valid([]byte(s)) {
		return []byte(s), nil
	}
	return json.Marshal(v)
}

// writeVertical writes a line for each value.
func writeVertical(w io.Writer, a client.Answer, _ int) error {
	width := 0
	for _, name := range a.Columns {
		width = max(width, utf8.RuneCountInString(client.Printable(name, "")))
	}
	var b strings.Builder
	for r, row := range a.Rows {
		fmt.Fprintf(&b, "*************************** %d. row ***************************\n", r+1)
		for i, v := range row {
			fmt.Fprintf(&b, "%*s: %s\n", width, client.Printable(a.Columns[i], ""), client.Printable(client.Cell(v), "\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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
