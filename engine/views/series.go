package views

import (
	"slices"
	"strings"

	"scrim/engine/estimator/continual"
	"scrim/engine/store"
	"scrim/engine/tables"
)

// Series is what is kept of a series of totals beside its rows. All of it is public; what is not is
// in the entry of sums, and in the table of persons.
type Series struct {
	Schema, Name string
	Query        string
	Options      SeriesOptions
	Owner        string // who paid: the account that made it
	Made         string // UTC, in seconds
	Charge       uint64 // in the ledger
	Rounded      bool   // the noise that was charged is rounded normal noise
	ID           string // of this series, whatever others had its name
	Whom         string // it counts, and was charged for
	Params       continual.Params
	Columns      []SeriesColumn
	State        SeriesState
	Schedule     *Schedule `json:",omitempty"` // nil: nobody releases days but who asks for them
}

// SeriesColumn is a column of the definition: the day, or a measure among Params.Measures.
type SeriesColumn struct {
	Name    string
	Measure int // -1: the day
}

// SeriesState is how far a series has come.
type SeriesState struct {
	Kept  int        // days whose numbers are kept
	Shown int        // days of these whose rows are in the table
	Noisy [][]string // the released numbers of the kept days, by measure
	// Last names the release by which the last kept days came, and Before the one before it; ""
	// where there is none. Ledger is where the ledger was before it noted the last one whose days
	// are shown, or the charge.
	Last, Before, Ledger string
	// Ended says why nothing is released any more; "" while days may follow.
	Ended string
}

// Ref is the table of a series.
func (r *Series) Ref() store.TableRef { return store.TableRef{Schema: r.Schema, Name: r.Name} }

// seriesComment is that of the table of a series.
const seriesComment = "DP running totals"

// describes reports whether a table is that of the series, and not another one of its name.
func (r *Series) describes(t store.Table) bool {
	var want, have []string
	for _, c := range r.Columns {
		names := []string{c.Name}
		if c.Measure >= 0 {
			names = ofTotals(c.Name)
		}
		for _, name := range names {
			want = append(want, strings.ToLower(name))
		}
	}
	for _, c := range t.Columns {
		have = append(have, strings.ToLower(c.Name))
	}
	return tables.CommentOf(t) == seriesComment && slices.Equal(want, have)
}

// ofTotals are the columns of a measure: the day's number and the running total, and their errors.
func ofTotals(name string) []string {
	return []string{name, name + "_stderr", name + "_total", name + "_total_stderr"}
}

// Span is the first and the last day.
func (r *Series) Span() (first, last string) {
	return r.Options.day(0), r.Options.day(r.Options.Days - 1)
}

// NextDay is the first day that is not released; "" after the last one.
func (r *Series) NextDay() string {
	if r.State.Kept >= r.Options.Days {
		return ""
	}
	return r.Options.day(r.State.Kept)
}

// LastErrors are the standard errors of the last running total of each measure, by column.
func (r *Series) LastErrors() (map[string]float64, error) {
	s, err := continual.New(r.Params)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, c := range r.Columns {
		if c.Measure >= 0 {
			out[c.Name] = s.LastError(c.Measure)
		}
	}
	return out, nil
}

// clone is a copy whose state can be changed.
func (r *Series) clone() *Series {
	c := *r
	c.State.Noisy = make([][]string, len(c.Params.Measures))
	for i := range r.State.Noisy {
		c.State.Noisy[i] = slices.Clone(r.State.Noisy[i])
	}
	return &c
}
