package catalog

import (
	"strings"
	"time"

	"scrim/internal/refuse"
)

// The forms of a moment in a domain. A fraction may follow the seconds.
const (
	dayForm    = "2006-01-02"
	momentForm = "2006-01-02 15:04:05"
)

// span reads a range of moments. A date without a time is its first moment as min, and its last
// one as max.
func span(from string, to any, null bool, bad func(string, ...any) (Domain, error)) (Domain, error) {
	last, _ := to.(string)
	a, _, ok1 := moment(from)
	b, day, ok2 := moment(last)
	if !ok1 || !ok2 {
		return bad("must have numbers, or dates as '2020-01-31' or '2020-01-31 23:59:59' of the years 1 to 9999, as min and max.")
	}
	if day {
		b = b.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	if b.Before(a) {
		return bad("has min %s, which is after max %s.", from, last)
	}
	return Domain{Span: &Span{Min: a, Max: b}, Null: null}, nil
}

// moment reads a date, or a date and a time; day reports that it is a date alone.
func moment(text string) (t time.Time, day, ok bool) {
	if t, err := time.Parse(dayForm, text); err == nil {
		return t, true, t.Year() > 0
	}
	t, err := time.Parse(momentForm, strings.Replace(text, "T", " ", 1))
	return t, false, err == nil && t.Year() > 0 && t.Nanosecond()%1000 == 0
}

// from writes the least moment as span reads it.
func (s *Span) from() string {
	if s.Min.Equal(s.Min.Truncate(24 * time.Hour)) {
		return s.Min.Format(dayForm)
	}
	return s.Min.Format(momentForm + ".999999")
}

// to writes the greatest moment as span reads it.
func (s *Span) to() string {
	if end := s.Max.Add(time.Microsecond); end.Equal(end.Truncate(24 * time.Hour)) {
		return s.Max.Format(dayForm)
	}
	return s.Max.Format(momentForm + ".999999")
}

func (d Domain) null() string {
	if d.Null {
		return `,"null":true`
	}
	return ""
}

// suits refuses a domain that a column of the store's type cannot have, or that would silently
// leave out most of its rows: a list of dates for a column of moments has their midnights only.
func (d Domain) suits(table, column, storeType string) error {
	t := strings.ToUpper(storeType)
	if t == "" {
		return nil
	}
	moments := strings.HasPrefix(t, "TIMESTAMP")
	dated := moments || t == "DATE"
	refused := func(remedy, format string, args ...any) error {
		return refuse.New(refuse.Policy, format, args...).With("%s", remedy)
	}
	const spanForm = `Declare a range: {"min":"2020-01-01","max":"2029-12-31"}.`
	switch {
	case d.Span != nil && !dated:
		return refused("Use numbers as min and max of a column of numbers; list the values of another.",
			"The column %s of %s holds no dates, so its domain is no range of dates.", column, table)
	case d.Range != nil && dated:
		return refused(spanForm, "The column %s of %s holds dates, so its domain is no range of numbers.", column, table)
	case moments && d.onlyDays():
		return refused(spanForm+` It gives public keys to DATE(), YEAR() and all that is made of them. To list midnights, write '2020-01-01 00:00:00'.`,
			"The column %s of %s holds dates with times; a list of dates would leave out all rows but those of midnight.", column, table)
	}
	return nil
}

// onlyDays reports whether all texts of a list are dates without a time.
func (d Domain) onlyDays() bool {
	found := false
	for _, v := range d.Values {
		text, ok := v.(string)
		if !ok {
			continue
		}
		if _, day, ok := moment(text); !ok || !day {
			return false
		}
		found = true
	}
	return found
}
