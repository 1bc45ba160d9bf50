package duckdb

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"scrim/engine/store"
	"scrim/internal/lists"
)

// repeats are the small results that a session has read from one state of the tables, so that a
// query asked again between two writes is not run again: dashboards and prepared statements over
// reference tables do that all the time.
//
// What is given again is what DuckDB would give: generated queries are deterministic, and every
// write makes another state. Nothing is given to another session, nor to a query that its caller
// may not run any more, because callers test that before each one. So nobody learns from a result
// here, or from the time that it takes, more than from the query; private answers never come here,
// because they are made from snapshots.
type repeats struct {
	state   *state
	results map[string]*result
	size    int
}

// result is a whole result, of values that nobody can change.
type result struct {
	columns []store.Column
	batches []*store.Batch
}

const (
	// maxResult and maxResults bound what one result and those of a session take, in bytes.
	maxResult  = 32 << 10
	maxResults = 256 << 10
	// columnBytes is about what a column of a batch takes beside its values, and textBytes what a
	// text takes beside its letters.
	columnBytes = 200
	textBytes   = 16
)

// repeatKey names a query with its arguments; ok is false for arguments that have no exact text.
func repeatKey(sql string, args []any) (key string, ok bool) {
	var b strings.Builder
	b.WriteString(sql)
	for _, a := range args {
		b.WriteByte(0) // no text of a query holds one
		switch v := a.(type) {
		case nil:
			b.WriteByte('n')
		case bool:
			b.WriteString(strconv.FormatBool(v))
		case int64:
			b.WriteString("i" + strconv.FormatInt(v, 10))
		case uint64:
			b.WriteString("u" + strconv.FormatUint(v, 10))
		case float64:
			b.WriteString("f" + strconv.FormatFloat(v, 'g', -1, 64))
		case string:
			b.WriteString("s" + strconv.Quote(v))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// find returns a result of the state.
func (r *repeats) find(key string, now *state) (*result, bool) {
	if r.state != now || now == nil {
		return nil, false
	}
	found, ok := r.results[key]
	return found, ok
}

// put keeps a result of the state. Where there is no room, all others go.
func (r *repeats) put(key string, now *state, found *result, size int) {
	if r.state != now || r.size+size > maxResults {
		*r = repeats{state: now, results: map[string]*result{}}
	}
	r.results[key] = found
	r.size += size
}

// repeated reads a kept result.
type repeated struct {
	*result
	read int // batches
}

var _ store.Rows = (*repeated)(nil)

// Columns implements store.Rows.
func (r *repeated) Columns() []store.Column { return r.columns }

// Batch implements store.Rows.
func (r *repeated) Batch() (*store.Batch, error) {
	if r.read == len(r.batches) {
		return nil, io.EOF
	}
	r.read++
	return r.batches[r.read-1], nil
}

// Close implements store.Rows.
func (r *repeated) Close() error {
	r.read = len(r.batches)
	return nil
}

// recording reads a result for the first time and keeps it if it turns out to be small.
type recording struct {
	*rows
	s    *session
	key  string
	now  *state // before the query was run
	kept *result
	size int
}

// Batch implements store.Rows.
func (r *recording) Batch() (*store.Batch, error) {
	b, err := r.rows.Batch()
	switch {
	case r.kept == nil:
	case err == nil:
		if r.size += sizeOf(b); r.size > maxResult {
			r.kept = nil
		} else {
			r.kept.batches = append(r.kept.batches, b)
		}
	case err == io.EOF:
		r.s.keep(r)
		r.kept = nil
	default:
		r.kept = nil
	}
	return b, err
}

// keep keeps a result that was read to its end, if it is of the state that it was asked in:
// whatever was committed meanwhile has made another one, or will have before its writer is told.
func (s *session) keep(r *recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.commits.now.Load() == r.now {
		s.repeats.put(r.key, r.now, r.kept, r.size)
	}
}

// sizeOf is about what a batch takes, and more than any result may where it holds what could be
// changed.
func sizeOf(b *store.Batch) int {
	size := 0
	for _, c := range b.Columns {
		size += columnBytes + 8*(len(c.Ints)+len(c.Floats)) + len(c.Null)
		size += lists.Sum(c.Texts, func(t string) int { return textBytes + len(t) })
		for _, v := range c.Any {
			switch v := v.(type) {
			case nil, time.Duration, time.Time:
				size += 2 * textBytes
			case *apd.Decimal:
				size += 2*textBytes + int(v.NumDigits())
			default:
				return maxResult + 1
			}
		}
	}
	return size
}
