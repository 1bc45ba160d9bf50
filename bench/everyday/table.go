package everyday

import (
	"encoding/csv"
	"io"
	"strings"
)

// Table is a table of the bench with its policy.
type Table struct {
	Name    string
	Columns string // as in CREATE TABLE, with ", " between them
	Unit    string // the column that names the person; "": the table is public
	// Domains are the public keys or ranges of columns, by column, as dp_set_domain takes them.
	Domains [][2]string
	// Defaults are those of the table, as dp_set_defaults takes them; "": none.
	Defaults string
	// Plain is the table of the same rows without the declarations that this one is for.
	Plain string
	// Needs are other tables that this one's statements read.
	Needs []string
	// Far says that no mechanism can see how far its largest persons are beyond the others: one
	// giant, or under m = 300 a spike with a thin tail.
	Far func(m float64) bool
	// rows writes the rows in the order of the columns, an empty field for NULL; dir is the
	// directory of data files.
	rows func(dir string, add func(fields ...string) error) error
	file bool // wants dir
}

// header are the names of the columns.
func (t *Table) header() []string {
	var out []string
	for c := range strings.SplitSeq(t.Columns, ", ") {
		name, _, _ := strings.Cut(c, " ")
		out = append(out, name)
	}
	return out
}

// write writes the table as a CSV file.
func (t *Table) write(dir string, w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.header()); err != nil {
		return err
	}
	if err := t.rows(dir, func(fields ...string) error { return out.Write(fields) }); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// always is Far of tables with one giant.
func always(float64) bool { return true }

// thin is Far of tables with a thin tail.
func thin(m float64) bool { return m < 300 }

// Tables returns all tables by name.
func Tables() map[string]*Table {
	out := map[string]*Table{}
	for _, list := range [][]*Table{generated(), fileTables(), declared()} {
		for _, t := range list {
			out[t.Name] = t
		}
	}
	return out
}
