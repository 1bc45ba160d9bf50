package accounting

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/record"
	"scrim/test/testenv"
)

// TestRemarksStandWithTheirCharge: what is said of an answer is part of its charge's entry, also
// when it comes late, when the ledger has been opened again, from the records or from a checkpoint,
// and in exports; it is none of the entries itself and changes no sum.
func TestRemarksStandWithTheirCharge(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Never)
	var receipts []Receipt
	for range 30 {
		receipts = append(receipts, mustReserve(t, l, "a@%", rho("t", 1e-4)))
	}
	want := map[uint64]string{}
	for i, r := range receipts {
		l.Finish(r, record.Answered)
		if i%3 == 0 {
			want[r.ID] = fmt.Sprintf("%d of 30 values NULL for too few persons", i)
			l.Remark(r, want[r.ID])
		}
	}
	l.Remark(receipts[0], "") // nothing to say
	l.Remark(Receipt{}, "of what nobody charged")
	l.Remark(Receipt{ID: 1 << 40}, "of what nobody has charged yet")
	ok(t, l.Note("a@%", "kind", "all before is durable"))
	spent := spentOn(l, "t", false, budget.All)
	check := func(when string, l *Ledger) {
		t.Helper()
		list, err := l.Entries(t.Context(), Filter{})
		ok(t, err)
		if len(list) != 32 {
			t.Errorf("%s: %d entries, want the budget, 30 charges and the note", when, len(list))
		}
		for _, e := range list {
			if e.Remark != want[e.ID] || e.Kind == ChargeEntry && e.Outcome != record.Answered {
				t.Errorf("%s: entry %d is %v with %q, want %q", when, e.ID, e.Outcome, e.Remark, want[e.ID])
			}
		}
		if list, err = l.Entries(t.Context(), Filter{Digest: record.RemarkDigest(receipts[0].ID)}); err != nil || len(list) > 0 {
			t.Errorf("%s: by the digest of a remark: %v, %v", when, list, err)
		}
		if got := spentOn(l, "t", false, budget.All); got != spent {
			t.Errorf("%s: %v is spent, want %v", when, got, spent)
		}
		var out bytes.Buffer
		ok(t, l.ExportCSV(t.Context(), &out, Filter{}, nil))
		if n := strings.Count(out.String(), "of 30 values NULL"); n != len(want) {
			t.Errorf("%s: %d remarks in the CSV, want %d", when, n, len(want))
		}
	}
	check("live", l)
	ok(t, l.Close())
	l = open(t, path, Options{ReadOnly: true})
	check("opened again", l)
	if _, err := l.Recheck(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLedgerFromBeforeRemarks: a ledger that a program of before them has written opens, verifies
// and shows its charges as they were; and goes on, with remarks, chained to what it has.
func TestLedgerFromBeforeRemarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	file := testenv.Unzipped(t, "testdata/before-remarks.db.gz")
	mark, err := os.ReadFile("testdata/before-remarks.mark")
	ok(t, err)
	for suffix, b := range map[string][]byte{"": file, KeySuffix: testKeyFile(), MarkSuffix: mark} {
		ok(t, os.WriteFile(path+suffix, b, 0o600))
	}
	l := open(t, path, Options{})
	before, err := l.Entries(t.Context(), Filter{})
	ok(t, err)
	outcomes := ""
	for _, e := range before {
		if e.Remark != "" {
			t.Errorf("entry %d has the remark %q", e.ID, e.Remark)
		}
		if e.Kind == ChargeEntry {
			outcomes += e.Outcome.String()[:1]
		}
	}
	if len(before) != 17 || outcomes != "aftcaftcafuu" {
		t.Errorf("%d entries with the outcomes %s", len(before), outcomes)
	}
	charged := before[3]
	l.Remark(Receipt{ID: charged.ID}, "result empty")
	ok(t, l.Note("a@%", "kind", "the remark is durable"))
	ok(t, l.Close())
	l = open(t, path, Options{})
	after, err := l.Entries(t.Context(), Filter{})
	ok(t, err)
	if len(after) != 18 || after[3].Remark != "result empty" || after[4].Remark != "" {
		t.Errorf("%d entries, the first charges with %q and %q", len(after), after[3].Remark, after[4].Remark)
	}
	if _, err := l.Recheck(t.Context()); err != nil {
		t.Error(err)
	}
}
