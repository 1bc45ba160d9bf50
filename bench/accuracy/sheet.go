package accuracy

import (
	"slices"
	"strings"
	"unicode"

	"scrim/bench/internal/form"
)

// sheet is a table beside those of the errors: verdicts, closed forms, fitted terms.
type sheet struct {
	kind       string      // ends the name of its CSV file
	lead, foot string      // what Markdown has above and below it
	about      [][2]string // columns of CSV that are the same in all rows: name and value
	head       []string
	rows       [][]string
}

func (s *sheet) add(cells ...string) { s.rows = append(s.rows, cells) }

// sheets lists a report's sheets that have rows.
func (r Report) sheets() []sheet {
	out := []sheet{r.goals()}
	if all := r.compare(); len(r.Experiment.Goals) > 0 && len(all) > 0 {
		out = append(out, ratios(all), overall(all))
	}
	out = append(out, r.versus(), r.shapes())
	out = append(out, r.forecasts()...)
	out = append(out, r.fits()...)
	return slices.DeleteFunc(out, func(s sheet) bool { return len(s.rows) == 0 })
}

// markdown writes the sheet as a table between its paragraphs.
func (s sheet) markdown(b *strings.Builder) {
	b.WriteString(s.lead + "\n\n")
	form.Table(b, s.head, func(yield func([]string)) {
		for _, row := range s.rows {
			yield(row)
		}
	})
	if s.foot != "" {
		b.WriteString(s.foot + "\n\n")
	}
}

// columns returns the sheet's columns of CSV and, for each row, its values by column.
func (s sheet) columns() (names []string, rows []map[string]string) {
	for _, a := range s.about {
		names = append(names, a[0])
	}
	for _, h := range s.head {
		names = append(names, column(h))
	}
	for _, cells := range s.rows {
		row := map[string]string{}
		for _, a := range s.about {
			row[a[0]] = a[1]
		}
		for i, c := range cells {
			row[column(s.head[i])] = plain(c)
		}
		rows = append(rows, row)
	}
	return names, rows
}

// spelled are the letters and words that names of columns spell in ASCII.
var spelled = strings.NewReplacer("ρ", "rho", "ε", "epsilon", "α", "alpha", "√", "sqrt_", "± s.e.", "standard_error", "'s", "")

// column is a table's heading as a name of a CSV column.
func column(heading string) string {
	if heading == "" {
		return "verdict"
	}
	words := strings.FieldsFunc(strings.ToLower(spelled.Replace(heading)), func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	return strings.Join(words, "_")
}

// plain is a cell without Markdown's bold marks; a dash stands for no value.
func plain(cell string) string {
	if cell == "–" {
		return ""
	}
	return strings.ReplaceAll(cell, "**", "")
}

// union joins sheets of one kind: the columns of all, in the order in which they come.
func union(sheets []sheet) [][]string {
	var head []string
	var rows []map[string]string
	for _, s := range sheets {
		names, more := s.columns()
		for _, n := range names {
			if !slices.Contains(head, n) {
				head = append(head, n)
			}
		}
		rows = append(rows, more...)
	}
	out := [][]string{head}
	for _, row := range rows {
		line := make([]string, len(head))
		for i, n := range head {
			line[i] = row[n]
		}
		out = append(out, line)
	}
	return out
}
