package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/test/testenv"

	"github.com/rs/zerolog"
)

// clock is a time that tests set.
type clock struct{ t atomic.Pointer[time.Time] }

func at(s string) *clock {
	c := &clock{}
	c.set(s)
	return c
}

func (c *clock) set(s string) {
	t, err := time.Parse(time.DateTime, s)
	if err != nil {
		panic(err)
	}
	c.t.Store(&t)
}

func (c *clock) now() time.Time { return *c.t.Load() }

func open(t *testing.T, o Options) *Log {
	t.Helper()
	o.Log = zerolog.Nop()
	if o.every == 0 {
		o.every = 5 * time.Millisecond
	}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lines reads every line of the log; a line that is no record is "torn".
func lines(t *testing.T, dir string) (out []Record, torn int) {
	t.Helper()
	all, err := files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		f, err := os.Open(filepath.Join(dir, one.name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			var r Record
			if json.Unmarshal(s.Bytes(), &r) != nil {
				torn++
				continue
			}
			out = append(out, r)
		}
		f.Close()
	}
	return out, torn
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		out = append(out, one.name)
	}
	return out
}

func TestRecordsOfManyAreAllThere(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, Queue: 64, MaxSize: 20_000})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := 0; i < 250; {
				p, err := l.Admit()
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				p.Write(Record{Kind: Statement, Connection: uint32(w), Errno: i, Statement: "SELECT ?"})
				i++
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, torn := lines(t, dir)
	next := make([]int, 8)
	for _, r := range got {
		if r.Errno != next[r.Connection] {
			t.Fatalf("record %d of %d, want %d", r.Errno, r.Connection, next[r.Connection])
		}
		next[r.Connection]++
	}
	if len(got) != 2000 || torn != 0 || len(names(t, dir)) < 5 {
		t.Errorf("got %d records, %d torn, in %d files", len(got), torn, len(names(t, dir)))
	}
	for _, p := range names(t, dir) {
		if fi, err := os.Stat(filepath.Join(dir, p)); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", p, fi.Mode(), err)
		}
	}
}

