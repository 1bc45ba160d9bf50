package views

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"scrim/engine/estimator/continual"
	"scrim/internal/refuse"
)

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
