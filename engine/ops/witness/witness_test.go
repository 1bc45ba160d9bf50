package witness

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/test/testenv"
)

// server is a witness at an address: what it needs is this much.
func server(t *testing.T) string {
	var mu sync.Mutex
	var last []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPost:
			last, _ = io.ReadAll(r.Body)
		case last == nil:
			http.NotFound(w, r)
		default:
			_, _ = w.Write(last)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func places(t *testing.T) map[string]string {
	return map[string]string{"file": filepath.Join(t.TempDir(), "witness"), "address": server(t)}
}

func TestLastLineCounts(t *testing.T) {
	for name, where := range places(t) {
		w := At(where, "mine")
		if e, ok, err := w.Last(); ok || err != nil || e.Position != "" {
			t.Errorf("%s: at first %+v, %v, %v", name, e, ok, err)
		}
		for _, p := range []string{"1", "2"} {
			if err := w.Add(Entry{Run: "r", Position: p}); err != nil {
				t.Fatal(err)
			}
			if e, ok, err := At(where, "mine").Last(); !ok || err != nil || e.Position != p || e.Run != "r" || e.Time.IsZero() {
				t.Errorf("%s: after %s: %+v, %v, %v", name, p, e, ok, err)
			}
		}
		if _, _, err := At(where, "other").Last(); err == nil || !strings.Contains(err.Error(), "give each its own") {
			t.Errorf("%s: another directory's witness: %v", name, err)
		}
	}
}

// TestTornLine: a line that a crash has cut off is passed over, and the next one is whole. A file
// of other things is no witness.
func TestTornLine(t *testing.T) {
	where := filepath.Join(t.TempDir(), "witness")
	w := At(where, "mine")
	if err := w.Add(Entry{Position: "1"}); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(where)
	if err := os.WriteFile(where, append(text, text[:30]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := w.Last(); !ok || err != nil || e.Position != "1" {
		t.Errorf("torn: %+v, %v, %v", e, ok, err)
	}
	for n := range 400 { // more than is read of the end
		if err := w.place.add([]byte(strings.Replace(string(text), `"1"`, `"`+strings.Repeat("x", 1+n%50)+`"`, 1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(Entry{Position: "2"}); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := w.Last(); !ok || err != nil || e.Position != "2" {
		t.Errorf("after a torn line: %+v, %v, %v", e, ok, err)
	}
	if err := os.WriteFile(where, []byte("hello\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Last(); err == nil || !strings.Contains(err.Error(), "holds no position") {
		t.Errorf("a text: %v", err)
	}
}

func TestAddressFails(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer s.Close()
	w := At(s.URL, "mine")
	if _, _, err := w.Last(); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("GET: %v", err)
	}
	if err := w.Add(Entry{Position: "1"}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("POST: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for where, says := range map[string]string{
		"/data/w": "is in the data directory", "/data/../data/x/w": "is in the data directory", "http://": "want a path", "https://host/w": "", "/disk/w": "", "/data2": "",
	} {
		err := Check(where, "/data")
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// kept is a running keeper whose steps the test makes.
type kept struct {
	*Keeper
	now  atomic.Value
	told []Report
}

func keep(t *testing.T, where, position string) *kept {
	t.Helper()
	k := &kept{}
	k.now.Store(position)
	w := At(where, "mine")
	// No goroutine: the steps are the test's.
	k.Keeper = &Keeper{w: w, run: position, now: func() string { return k.now.Load().(string) }, tell: func(r Report) { k.told = append(k.told, r) }}
	if err := k.add(); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestSecondServerIsNoticed: each of two that serve one directory finds the other's line, and says
// so once.
func TestSecondServerIsNoticed(t *testing.T) {
	for name, where := range places(t) {
		a := keep(t, where, "a")
		a.step()
		a.now.Store("a2")
		a.step()
		a.step()
		if len(a.told) != 0 {
			t.Errorf("%s: alone: %+v", name, a.told)
		}
		b := keep(t, where, "b")
		for range 3 {
			a.step()
			b.step()
		}
		for _, k := range []*kept{a, b} {
			if len(k.told) != 1 || k.told[0].Other == nil || k.told[0].Other.Run == k.run || k.told[0].Failing != nil {
				t.Errorf("%s: %s heard %+v", name, k.run, k.told)
			}
		}
	}
}

// TestFailureIsTold when it begins and when it ends, and the position is written then.
func TestFailureIsTold(t *testing.T) {
	where := filepath.Join(t.TempDir(), "disk", "witness")
	if err := os.Mkdir(filepath.Dir(where), 0o700); err != nil {
		t.Fatal(err)
	}
	k := keep(t, where, "one")
	gone := filepath.Dir(where) + "-gone"
	if err := os.Rename(filepath.Dir(where), gone); err != nil {
		t.Fatal(err)
	}
	k.now.Store("two")
	k.step()
	k.step()
	if len(k.told) != 1 || !errors.Is(k.told[0].Failing, os.ErrNotExist) {
		t.Errorf("without its disk: %+v", k.told)
	}
	if err := os.Rename(gone, filepath.Dir(where)); err != nil {
		t.Fatal(err)
	}
	k.step()
	if e, _, err := k.w.Last(); len(k.told) != 2 || k.told[1].Failing != nil || e.Position != "two" || err != nil {
		t.Errorf("with its disk again: %+v, %+v, %v", k.told, e, err)
	}
}

// TestKeeperWritesByItself within its second, and the last position when it ends.
func TestKeeperWritesByItself(t *testing.T) {
	w := At(filepath.Join(t.TempDir(), "witness"), "mine")
	var now atomic.Value
	now.Store("1")
	k, err := w.Keep(func() string { return now.Load().(string) }, func(r Report) { t.Errorf("told %+v", r) })
	if err != nil {
		t.Fatal(err)
	}
	knows := func(want string) bool { e, _, _ := w.Last(); return e.Position == want }
	if !knows("1") {
		t.Error("the first position is not written at once")
	}
	now.Store("2")
	testenv.Until(t, time.Minute, "the second position", func() bool { return knows("2") })
	now.Store("3")
	k.Close()
	k.Close()
	if !knows("3") {
		t.Error("the last position is not written")
	}
	(*Keeper)(nil).Close()
}
