package monitor

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"scrim/accounting"
	"scrim/engine/observe/audit"
	"scrim/engine/store/duckdb"
)

// Health tells whether private statements can be answered.
type Health struct {
	ledger   *accounting.Ledger
	store    *duckdb.Store
	audit    *audit.Log // nil where statements may run without it
	spill    string     // the directory in which writing is tried
	stopping atomic.Bool
	// Every is how long the results of one check of disk and store are good for, whoever asks
	// how often.
	Every time.Duration

	mu  sync.Mutex
	at  time.Time
	err error
}

// Why private statements cannot be answered. The texts are shown to whoever can reach /readyz.
var (
	errStopping  = errors.New("the server is stopping")
	errNoLedger  = errors.New("the ledger does not write; the server's log says why")
	ErrDamaged   = errors.New("the ledger is damaged; the server's log says what to do")
	errNoAudit   = errors.New("the audit log cannot be written; the server's log says why")
	errNoDisk    = errors.New("the data directory cannot be written: is the disk full, or read-only?")
	errStoreDown = errors.New("the store does not answer")
	errHalted    = errors.New("writing to the disk failed: nothing is read or changed until the store is opened anew, which happens by itself once the disk has room; the server's log says more")
)

// checkTimeout is how long the store has to answer.
const checkTimeout = 3 * time.Second

// Check returns nil while private statements can be answered, else why not.
func (h *Health) Check() error {
	if h.stopping.Load() {
		return errStopping
	}
	if err := ledgerError(h.ledger); err != nil {
		return err
	}
	if h.audit.Failing() {
		return errNoAudit
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := time.Since(h.at); h.at.IsZero() || age > h.Every {
		h.err = errors.Join(h.writes(), h.answers())
		h.at = time.Now()
	}
	return h.err
}

// writes reports whether the disk of the ledger takes another page. The store empties the directory
// that it is tried in.
func (h *Health) writes() error {
	if err := os.MkdirAll(h.spill, 0o700); err != nil {
		return errNoDisk
	}
	f, err := os.CreateTemp(h.spill, "ready-*")
	if err != nil {
		return errNoDisk
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 16<<10))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errNoDisk
	}
	return nil
}

// answers reports whether the store answers, also while a statement has it to itself.
func (h *Health) answers() error {
	if h.store.Halted() != nil {
		return errHalted
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	if h.store.Alive(ctx) != nil {
		return errStoreDown
	}
	return nil
}
