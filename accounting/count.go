package accounting

import (
	"context"

	"scrim/accounting/internal/invalid"
)

// Countable reports whether Count can tell how many entries a filter chooses: the index holds all
// that it asks for exactly.
func (f *Filter) Countable() bool {
	return f.Digest == "" && f.Since.IsZero() && f.Until.IsZero() && f.Limit == 0
}

// Count is how many entries a filter chooses, and how many lines these have together: one for each
// account that a charge or a replay is about, and one for each note and each change of a budget. It
// reads no entry. It refuses a filter that is not Countable.
func (l *Ledger) Count(ctx context.Context, f Filter) (entries, lines uint64, err error) {
	if !f.Countable() {
		return 0, 0, invalid.New("filter: entries of a digest or a time cannot be counted")
	}
	if err := l.searchable(ctx); err != nil {
		return 0, 0, err
	}
	l.reading.RLock()
	defer l.reading.RUnlock()
	entries, lines = l.index.Count(choose(l.index, &f).ids)
	return entries, lines, nil
}

// Charged reports whether anything was ever charged to an account, or to an entity of that name,
// also before the oldest entry.
func (l *Ledger) Charged(account string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil && l.fault != errReadOnly {
		return false, l.fault
	}
	for h := range l.state.Spent {
		if h.Account == account {
			return true, nil
		}
	}
	return false, nil
}
