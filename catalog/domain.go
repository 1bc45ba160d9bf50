package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Limits of a domain.
const (
	// MaxDomainValues is how many values a domain may list.
	MaxDomainValues = 10_000
	// MaxDomainText is how many bytes one text value of a domain may have.
	MaxDomainText = 1024
	// maxDomainJSON bounds the text before it is parsed.
	maxDomainJSON = 4 << 20
)

// domainForms is the remedy of every refusal of a domain.
const domainForms = `Use ["a","b",null], or {"table":"t","column":"c"} of a public table, or {"min":0,"max":100}, or {"min":"2020-01-01","max":"2029-12-31"}; null removes the domain.`

// SetDomain declares the public domain of a column, as JSON: a list of distinct values of one kind
// (texts, numbers or booleans; null when NULL is a key), the values of a column of a public table,
// or a closed range of numbers, dates or moments. JSON null removes the domain. A domain is public:
// it must be known without looking at the data. current is the schema that a table name without one
// in the JSON belongs to; it may be empty.
func (c *Catalog) SetDomain(schema Schema, current, table, column, text string) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	col, err := columnOf(schema, name, column)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "null" {
		return c.setDomain(name, col, nil)
	}
	d, err := ParseDomain(text)
	if err != nil {
		return err
	}
	if err := d.suits(name, col, schema.ColumnType(name, col)); err != nil {
		return err
	}
	if d.Source == nil {
		return c.setDomain(name, col, &d)
	}
	src := d.Source.Table
	if !strings.Contains(src, ".") && current != "" {
		src = current + "." + src
	}
	if src, err = existing(schema, src); err != nil {
		return err
	}
	srcCol, err := columnOf(schema, src, d.Source.Column)
	if err != nil {
		return err
	}
	return c.setDomain(name, col, &Domain{Source: &Source{Table: src, Column: srcCol}})
}

func (c *Catalog) setDomain(table, column string, d *Domain) error {
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(table)
		if d == nil {
			if _, ok := t.Domains[column]; !ok {
				return false, nil
			}
		}
		if d != nil && d.Source != nil && s.Table(d.Source.Table).State != Public {
			return false, refuse.New(refuse.Policy, "The table %s is not public, so its values cannot be a public domain.", d.Source.Table).
				With("CALL dp_public('%s') first, if nobody's data are in it; or list the values.", d.Source.Table)
		}
		domains := maps.Clone(t.Domains)
		if domains == nil {
			domains = map[string]Domain{}
		}
		if d == nil {
			delete(domains, column)
		} else {
			domains[column] = *d
		}
		t.Domains = domains
		s.put(t)
		return true, nil
	})
}

// readJSON reads the first value of a text, numbers as they are written; alone is false where more
// follows.
func readJSON(text string, to any) (alone bool, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return false, err
	}
	_, err = d.Token()
	return err == io.EOF, nil
}

// ParseDomain reads the JSON form of a domain. Every error is a refusal that shows the valid forms.
func ParseDomain(text string) (Domain, error) {
	bad := func(format string, args ...any) (Domain, error) {
		return Domain{}, refuse.New(refuse.Policy, "The domain "+format, args...).With("%s", domainForms)
	}
	if len(text) > maxDomainJSON {
		return bad("is longer than %d bytes.", maxDomainJSON)
	}
	if !utf8.ValidString(text) {
		return bad("is not UTF-8.")
	}
	var v any
	switch alone, err := readJSON(text, &v); {
	case err != nil:
		return bad("is not valid JSON.")
	case !alone:
		return bad("has text after the JSON value.")
	}
	switch v := v.(type) {
	case []any:
		values, problem := domainValues(v)
		if problem != "" {
			return bad("%s", problem)
		}
		return Domain{Values: values}, nil
	case map[string]any:
		if repeated(text) {
			return bad("names a key twice.")
		}
		return domainObject(v, bad)
	}
	return bad("is neither a list nor an object.")
}

