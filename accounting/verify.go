package accounting

import (
	"context"
	"os"
	"time"

	"scrim/accounting/internal/index"
	"scrim/accounting/record"
)

// Report is what an opened ledger was found to hold. Opening verifies all of it.
type Report struct {
	Path      string
	Directory string
	Bytes     int64  // of the file
	Records   uint64 // of the ledger, the archived ones included
	Archived  uint64 // of them: those that are in archives
	Entries   map[EntryKind]uint64
	Outcomes  map[record.Outcome]uint64
	Budgets   int
	First     time.Time // of the first record of the file; zero when there is none
	Last      time.Time
	Marked    uint64 // the record of the high-water mark; NoMark: there is none
	Answers   int64  // bytes of stored answers
}

// NoMark stands for a high-water mark that is missing.
const NoMark = ^uint64(0)

// Report says what the ledger holds.
func (l *Ledger) Report() (Report, error) {
	if err := l.searchable(context.Background()); err != nil {
		return Report{}, err
	}
	r := Report{Path: l.path, Directory: l.directory, Marked: NoMark, Entries: map[EntryKind]uint64{}, Outcomes: map[record.Outcome]uint64{}}
	info, err := os.Stat(l.path)
	if err != nil {
		return Report{}, err
	}
	r.Bytes = info.Size()
	l.mu.Lock()
	r.Budgets = len(l.state.Budgets)
	l.mu.Unlock()
	l.answers.mu.Lock()
	r.Answers = l.answers.size
	l.answers.mu.Unlock()
	l.reading.RLock()
	r.count(l.index)
	l.reading.RUnlock()
	if l.marked != nil {
		r.Marked = l.marked.ID
	}
	r.Archived = l.base.end.ID
	if r.Records == r.Archived {
		return r, nil
	}
	err = l.records([]uint32{uint32(r.Archived + 1), uint32(r.Records)}, func(id uint64, x *record.Record) {
		if id == r.Archived+1 {
			r.First = x.At
		}
		r.Last = x.At
	})
	return r, err
}

func (r *Report) count(x *index.Index) {
	r.Records = uint64(x.Last)
	for kind, name := range kindNames {
		if name != "" {
			r.Entries[name] = x.Kinds[kind].GetCardinality()
		}
	}
	for o, b := range x.Outcomes {
		r.Outcomes[record.Outcome(o)] = b.GetCardinality()
	}
}
