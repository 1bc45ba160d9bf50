package accounting

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/record"
)

// varied makes a ledger with entries of every kind, over days, with a clock that goes back at
// times.
func varied(t *testing.T, n int) (*Ledger, string) {
	t.Helper()
	k := newClock("2026-02-01 00:00:00")
	l, path := create1(t, k)
	for i := range 4 {
		mustSet(t, l, fmt.Sprintf("t%d", i), false, budget.All, 1e5, 1e-6, budget.Never)
	}
	r := rand.New(rand.NewPCG(21, 1))
	var receipts []Receipt
	for i := range n {
		k.mu.Lock()
		k.t = k.t.Add(time.Duration(r.IntN(7200)-1800) * time.Second)
		k.mu.Unlock()
		who, account := fmt.Sprintf("p%d@%%", r.IntN(4)), fmt.Sprintf("t%d", r.IntN(4))
		switch r.IntN(10) {
		case 0:
			l.Replayed(who, "SELECT ?", fmt.Sprint("digest", r.IntN(9)), 0, []string{account})
		case 1:
			if err := l.Note(who, "kind", "text \"quoted\",\n\x01 and äöü"); err != nil {
				t.Fatal(err)
			}
		case 2:
			mustSet(t, l, account, false, who, 10, 1e-6, budget.Day)
		case 3:
			if err := l.ResetBudget(t.Context(), account, false, budget.All, who, "because"); err != nil {
				t.Fatal(err)
			}
		default:
			req := Request{Principal: who, Statement: "SELECT ?", Digest: fmt.Sprint("digest", r.IntN(9)), Roles: []string{"r"}, Charges: rho(account, 1e-4)}
			receipt, err := l.Reserve(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, receipt)
		}
		if i%3 == 0 && len(receipts) > 0 {
			l.Finish(receipts[r.IntN(len(receipts))], record.Outcome(1+r.IntN(4)))
			l.Remark(receipts[r.IntN(len(receipts))], "2 of 3 \"values\"")
		}
	}
	if err := l.Note("end@%", "kind", "everything before is durable"); err != nil {
		t.Fatal(err)
	}
	return l, path
}

