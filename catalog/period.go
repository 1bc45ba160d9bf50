package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Period makes units of the rows that one person has in one period: two databases are then
// neighbours when they differ in these. The zero Period is none.
type Period struct {
	Every string // one of Periods
	Of    string // the column whose day tells the period of a row
}

// Periods are the lengths of periods. Weeks begin on Monday.
var Periods = []string{"day", "week", "month", "quarter", "year"}

// String says the period in words for a policy: "month of placed"; "" of none.
func (p Period) String() string {
	if p.Every == "" {
		return ""
	}
	return p.Every + " of " + p.Of
}

// PeriodAt returns when the period that holds a day begins, or the one that many after it.
func PeriodAt(every string, day time.Time, after int) time.Time {
	y, m, d := day.Date()
	switch every {
	case "week":
		d += 7*after - (int(day.Weekday())+6)%7
	case "month":
		m, d = m+time.Month(after), 1
	case "quarter":
		m, d = m-(m-1)%3+time.Month(3*after), 1
	case "year":
		y, m, d = y+after, 1, 1
	default:
		d += after
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// CountPeriods returns how many periods there are from the one that holds a day to that of another.
func CountPeriods(every string, first, last time.Time) int64 {
	first, last = PeriodAt(every, first, 0), PeriodAt(every, last, 0)
	days := (last.Unix() - first.Unix()) / (24 * 60 * 60) // a Duration has 292 years at most
	months := int64(12*(last.Year()-first.Year()) + int(last.Month()) - int(first.Month()))
	switch every {
	case "week":
		return days/7 + 1
	case "month":
		return months + 1
	case "quarter":
		return months/3 + 1
	case "year":
		return months/12 + 1
	}
	return days + 1
}

// ParsePeriod reads the period of dp_protect, a JSON object: {"period": "month", "of": "placed"}.
func ParsePeriod(text string) (Period, error) {
	var p struct {
		Period string `json:"period"`
		Of     string `json:"of"`
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil || dec.More() || p.Of == "" || !slices.Contains(Periods, strings.ToLower(p.Period)) {
		return Period{}, refuse.New(refuse.Policy, "%s is not a period.", quoted(text)).
			With(`Use {"period": "month", "of": "placed"}: day, week, month, quarter or year, and a column of dates.`)
	}
	return Period{strings.ToLower(p.Period), p.Of}, nil
}

// ProtectPeriods declares a table protected as Protect does, with the rows that a person has in one
// period as the unit. All tables of the entity have the same periods, or find them through links;
// that is decided before anything is charged to the entity, and stays: losses of persons and losses
// of periods do not bound each other.
func (c *Catalog) ProtectPeriods(schema Schema, table, unit, entity string, p Period) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	if strings.EqualFold(unit, RowUnit) {
		return refuse.New(refuse.Policy, "A table whose unit is the row has no periods.").
			With("Name the column that identifies the person.")
	}
	if p.Of, err = columnOf(schema, name, p.Of); err != nil {
		return err
	}
	if t := schema.ColumnType(name, p.Of); t != "DATE" && !strings.HasPrefix(t, "TIMESTAMP") {
		return refuse.New(refuse.Policy, "The column %s.%s has no dates.", name, p.Of).
			With("Name a column of type DATE, DATETIME or TIMESTAMP, or add one.")
	}
	return c.protectUnit(schema, name, unit, entity, p)
}

// inPeriods checks that a table that gets a unit has the periods of its entity, and decides those
// of an entity that nothing rests on yet.
func (c *Catalog) inPeriods(s *Snapshot, t Table, u Unit, entity string) error {
	have := s.periods[entity]
	if u.Link != nil || u.Period.Every == have {
		return nil
	}
	others := slices.ContainsFunc(s.All(), func(k Table) bool { return k.Name != t.Name && k.Of(entity) })
	if others || c.charged(entity) || t.Account != "" && c.charged(t.Account) {
		return refuse.New(refuse.Policy, "The unit of entity %s is %s, and its tables or its spending rest on that.", entity, unitOf(have)).
			With("Name an entity of its own, as '%s_by_%s'; a table that was charged keeps its unit.", entity, orPerson(u.Period.Every))
	}
	s.setPeriods(entity, u.Period.Every)
	return nil
}

func (s *Snapshot) setPeriods(entity, every string) {
	if every == "" {
		delete(s.periods, entity)
		return
	}
	if s.periods == nil {
		s.periods = map[string]string{}
	}
	s.periods[entity] = every
}

func unitOf(every string) string {
	if every == "" {
		return "the person"
	}
	return "one person's rows of one " + every
}

func orPerson(every string) string {
	if every == "" {
		return "person"
	}
	return every
}

// PeriodsOf returns the length of the periods of an entity; "" where its unit is the whole person.
func (s *Snapshot) PeriodsOf(entity string) string { return s.periods[entity] }

// UnitsOf returns how many units one person of an entity can have between two days, both included,
// of which the zero time is an open end; 0: any number. It returns false for an entity whose unit
// is the whole person.
func (s *Snapshot) UnitsOf(entity string, first, last time.Time) (n int64, ok bool) {
	every := s.periods[entity]
	if every == "" || first.IsZero() || last.IsZero() {
		return 0, every != ""
	}
	return CountPeriods(every, first, last), true
}

// noPeriods refuses for an entity what is not defined for units of one period.
func (s *Snapshot) noPeriods(entity, what string) error {
	every := s.periods[entity]
	if every == "" {
		return nil
	}
	return refuse.New(refuse.Policy, "The unit of entity %s is %s, which %s.", entity, unitOf(every), what).
		With("Protect the table without a period, and for another entity, where you need that.")
}

const (
	noReplacing = "has no relation replace-one: what one person has in one period is not exchanged for something of another"
	noSecond    = "cannot be one of two owners of a row"
)

// verifyPeriods checks invariant 5 of verify.
func (s *Snapshot) verifyPeriods(t Table) error {
	if p := t.Unit.Period; (p.Every == "") != (p.Of == "") || p.Every != "" && (t.Unit.Column == "" || !slices.Contains(Periods, p.Every)) ||
		t.State == Protected && t.Unit.Link == nil && p.Every != s.periods[t.Entity] {
		return refuse.New(refuse.Policy, "The table %s would not have the periods of its entity.", t.Name).
			With("Protect all tables of an entity with the same period.")
	}
	if s.periods[t.Entity] != "" && t.Relation != AddRemove {
		return s.noPeriods(t.Entity, noReplacing)
	}
	if o := t.Also; o != nil {
		if err := lists.Each([]string{t.Entity, o.Entity}, func(entity string) error { return s.noPeriods(entity, noSecond) }); err != nil {
			return err
		}
	}
	return nil
}
