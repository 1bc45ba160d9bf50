package views

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/mysql/session"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// Schedule says when the server refreshes a view, or releases the days of a series, by itself, and
// how that went. It is public, but for Problem. It is never changed, but replaced.
type Schedule struct {
	Every Every
	By    string // whose budgets and rights it is done with: who set the schedule
	Owner string `json:",omitempty"` // By, apart from others of the name; "": of an older version
	Life  string // of the data directory in which it was set; in another one it rests
	// Done is up to when everything that was due is dealt with. Tried is when something last was.
	Done, Tried time.Time
	Problem     string // why it was not done then; "": it was
	// Begun is the due time of a refresh that has begun and is not dealt with, and After the last
	// record of the ledger before it; zero where there is none.
	Begun time.Time
	After uint64
}

// scheduled is the schedule that the session's account sets now; nil for never.
func (v *Views) scheduled(ctx *sql.Context, e Every, now time.Time) *Schedule {
	if e == "" {
		return nil
	}
	return &Schedule{Every: e, By: session.Principal(ctx), Owner: session.Owner(ctx), Life: v.Life, Done: now.UTC().Truncate(time.Second)}
}

// Next is when the schedule is due next; zero where there is none, or it rests.
func (s *Schedule) Next(life string) time.Time {
	if s == nil || s.Life != life {
		return time.Time{}
	}
	return s.Every.Next(s.Done)
}

// begun is the schedule when a refresh begins.
func (s *Schedule) begun(due time.Time, after uint64) *Schedule {
	next := *s
	next.Begun, next.After = due, after
	return &next
}

// tried is the schedule after everything that was due at a time is dealt with.
func (s *Schedule) tried(now time.Time, problem string) *Schedule {
	now = now.UTC().Truncate(time.Second)
	return &Schedule{Every: s.Every, By: s.By, Owner: s.Owner, Life: s.Life, Done: now, Tried: now, Problem: problem}
}

// Schedules has the server do by itself what schedules say.
type Schedules struct {
	Views  *Views
	Totals *Totals
	// As returns a context of an account's own, with its rights as they are now, until it is ended.
	// An error says why the account may not refresh views.
	As func(ctx context.Context, account, owner string) (own *sql.Context, end func(), err error)
	// Tell words an error as the account would be told it.
	Tell func(account string, err error) string
	// Done hears of everything that was due and is dealt with; problem is "" where it was done.
	Done func(account, call, problem string)
}

// Set gives a view or a series a schedule of the session's account, or none.
func (s *Schedules) Set(ctx *sql.Context, ref store.TableRef, e Every) error {
	if s.Totals.Holds(ref) {
		r, free, err := s.Totals.series.alone(ref)
		if err != nil {
			return err
		}
		defer free()
		return s.Totals.reschedule(ctx, r, s.Views.scheduled(ctx, e, time.Now()))
	}
	r, free, err := s.Views.alone(ref)
	if err != nil {
		return err
	}
	defer free()
	if r.Synthetic != nil {
		return notDefined("Synthetic tables have no schedules.", "CALL dp_refresh_view makes one anew.")
	}
	return s.Views.reschedule(ctx, r, s.Views.scheduled(ctx, e, time.Now()))
}

// reschedule keeps a view's schedule.
func (v *Views) reschedule(ctx context.Context, r *Record, to *Schedule) error {
	next := *r
	next.Schedule = to
	if err := v.within(ctx, func(s store.Session) error { return next.write(ctx, s) }); err != nil {
		return err
	}
	v.put(r.Ref(), &next)
	return nil
}

// reschedule keeps a series' schedule.
func (v *Totals) reschedule(ctx context.Context, r *Series, to *Schedule) error {
	next := r.clone()
	next.Schedule = to
	if err := v.Views.within(ctx, func(s store.Session) error { return next.write(ctx, s) }); err != nil {
		return err
	}
	v.series.put(r.Ref(), next)
	return nil
}

// Turn does what is due at a time, once, however many due times have passed. What cannot be done is
// told, and tried again at the next due time.
func (s *Schedules) Turn(ctx context.Context, now time.Time) {
	for _, ref := range s.Views.due(now) {
		s.refresh(ctx, ref, now)
	}
	for _, ref := range s.Totals.due(now) {
		s.release(ctx, ref, now)
	}
}

// due lists the views that are due at a time.
func (v *Views) due(now time.Time) (out []store.TableRef) {
	for ref, r := range v.all() {
		if at := r.Schedule.Next(v.Life); !at.IsZero() && !at.After(now) {
			out = append(out, ref)
		}
	}
	return out
}

// due lists the series that are due at a time, of those that go on.
func (v *Totals) due(now time.Time) (out []store.TableRef) {
	for ref, r := range v.series.all() {
		if at := r.NextRelease(v.Views.Life); !at.IsZero() && !at.After(now) {
			out = append(out, ref)
		}
	}
	return out
}

// NextRelease is when days of a series are due next; zero where nothing more is released by itself.
func (r *Series) NextRelease(life string) time.Time {
	if r.State.Ended != "" || r.State.Shown == r.Options.Days {
		return time.Time{}
	}
	return r.Schedule.Next(life)
}

