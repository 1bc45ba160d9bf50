package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/continual"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/settings"
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
		want = append(want, lists.Map(names, strings.ToLower)...)
	}
	have = append(have, lists.Map(t.Columns, func(c store.Column) string { return strings.ToLower(c.Name) })...)
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

// SeriesOptions say what a series of totals may cost, which days it has, and for how much one
// person counts over all of them.
type SeriesOptions struct {
	Loss
	From      string  `json:"from"` // the first day, as 2025-01-31
	Days      int     `json:"days"`
	PerPerson int64   `json:"per_person"`         // rows
	Clip      float64 `json:"clip,omitempty"`     // of each sum, in its units; 0: see settings.Series
	Schedule  Every   `json:"schedule,omitempty"` // "": days are released when somebody asks
}

// mostPerPerson bounds the rows of one person.
const mostPerPerson = 1 << 40

// ParseSeriesOptions reads options as JSON.
func ParseSeriesOptions(text string) (SeriesOptions, error) {
	var o SeriesOptions
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	switch {
	case err != nil || d.More():
		return o, notSeries("The options of a series are no JSON object of epsilon, rho, delta, from, days, per_person, clip and schedule.")
	case !isDay(o.From):
		return o, notSeries("The options of a series want the first day as from, of the form 2025-01-31.")
	case o.Days < 1 || o.Days > continual.MaxDays:
		return o, notSeries("The options of a series want days of 1 to %d.", continual.MaxDays)
	case !isDay(o.day(o.Days - 1)):
		return o, notSeries("The last day of the series is after the year 9999.")
	case o.PerPerson < 1 || o.PerPerson > mostPerPerson:
		return o, notSeries("The options of a series want per_person: for how many rows one person counts over all days, 1 or more.")
	case o.Clip < 0 || math.IsInf(o.Clip, 0) || math.IsNaN(o.Clip):
		return o, notSeries("The options of a series want a clip above 0.")
	}
	if err := o.Schedule.check(); err != nil {
		return o, err
	}
	return o, o.Loss.check("a series")
}

func notSeries(format string, args ...any) error {
	return refuse.New(refuse.View, format, args...).
		With(`For example '{"epsilon": 1, "from": "2025-01-01", "days": 365, "per_person": 30}'. SELECT DP_QUANTILE(k, 0.95) FROM (SELECT customer, COUNT(*) AS k FROM shop.orders GROUP BY customer) t tells what per_person may be.`)
}

func isDay(text string) bool {
	t, err := time.Parse(time.DateOnly, text)
	return err == nil && t.Year() > 0
}

// date is day t of the span, from 0.
func (o SeriesOptions) date(t int) time.Time {
	first, _ := time.Parse(time.DateOnly, o.From) // ParseSeriesOptions has read it
	return first.AddDate(0, 0, t)
}

func (o SeriesOptions) day(t int) string { return o.date(t).Format(time.DateOnly) }

// upTo is how many days of the span are not after a day.
func (o SeriesOptions) upTo(last time.Time) int {
	days := int(last.Sub(o.date(0))/(24*time.Hour)) + 1
	if last.Before(o.date(0)) {
		return 0
	}
	return min(days, o.Days)
}

const daily = "For example SELECT DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1."

// defineSeries plans the definition of a series, whose days are those of the options, by a scan of
// rows of days and persons.
func (v *Views) defineSeries(ctx *sql.Context, query string, o SeriesOptions) (*definition, error) {
	as := settings.Series{PerPerson: o.PerPerson, Clip: o.Clip}
	for t := range o.Days {
		as.Days = append(as.Days, o.date(t))
	}
	d, err := v.planned(ctx, query, o.Loss, settings.View{Series: &as})
	if err != nil {
		return nil, err
	}
	if sc := d.scan(); len(d.node.Release.Scans) != 1 || !sc.Units || sc.Kept || sc.Held {
		return nil, fmt.Errorf("views: the plan of a series has no scan of persons")
	}
	return d, nil
}

// scan is that of a series: the number of the day, the person, and numbers of rows or of persons.
func (d *definition) scan() plan.Scan { return d.node.Release.Scans[0] }

// whom tells whom a series counts and is charged for.
func (d *definition) whom() string {
	r := d.node.Release
	return strings.Join(slices.Concat([]string{r.Relation.String()}, r.Belongs, r.Tables, r.Entities), "; ")
}

// goesOn refuses a definition that does not count as what was charged did: other persons, or
// numbers of other steps or bounds. The loss is that of the charge, whatever the definition would
// cost now.
func (r *Series) goesOn(d *definition) error {
	was, is := r.Params, d.series.Params()
	is.Rho = was.Rho
	if r.Whom == d.whom() && reflect.DeepEqual(was, is) {
		return nil
	}
	return refuse.New(refuse.View, "The definition of the series %s does not mean what it did when it was charged: whom a row belongs to, the type or the range of a number have changed since.", r.Ref()).
		With("Change that back; or make another series, for another charge.")
}
