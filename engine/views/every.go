package views

import (
	"slices"
	"strings"
	"time"

	"scrim/internal/refuse"
)

// Every is how often the server does something by itself; "" is never.
type Every string

// The words of schedules.
const (
	Daily   Every = "daily"
	Weekly  Every = "weekly"  // on Mondays, as windows of a week begin
	Monthly Every = "monthly" // on the first
	never         = "never"
)

// dueHour is the hour of the day, by UTC, at which everything is due: two hours after the day ended
// and windows of budgets began, so that rows that come late are in.
const dueHour = 2

// ParseEvery reads the word of a schedule.
func ParseEvery(text string) (Every, error) {
	e := Every(strings.ToLower(strings.TrimSpace(text)))
	if e == never {
		return "", nil
	}
	if e == "" {
		return "", notEvery()
	}
	return e, e.check()
}

// check refuses what is no schedule.
func (e Every) check() error {
	if e == "" || slices.Contains([]Every{Daily, Weekly, Monthly}, e) {
		return nil
	}
	return notEvery()
}

func notEvery() error {
	return refuse.New(refuse.View, "A schedule is daily, weekly or monthly, at %02d:00 by UTC.", dueHour).
		With("CALL dp_schedule('shop.sales', 'daily'); or 'never', which ends it.")
}

// Next is the first due time after a time.
func (e Every) Next(after time.Time) time.Time {
	after = after.UTC()
	t := time.Date(after.Year(), after.Month(), after.Day(), dueHour, 0, 0, 0, time.UTC)
	for !t.After(after) || e == Weekly && t.Weekday() != time.Monday || e == Monthly && t.Day() != 1 {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// Times is how many due times there are after one time and before another.
func (e Every) Times(after, before time.Time) (n int) {
	for t := e.Next(after); t.Before(before); t = e.Next(t) {
		n++
	}
	return n
}
