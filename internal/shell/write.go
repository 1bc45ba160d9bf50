package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"scrim/internal/client"
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
		for _, v := range row {
			cells = append(cells, client.Printable(client.Cell(v), white))
		}
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