// due does what is due of a table for the account that has set its schedule, and notes with tried
// how it went, where something has begun. Where the table is gone nothing is done.
func (s *Schedules) due(ctx context.Context, ref store.TableRef, of *Schedule, call string, do func(own *sql.Context) error, tried func(problem string, failed bool) error) {
	if _, there, err := s.Views.st.Table(ctx, ref); err != nil || !there {
		return
	}
	by := of.By
	own, end, err := s.As(ctx, by, of.Owner)
	if err == nil {
		defer end()
		err = do(own)
	}
	if ctx.Err() != nil {
		return // the server ends: the next one goes on with what has begun
	}
	problem := ""
	if err != nil {
		problem = s.Tell(by, err)
	}
	if err := tried(problem, err != nil); err != nil {
		problem = s.Tell(by, err)
	}
	s.Done(by, call+"('"+ref.String()+"')", problem)
}

// refresh refreshes a view that is due. Where somebody else changes it, nothing is done now.
func (s *Schedules) refresh(ctx context.Context, ref store.TableRef, now time.Time) {
	r, free, err := s.Views.alone(ref)
	if err != nil {
		return
	}
	defer free()
	s.due(ctx, ref, r.Schedule, "dp_refresh_view", func(own *sql.Context) error {
		r, err = s.Views.refreshDue(own, r, now, s.Totals.Ledger)
		return err
	}, func(problem string, failed bool) error {
		if !failed {
			return nil // the record was kept with the refresh
		}
		return s.Views.reschedule(ctx, r, r.Schedule.tried(now, problem))
	})
}

// refreshDue releases a view for a due time, and charges once for it: one that has begun and was
// charged for is made of the answer that is kept, or not at all. It returns the record that is kept
// last.
func (v *Views) refreshDue(ctx *sql.Context, r *Record, now time.Time, l Ledger) (*Record, error) {
	due, old := r.Schedule.Next(v.Life), r.Schedule
	how := making{replaces: true, schedule: old.tried(now, "")}
	var err error
	if old.Begun.Equal(due) {
		if how.kept, err = charged(ctx, l, old, r.Ref()); err != nil {
			return r, err
		}
	} else if err := v.reschedule(ctx, r, old.begun(due, l.Position().Record)); err != nil {
		return r, err
	}
	if r, err = v.find(r.Ref()); err != nil {
		return r, err
	}
	if _, err := v.make(ctx, r.Ref(), r.Query, r.Options, how); err != nil {
		return r, err
	}
	return v.find(r.Ref())
}

// charged reports whether the account of a schedule was charged for a view since its refresh began.
func charged(ctx context.Context, l Ledger, s *Schedule, ref store.TableRef) (bool, error) {
	list, err := l.Entries(ctx, accounting.Filter{Principal: s.By, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, AfterID: s.After})
	if slices.ContainsFunc(list, func(e accounting.Entry) bool { return strings.HasPrefix(e.Statement, viewText+ref.String()+" AS ") }) {
		return true, err
	}
	return false, err
}

// release releases the days of a series that is due; as refresh.
func (s *Schedules) release(ctx context.Context, ref store.TableRef, now time.Time) {
	r, free, err := s.Totals.series.alone(ref)
	if err != nil {
		return
	}
	defer free()
	s.due(ctx, ref, r.Schedule, "dp_continue", func(own *sql.Context) error {
		_, err := s.Totals.release(own, r, time.Time{}, now)
		return err
	}, func(problem string, _ bool) error {
		released, err := s.Totals.series.find(ref)
		if err != nil {
			return err
		}
		return s.Totals.reschedule(ctx, released, released.Schedule.tried(now, problem))
	})
}

// Problems lists what schedules could not do when it was due last, and which of them rest.
func (s *Schedules) Problems() (out []string) {
	add := func(ref store.TableRef, x *Schedule) {
		switch {
		case x == nil:
		case s.Rests(x):
			out = append(out, "the schedule of "+ref.String()+" rests, as the data directory was copied, moved or restored since it was set: CALL dp_schedule('"+
				ref.String()+"', '"+string(x.Every)+"') where this server is to keep it")
		case x.Problem != "":
			out = append(out, "what was scheduled of "+ref.String()+" was not done: "+x.Problem)
		}
	}
	for ref, r := range s.Views.all() {
		add(ref, r.Schedule)
	}
	for ref, r := range s.Totals.series.all() {
		add(ref, r.Schedule)
	}
	return out
}

// Statement is what a refresh of a view would charge for now, planned and not run; nil for a
// series, which is charged when it is made.
func (s *Schedules) Statement(ctx *sql.Context, ref store.TableRef) (*plan.Statement, error) {
	if s.Totals.Holds(ref) {
		return nil, nil
	}
	r, err := s.Views.find(ref)
	if err != nil {
		return nil, err
	}
	d, err := s.Views.define(ctx, r.Query, r.Options)
	if err != nil {
		return nil, err
	}
	return d.budget.Statement, nil
}

// Of returns the schedule of a view or a series and when it is due next; nil where there is none.
func (s *Schedules) Of(ref store.TableRef) (*Schedule, time.Time, error) {
	if r, err := s.Totals.series.find(ref); err == nil {
		return r.Schedule, r.NextRelease(s.Views.Life), nil
	}
	r, err := s.Views.find(ref)
	if err != nil {
		return nil, time.Time{}, err
	}
	return r.Schedule, r.Schedule.Next(s.Views.Life), nil
}

// Life is that of the data directory.
func (s *Schedules) Life() string { return s.Views.Life }

// Rests reports whether a schedule was set in another life of the data directory: one that was
// copied, moved or restored spends nothing by itself.
func (s *Schedules) Rests(x *Schedule) bool { return x.Life != s.Views.Life }

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
