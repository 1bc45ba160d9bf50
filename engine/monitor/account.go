package monitor

import (
	"context"
	"time"

	"scrim/accounting"
	"scrim/engine/exec"
	"scrim/engine/metrics"
)

// Account is the ledger that private statements are charged to; with metrics, one that measures how
// long charges wait.
func (m *Monitor) Account(l *accounting.Ledger) exec.Account {
	if m == nil {
		return l
	}
	return timed{l, m.Metrics}
}

// timed is the ledger with a clock at its charges.
type timed struct {
	*accounting.Ledger
	metrics *metrics.Metrics
}

// Reserve implements exec.Account.
func (t timed) Reserve(ctx context.Context, r accounting.Request) (accounting.Receipt, error) {
	start := time.Now()
	receipt, err := t.Ledger.Reserve(ctx, r)
	if err == nil {
		t.metrics.Committed(time.Since(start))
	}
	return receipt, err
}
