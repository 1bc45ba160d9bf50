package accounting

import (
	"context"
	"io"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"scrim/accounting/internal/invalid"
)

// Export writes the entries that f chooses to w, one JSON object a line. It tells progress, which
// may be nil, how many entries are written, and of how many at most.
func (l *Ledger) Export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64)) error {
	return l.export(ctx, w, f, progress, func(b []byte, e *Entry) []byte { return append(e.appendJSON(b), '\n') })
}

// lines are entries as text.
type lines struct {
	text []byte
	ends []int // of each entry
	page []Entry
	err  error
}

// export writes the text of each entry that f chooses. Some goroutines read and encode a stretch of
// the entries each; one after the other is then written.
func (l *Ledger) export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64), encode func([]byte, *Entry) []byte) error {
	if f.Limit < 0 {
		return invalid.New("limit: want at least 0, have %d", f.Limit)
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if err := l.searchable(ctx); err != nil {
		return err
	}
	total, left, done := l.atMost(&f), f.Limit, 0
	if left == 0 {
		left = math.MaxInt
	}
	parts := make([]lines, runtime.GOMAXPROCS(0))
	err := l.candidates(ctx, &f, readChunk*len(parts), func(ids []uint32) (bool, error) {
		l.encode(parts, ids, &f, encode)
		for i := range parts {
			n, err := parts[i].write(w, left)
			if err != nil {
				return false, err
			}
			left, done = left-n, done+n
		}
		progress(int64(done), total)
		return left > 0, nil
	})
	if err == nil {
		progress(int64(done), int64(done))
	}
	return err
}

// encode reads the records and encodes those that match, a stretch of them in each part.
func (l *Ledger) encode(parts []lines, ids []uint32, f *Filter, encode func([]byte, *Entry) []byte) {
	var g errgroup.Group
	for i := range parts {
		p, mine := &parts[i], ids[len(ids)*i/len(parts):len(ids)*(i+1)/len(parts)]
		g.Go(func() error {
			p.text, p.ends = p.text[:0], p.ends[:0]
			if p.page, p.err = l.read(p.page[:0], mine, f); p.err != nil {
				return nil
			}
			for j := range p.page {
				p.text = encode(p.text, &p.page[j])
				p.ends = append(p.ends, len(p.text))
			}
			return nil
		})
	}
	_ = g.Wait()
}

// write writes at most n entries and says how many it wrote.
func (p *lines) write(w io.Writer, n int) (int, error) {
	n = min(n, len(p.ends))
	if p.err != nil || n == 0 {
		return 0, p.err
	}
	_, err := w.Write(p.text[:p.ends[n-1]])
	return n, err
}

// atMost returns how many entries may match f, and no fewer than do now.
func (l *Ledger) atMost(f *Filter) int64 {
	l.reading.RLock()
	defer l.reading.RUnlock()
	n := int64(choose(l.index, f).ids.GetCardinality())
	if f.Limit > 0 {
		n = min(n, int64(f.Limit))
	}
	return n
}
