package rel

import (
	"regexp"
	"strings"

	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rule"
)

// What the store holds in memory however few rows a step of it has to do with at a time: it puts
// rows on disk, not columns. How wide a scan may be follows from the store's memory limit, a public
// fact; whether a wider one fails would follow from the number of rows. All was measured with
// 600,000 rows of random numbers of 200,000 persons, with the store to itself: a scan that fails
// beside others is done again like that.
const (
	// ColumnBytes is what is counted for a stored column of a table that is read: the store holds
	// its blocks of 256 KiB until a row group of 122,880 rows is done. Of DOUBLE, 176 columns are
	// read within 256 MiB and 640 within 1 GiB, but neither 192 nor 768.
	ColumnBytes = 2 << 20
	// StateBytes is what is counted for a column that the store adds up for each person, in 128
	// bits, and then may order by person and group: of persons with texts for names, 64 pass within
	// 256 MiB and 256 within 1 GiB, but 128 do not within 256 MiB.
	StateBytes = 4 << 20
	// OrderedBytes is what is counted for a number of an array that is ordered by person and group:
	// arrays of 256 numbers pass within 256 MiB and of 1024 within 1 GiB; of 1024 do not within 256
	// MiB, nor 4096 within 1 GiB.
	OrderedBytes = 1 << 20
)

// StoreHolds reports whether so many columns or numbers, each of which is counted as so many bytes,
// fit into the store's memory.
func (s *Writer) StoreHolds(n, bytes int) bool {
	return s.StoreMemory <= 0 || float64(n)*float64(bytes) <= float64(s.StoreMemory)
}

// MostOf is how many columns or numbers of so many bytes fit into the store's memory, where a limit
// is known.
func (s *Writer) MostOf(bytes int64) int64 { return s.StoreMemory / bytes }

// stored reads a column of a table in the scan that is generated, and remembers how many columns of
// eight bytes it is counted as.
func (s *Writer) stored(alias string, c store.Column) lower.Expr {
	e := lower.ReadColumn(alias+"."+sqltext.StoreName(c.Name), c.Type)
	n := 1
	if e.Type.Kind == lower.Decimal && e.Type.Precision > 18 || strings.Contains(c.Type, "HUGEINT") || c.Type == "UUID" {
		n = 2 // of sixteen bytes
	}
	if s.counted == nil {
		s.counted = map[string]int{}
	}
	s.counted[alias+"."+sqltext.StoreName(c.Name)] = n
	return e
}

// columnPattern finds what stored writes.
var columnPattern = regexp.MustCompile(`\b(t[0-9]+)\."(?:[^"]|"")*"`)

// CheckWidth refuses a scan that reads more columns of one table than the store holds. Tables are
// read one after another.
func (s *Writer) CheckWidth(sql string) error {
	all := 0
	for _, n := range s.counted {
		all += n
	}
	if s.StoreHolds(all, ColumnBytes) {
		return nil // however many of them the scan reads
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, m := range columnPattern.FindAllStringSubmatch(sql, -1) {
		if !seen[m[0]] {
			seen[m[0]] = true
			of[m[1]] += s.counted[m[0]]
		}
	}
	for _, n := range of {
		if !s.StoreHolds(n, ColumnBytes) {
			return rule.Deny(rule.Memory, refuse.Option, "Read fewer columns, keep the numbers in one column of type VECTOR, or have an operator raise --memory-limit.",
				"The query reads %d columns of one table, where numbers of more than 18 digits count twice; with its memory limit of %d MiB the store can read %d.",
				n, s.StoreMemory>>20, s.MostOf(ColumnBytes))
		}
	}
	return nil
}

// CheckSums refuses a scan in which the store would add up more columns for each person than it
// holds.
func (s *Writer) CheckSums(columns int) error {
	if s.StoreHolds(columns, StateBytes) {
		return nil
	}
	return rule.Deny(rule.Memory, refuse.Option, "Ask for fewer aggregates at a time, or have an operator raise --memory-limit.",
		"The store adds up %d columns for each person; with its memory limit of %d MiB it can add up %d.", columns, s.StoreMemory>>20, s.MostOf(StateBytes))
}