func domainObject(m map[string]any, bad func(string, ...any) (Domain, error)) (Domain, error) {
	get := func(a, b string) (any, any, bool) {
		x, ok1 := m[a]
		y, ok2 := m[b]
		return x, y, ok1 && ok2 && len(m) == 2
	}
	if t, c, ok := get("table", "column"); ok {
		table, ok1 := t.(string)
		column, ok2 := c.(string)
		if !ok1 || !ok2 || table == "" || column == "" {
			return bad("must name table and column as texts.")
		}
		return Domain{Source: &Source{Table: strings.ToLower(table), Column: strings.ToLower(column)}}, nil
	}
	null, withNull := m["null"].(bool)
	if withNull {
		delete(m, "null")
	}
	if lo, hi, ok := get("min", "max"); ok {
		if from, is := lo.(string); is {
			return span(from, hi, null, bad)
		}
		a, ok1 := finite(lo)
		b, ok2 := finite(hi)
		switch {
		case !ok1 || !ok2:
			return bad("must have finite numbers, or dates, as min and max.")
		case !(a < b):
			return bad("has min %v, which is not below max %v.", a, b)
		}
		return Domain{Range: &Range{Min: a, Max: b}, Null: null}, nil
	}
	return bad("has other keys than table and column, or min and max with null.")
}

func finite(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// domainValues checks a list and returns its values as string, int64, float64, bool or nil.
func domainValues(list []any) ([]any, string) {
	switch {
	case len(list) == 0:
		return nil, "is empty."
	case len(list) > MaxDomainValues:
		return nil, fmt.Sprintf("has %d values; %d are allowed.", len(list), MaxDomainValues)
	}
	out := make([]any, len(list))
	seen := make(map[any]bool, len(list))
	kind := ""
	for i, v := range list {
		value, k, problem := domainValue(v)
		if problem != "" {
			return nil, problem
		}
		if k != "" && kind != "" && k != kind {
			return nil, "mixes " + kind + " and " + k + "."
		}
		if k != "" {
			kind = k
		}
		id := value
		if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<63 {
			id = int64(f) // 1 and 1.0 are one key
		}
		if seen[id] {
			return nil, "lists a value twice: " + formatValue(value) + "."
		}
		seen[id] = true
		out[i] = value
	}
	return out, ""
}

func domainValue(v any) (value any, kind, problem string) {
	switch v := v.(type) {
	case nil:
		return nil, "", ""
	case bool:
		return v, "booleans", ""
	case string:
		if len(v) > MaxDomainText {
			return nil, "", fmt.Sprintf("has a text of more than %d bytes.", MaxDomainText)
		}
		return v, "texts", ""
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			i, err := strconv.ParseInt(v.String(), 10, 64)
			if err != nil {
				return nil, "", "has an integer of more than 64 bits."
			}
			return i, "numbers", ""
		}
		f, ok := finite(v)
		if !ok {
			return nil, "", "has a number that is not finite."
		}
		if f == 0 {
			f = 0 // −0 is 0
		}
		return f, "numbers", ""
	}
	return nil, "", "has a value that is neither a text, a number, a boolean nor null."
}

// String returns the JSON form, which ParseDomain reads back to the same domain.
func (d Domain) String() string {
	switch {
	case d.Source != nil:
		return fmt.Sprintf(`{"table":%s,"column":%s}`, formatValue(d.Source.Table), formatValue(d.Source.Column))
	case d.Range != nil:
		return fmt.Sprintf(`{"min":%s,"max":%s%s}`, formatValue(d.Range.Min), formatValue(d.Range.Max), d.null())
	case d.Span != nil:
		return fmt.Sprintf(`{"min":%s,"max":%s%s}`, formatValue(d.Span.from()), formatValue(d.Span.to()), d.null())
	}
	return "[" + strings.Join(lists.Map(d.Values, formatValue), ",") + "]"
}

func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0" // stays a float64 when read back
		}
		return s
	case string:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a string and a buffer: cannot fail
		return strings.TrimSuffix(b.String(), "\n")
	}
	return fmt.Sprint(v)
}

// repeated reports whether the top-level object of valid JSON names a key twice.
func repeated(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return false
		}
		name, _ := k.(string)
		if seen[name] {
			return true
		}
		seen[name] = true
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return false
		}
	}
	return false
}

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
