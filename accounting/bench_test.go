package accounting

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// What the benchmarks of a large ledger work on. With a directory, the ledger is made there once
// and stays.
var (
	entriesFlag = flag.Int("ledger.entries", 1_000_000, "entries of the ledger of benchmarks")
	dirFlag     = flag.String("ledger.dir", "", "directory of the ledger of benchmarks; empty: a temporary one in memory")
)

// memoryDir returns a directory in memory, where there is one.
func memoryDir(t testing.TB) string {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "scrim-ledger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func largeLedger(b *testing.B) string {
	b.Helper()
	dir := *dirFlag
	if dir == "" {
		dir = memoryDir(b)
	}
	return filledLedger(b, dir, *entriesFlag)
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns how much of the heap is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkReopen opens a ledger of a million entries: time, processor time, and what it keeps on
// the heap.
func BenchmarkReopen(b *testing.B) {
	path := largeLedger(b)
	before := heap()
	var used time.Duration
	for b.Loop() {
		start := processor()
		l, err := Open(path, Options{DirectoryID: testDirectory})
		if err != nil {
			b.Fatal(err)
		}
		used += processor() - start
		b.StopTimer()
		kept := float64(heap()-before) / (1 << 20)
		b.ReportMetric(kept, "MiB-heap")
		if kept > 64*float64(*entriesFlag)/1e6 && *entriesFlag >= 1_000_000 {
			b.Errorf("%d entries keep %.1f MiB on the heap, want 64 for a million", *entriesFlag, kept)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
}

// BenchmarkResume opens the large ledger from its checkpoint, as a server does: until it charges,
// and until dp.ledger can be asked.
func BenchmarkResume(b *testing.B) {
	path := largeLedger(b)
	o := Options{DirectoryID: testDirectory, Checkpoints: true}
	makeCheckpoint(b, path, o)
	before := heap()
	var used, searchable time.Duration
	for b.Loop() {
		start, began := processor(), time.Now()
		l, err := Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		used += processor() - start
		b.StopTimer()
		if l.Upkeep().Resumed == 0 {
			b.Fatal("the opening did not begin at a checkpoint")
		}
		if err := l.searchable(b.Context()); err != nil {
			b.Fatal(err)
		}
		searchable += time.Since(began)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-heap")
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
	b.ReportMetric(searchable.Seconds()/float64(b.N), "searchable-s/op")
	if each := used / time.Duration(b.N); each > time.Second {
		b.Errorf("an opening from a checkpoint takes %v of processor, want less than a second whatever the entries", each)
	}
}

// makeCheckpoint opens a ledger until it has its checkpoint.
func makeCheckpoint(b *testing.B, path string, o Options) {
	b.Helper()
	l, err := Open(path, o)
	if err != nil {
		b.Fatal(err)
	}
	for l.durable.Load().ID >= l.up.due.Load() {
		if u := l.Upkeep(); u.Failed != nil || u.Damage != nil {
			b.Fatal(u)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChain reads all records of the large ledger in their order and computes the keyed chain,
// and nothing else: the least that an opening takes, in processor time.
func BenchmarkChain(b *testing.B) {
	l := openLarge(b)
	var used time.Duration
	for b.Loop() {
		start := processor()
		hasher, hash := chain.New(l.key), l.chain.Genesis(l.directory)
		err := l.db.View(func(tx *bolt.Tx) error {
			c, id := tx.Bucket(chain.Records).Cursor(), uint64(0)
			for k, v := c.First(); k != nil; k, v = c.Next() {
				id++
				hash = hasher.Next(&hash, id, v[len(chain.Sum{}):])
			}
			return nil
		})
		if err != nil || hash != l.end.Hash {
			b.Fatal("the chain does not end where the ledger does", err)
		}
		used += processor() - start
	}
	b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
}

// openLarge opens the large ledger for reading.
func openLarge(b *testing.B) *Ledger {
	b.Helper()
	l, err := Open(largeLedger(b), Options{DirectoryID: testDirectory, ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// filters are the questions of BenchmarkFilters: common and rare values, alone and together.
func filters(b *testing.B, l *Ledger) map[string]Filter {
	b.Helper()
	some, err := l.Entries(b.Context(), Filter{AfterID: 500_000, Kinds: []EntryKind{ChargeEntry}, Limit: 1})
	if err != nil || len(some) == 0 {
		b.Fatal("no entry to ask for", err)
	}
	e := some[0]
	return map[string]Filter{
		"all":                  {},
		"principal":            {Principal: e.Principal},
		"account":              {Account: e.Charges[0].Account},
		"table":                {Table: e.Charges[0].Table},
		"entity":               {Account: e.Charges[1].Account},
		"digest":               {Digest: e.Digest},
		"digest-unknown":       {Digest: "none"},
		"kind-rare":            {Kinds: []EntryKind{SetBudgetEntry}},
		"outcome":              {Outcomes: []record.Outcome{record.TimedOut}},
		"outcome-rare":         {Outcomes: []record.Outcome{record.Unfinished}},
		"day":                  {Since: e.At.Truncate(24 * time.Hour), Until: e.At.Truncate(24*time.Hour).AddDate(0, 0, 1)},
		"until":                {Until: e.At},
		"last-month":           {Since: e.At.AddDate(0, 1, 0)},
		"ids":                  {AfterID: e.ID, BeforeID: e.ID + 5000},
		"principal-and-table":  {Principal: e.Principal, Table: e.Charges[0].Table},
		"principal-and-digest": {Principal: e.Principal, Digest: e.Digest},
		"all-at-once":          {Principal: e.Principal, Table: e.Charges[0].Table, Kinds: []EntryKind{ChargeEntry}, Outcomes: []record.Outcome{record.Answered, record.Failed}, Since: e.At.AddDate(0, -2, 0)},
	}
}

// BenchmarkFilters asks the large ledger for the first and the last 1000 entries of each filter.
func BenchmarkFilters(b *testing.B) {
	l := openLarge(b)
	for name, f := range filters(b, l) {
		for _, f.Descending = range []bool{false, true} {
			order := "/ascending"
			if f.Descending {
				order = "/descending"
			}
			f.Limit = 1000
			b.Run(name+order, func(b *testing.B) {
				var used time.Duration
				found := 0
				for b.Loop() {
					start := processor()
					list, err := l.Entries(b.Context(), f)
					if err != nil {
						b.Fatal(err)
					}
					used += processor() - start
					found = len(list)
				}
				b.ReportMetric(used.Seconds()*1000/float64(b.N), "processor-ms/op")
				b.ReportMetric(float64(found), "entries")
			})
		}
	}
}

// BenchmarkExport writes all entries of the large ledger to nowhere.
func BenchmarkExport(b *testing.B) {
	l := openLarge(b)
	for name, export := range map[string]func(context.Context, io.Writer, Filter, func(done, total int64)) error{"json": l.Export, "csv": l.ExportCSV} {
		b.Run(name, func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				start := processor()
				if err := export(b.Context(), io.Discard, Filter{}, nil); err != nil {
					b.Fatal(err)
				}
				used += processor() - start
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
		})
	}
}

// BenchmarkReserve charges from 1 and from 64 goroutines, in memory and on the disk of the
// temporary directory, without checkpoints and with them, as a server does. Each charge is tested
// against four budgets.
func BenchmarkReserve(b *testing.B) {
	for place, dir := range map[string]func() string{"memory": func() string { return memoryDir(b) }, "disk": b.TempDir} {
		for _, workers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", place, workers), func(b *testing.B) { reserveFrom(b, dir(), workers, Options{Create: true}) })
			b.Run(fmt.Sprintf("%s/%d/checkpoints", place, workers), func(b *testing.B) {
				reserveFrom(b, dir(), workers, Options{Create: true, Checkpoints: true})
			})
		}
	}
}

// reserveFrom charges a new ledger from so many goroutines.
func reserveFrom(b *testing.B, dir string, workers int, o Options) {
	l := open(b, filepath.Join(dir, "ledger"), o)
	mustSet(b, l, "t", false, budget.All, 20, 1e-6, budget.Never)
	mustSet(b, l, "t", false, budget.Default, 20, 1e-6, budget.Month)
	mustSet(b, l, "e", true, budget.All, 20, 1e-6, budget.Never)
	mustSet(b, l, "e", true, budget.Default, 20, 1e-6, budget.Month)
	var next atomic.Int64
	var wg sync.WaitGroup
	start := processor()
	b.ResetTimer()
	for w := range workers {
		wg.Go(func() {
			for int(next.Add(1)) <= b.N {
				if err := chargeOnce(l, w); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
	b.ReportMetric((processor()-start).Seconds()*1e6/float64(b.N), "processor-µs/charge")
	b.ReportMetric(float64(l.Upkeep().Checkpoint), "checkpoint")
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

// chargeOnce makes the charge of a small query, and its outcome.
func chargeOnce(l *Ledger, who int) error {
	loss := privacy.Loss{Rho: 1 << 10, DeltaTV: 0x1p-100}
	r, err := l.Reserve(context.Background(), Request{
		Principal: fmt.Sprintf("analyst%d@%%", who), Statement: "SELECT COUNT(*) FROM shop.orders WHERE region = ?",
		Digest: "d69f59ce76e98baafff319152802280c", Mechanisms: "COUNT(*)",
		Charges: []Charge{{Account: "t", Table: "shop.orders", Loss: loss}, {Account: "e", Entity: true, Loss: loss}},
	})
	if err == nil {
		l.Finish(r, record.Answered)
	}
	return err
}