// TestFiltersAgainstAll compares the index with a look at every entry, before and after opening
// again.
func TestFiltersAgainstAll(t *testing.T) {
	l, path := varied(t, 700)
	check := func(when string) {
		all, err := l.Entries(t.Context(), Filter{})
		if err != nil || len(all) < 650 {
			t.Fatal(len(all), err)
		}
		r := rand.New(rand.NewPCG(22, 1))
		hits := 0
		for range 600 {
			f := randomFilter(r, all)
			var want []uint64
			for _, e := range all {
				if f.match(&e) && e.ID > f.AfterID && (f.BeforeID == 0 || e.ID < f.BeforeID) {
					want = append(want, e.ID)
				}
			}
			if f.Descending {
				slices.Reverse(want)
			}
			if f.Limit > 0 && len(want) > f.Limit {
				want = want[:f.Limit]
			}
			list, err := l.Entries(t.Context(), f)
			var got []uint64
			for _, e := range list {
				got = append(got, e.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %+v: %v, %v, want %v", when, f, got, err, want)
			}
			hits += len(got)
		}
		if hits < 1000 {
			t.Errorf("%s: only %d entries were found", when, hits)
		}
	}
	check("live")
	l.Close()
	l = open(t, path, Options{})
	check("opened again")
}

func randomFilter(r *rand.Rand, all []Entry) (f Filter) {
	some := all[r.IntN(len(all))]
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	if maybe(3) {
		f.Principal = some.Principal
	}
	if maybe(3) {
		f.Digest = some.Digest
	}
	if maybe(4) && len(some.Charges) > 0 {
		f.Account, f.Table = some.Charges[0].Account, []string{"", some.Charges[0].Table}[r.IntN(2)]
	}
	if maybe(4) {
		f.Kinds = []EntryKind{some.Kind, NoteEntry}[:1+r.IntN(2)]
	}
	if maybe(4) {
		f.Outcomes = []record.Outcome{record.Outcome(r.IntN(5)), record.Outcome(r.IntN(5))}
	}
	if maybe(3) {
		f.Since = some.At
	}
	if maybe(3) {
		f.Until = all[r.IntN(len(all))].At
	}
	if maybe(4) {
		f.AfterID = some.ID
	}
	if maybe(4) {
		f.BeforeID = all[r.IntN(len(all))].ID
	}
	if maybe(2) {
		f.Limit = 1 + r.IntN(20)
	}
	f.Descending = maybe(2)
	return f
}

// TestExport reads exports back: JSON with encoding/json, CSV with encoding/csv.
func TestExport(t *testing.T) {
	l, _ := varied(t, 300)
	all, _ := l.Entries(t.Context(), Filter{})
	var out bytes.Buffer
	var done, total int64
	if err := l.Export(t.Context(), &out, Filter{}, func(d, n int64) { done, total = d, n }); err != nil {
		t.Fatal(err)
	}
	if done != int64(len(all)) || total != done {
		t.Errorf("progress ended at %d of %d, want %d", done, total, len(all))
	}
	dec := json.NewDecoder(&out)
	for _, e := range all {
		var line struct {
			ID                                                  uint64
			Kind, Principal, Statement, Digest, Outcome, Remark string
			Text, Note                                          string
			At                                                  time.Time
			Roles, Tables                                       []string
			Charges                                             []struct{ Rho float64 }
			Budget                                              struct{ Account, Principal, Reason string }
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.ID != e.ID || line.Kind != string(e.Kind) || line.Principal != e.Principal || line.Text != e.Text || !line.At.Equal(e.At) ||
			line.Note != e.NoteKind || line.Remark != e.Remark || line.Digest != e.Digest || !reflect.DeepEqual(line.Roles, e.Roles) || !reflect.DeepEqual(line.Tables, e.Tables) ||
			line.Budget.Account != e.Budget.Account || line.Budget.Reason != e.Budget.Reason || len(line.Charges) != len(e.Charges) {
			t.Fatalf("line %+v of entry %+v", line, e)
		}
		if e.Kind == ChargeEntry && (line.Outcome != e.Outcome.String() || line.Charges[0].Rho != e.Charges[0].Loss.Rho.Float()) {
			t.Fatalf("line %+v of entry %+v", line, e)
		}
	}
	out.Reset()
	if err := l.ExportCSV(t.Context(), &out, Filter{Limit: 50, Descending: true}, nil); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 51 || !slices.Equal(rows[0], csvHeader) || rows[1][0] != fmt.Sprint(all[len(all)-1].ID) {
		t.Errorf("%d rows, %v: %v", len(rows), err, rows[0])
	}
	for s, want := range map[string]string{"": "", "a": "a", "=1+1": "'=1+1", "-x": "'-x", "@x": "'@x", "1e-6": "1e-6"} {
		if got := harmless(s); got != want {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestCompactAndBackup: both copies hold the same, and the compacted one is smaller and goes on.
func TestCompactAndBackup(t *testing.T) {
	l, path := varied(t, 400)
	for i := range 200 {
		if err := l.PutAnswer([]byte(fmt.Sprint(i%20)), make([]byte, 2000)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			if err := l.Note("a@%", "k", "commit"); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := summarise(t, l)
	copied := filepath.Join(t.TempDir(), "copy")
	f, err := os.Create(copied)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(copied+KeySuffix, testKeyFile(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Compact(t.Context(), path, Options{DirectoryID: testDirectory, LockTimeout: time.Millisecond}, nil); err == nil {
		t.Error("a ledger in use was compacted")
	}
	l.Close()
	before, after, err := Compact(t.Context(), path, Options{DirectoryID: testDirectory}, nil)
	if err != nil || after >= before {
		t.Fatalf("%d bytes became %d: %v", before, after, err)
	}
	for _, p := range []string{path, copied} {
		l := open(t, p, Options{ReadOnly: true})
		if got := summarise(t, l); !reflect.DeepEqual(got, want) {
			t.Errorf("%s holds something else", p)
		}
		if _, err := reserve(l, "a@%", rho("t1", 1e-9)); err != errReadOnly {
			t.Errorf("charge of a ledger opened for reading: %v", err)
		}
		l.Close()
	}
	l = open(t, path, Options{})
	mustReserve(t, l, "a@%", rho("t1", 1e-9))
	if v, ok := l.Answer([]byte("7")); !ok || len(v) != 2000 {
		t.Error("a stored answer is gone")
	}
}
