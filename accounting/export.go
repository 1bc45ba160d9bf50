package accounting

import (
	"bufio"
	"context"
	"io"
)

// Export writes the entries that f chooses to w, one JSON object a line. It tells progress, which may be nil, how many entries are
// written, and of how many at most.
func (l *Ledger) Export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	err := l.export(ctx, f, progress, func(e *Entry) error {
		line = append(e.appendJSON(line[:0]), '\n')
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// export calls write with each entry that f chooses.
func (l *Ledger) export(ctx context.Context, f Filter, progress func(done, total int64), write func(*Entry) error) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	total := l.atMost(&f)
	var done int64
	err := l.scan(ctx, f, func(page []Entry) error {
		for i := range page {
			if err := write(&page[i]); err != nil {
				return err
			}
		}
		done += int64(len(page))
		progress(done, total)
		return nil
	})
	if err == nil {
		progress(done, done)
	}
	return err
}

// atMost returns how many entries may match f, and no fewer than do now.
func (l *Ledger) atMost(f *Filter) int64 {
	l.reading.RLock()
	defer l.reading.RUnlock()
	n := int64(l.index.choose(f).ids.GetCardinality())
	if f.Limit > 0 {
		n = min(n, int64(f.Limit))
	}
	return n
}