func TestOnlyAppends(t *testing.T) {
	dir, c := t.TempDir(), at("2026-01-31 12:00:00")
	l := open(t, Options{Dir: dir, now: c.now})
	l.Write(Record{Kind: Start})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit-000001-2026-01-31.jsonl")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(slices.Clone(before), `{"time":"2026`...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, Options{Dir: dir, now: c.now})
	l.Write(Record{Kind: Stop})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(after), string(torn)+"\n") {
		t.Errorf("what was written has changed:\n%s", after)
	}
	if got, torn := lines(t, dir); len(got) != 2 || torn != 1 || got[1].Kind != Stop {
		t.Errorf("got %v, %d torn", got, torn)
	}
}

func TestDaysAndRetention(t *testing.T) {
	dir, c := t.TempDir(), at("2026-01-30 23:59:00")
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Dir: dir, Days: 2, now: c.now})
	for _, day := range []string{"2026-01-30 23:59:00", "2026-01-31 00:00:01", "2026-02-01 08:00:00", "2026-02-02 08:00:00", "2026-01-15 08:00:00", "2026-02-03 09:00:00"} {
		c.set(day)
		l.Write(Record{Kind: Login, ID: day})
		testenv.Until(t, time.Minute, "the line of "+day, func() bool {
			return slices.ContainsFunc(must(lines(t, dir)), func(r Record) bool { return r.ID == day })
		})
		// The removal of old files comes with the next tick.
		time.Sleep(20 * time.Millisecond)
	}
	want := []string{"audit-000002-2026-01-31.jsonl", "audit-000003-2026-02-01.jsonl", "audit-000004-2026-02-02.jsonl", "audit-000005-2026-02-03.jsonl"}
	// A file is kept for as long as its last record may be: two days after the next was begun.
	testenv.Until(t, time.Minute, "old files removed", func() bool { return slices.Equal(names(t, dir), want) })
	l.Keep(1)
	testenv.Until(t, time.Minute, "the new retention", func() bool { return slices.Equal(names(t, dir), want[1:]) })
	l.Keep(0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
}

func must(r []Record, _ int) []Record { return r }

// TestFullDisk begins on a file that takes nothing, /dev/full, and goes on in the next day's file.
func TestFullDisk(t *testing.T) {
	for _, policy := range []Policy{Refuse, Count} {
		dir, c := t.TempDir(), at("2026-01-31 12:00:00")
		broken := filepath.Join(dir, "audit-000001-2026-01-31.jsonl")
		if err := os.Symlink("/dev/full", broken); err != nil {
			t.Fatal(err)
		}
		l := open(t, Options{Dir: dir, Queue: 4, OnFailure: policy, now: c.now})
		p, err := l.Admit()
		if err != nil {
			t.Fatal(err)
		}
		p.Write(Record{Kind: Statement, ID: "first"})
		testenv.Until(t, time.Minute, "the failure", l.Failing)
		for range 5 {
			start := time.Now()
			p, err := l.Admit()
			if (policy == Refuse) != errors.Is(err, ErrUnavailable) || time.Since(start) > time.Minute {
				t.Errorf("%s: got %v after %v", policy, err, time.Since(start))
			}
			p.Write(Record{Kind: Statement, ID: "more"})
		}
		missing := l.Missing()
		if want := map[Policy]uint64{Refuse: 5, Count: 2}[policy]; missing != want {
			t.Errorf("%s: %d records are missing, want %d", policy, missing, want)
		}
		c.set("2026-02-01 00:00:01")
		testenv.Until(t, time.Minute, "the end of the failure", func() bool { return !l.Failing() })
		if p, err = l.Admit(); err != nil {
			t.Fatal(err)
		}
		p.Write(Record{Kind: Statement, ID: "last"})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(broken); err != nil {
			t.Fatal(err)
		}
		var ids []string
		told := uint64(0)
		for _, r := range must(lines(t, dir)) {
			ids = append(ids, r.ID)
			told += r.Missing
		}
		if ids[0] != "first" || ids[len(ids)-1] != "last" || told != missing {
			t.Errorf("%s: got %q, %d told as missing, want %d", policy, ids, told, missing)
		}
	}
}

func TestFullQueue(t *testing.T) {
	for _, policy := range []Policy{Refuse, Count} {
		dir := t.TempDir()
		l := open(t, Options{Dir: dir, Queue: 3, OnFailure: policy})
		var places []Place
		for range 3 {
			p, err := l.Admit()
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, p)
		}
		p, err := l.Admit()
		if (policy == Refuse) != errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: got %v", policy, err)
		}
		p.Write(Record{Kind: Statement, ID: "missing"})
		if l.Missing() != 1 {
			t.Errorf("%s: %d missing, want 1", policy, l.Missing())
		}
		places[0].Free()
		places[1].Write(Record{Kind: Statement, ID: "b"})
		places[2].Write(Record{Kind: Statement, ID: "c"})
		testenv.Until(t, time.Minute, "room", func() bool { return len(l.places) == 0 })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, r := range must(lines(t, dir)) {
			if r.Kind == Lost && r.Missing != 1 {
				t.Errorf("got %+v", r)
			}
			told = append(told, string(r.Kind)+r.ID)
		}
		slices.Sort(told)
		if want := []string{"lost", "statementb", "statementc"}; !slices.Equal(told, want) {
			t.Errorf("%s: got %v, want %v", policy, told, want)
		}
	}
}

func TestNilLog(t *testing.T) {
	var l *Log
	p, err := l.Admit()
	p.Write(Record{})
	l.Write(Record{})
	l.Keep(1)
	if err != nil || l.Close() != nil || l.Failing() || l.Missing() != 0 {
		t.Error("a log that keeps nothing failed")
	}
}
