package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scrim/accounting"
	"scrim/engine/audit"
	"scrim/engine/datadir"
	"scrim/engine/store/duckdb"
)

// health tells whether private statements can be answered.
type health struct {
	ledger    *accounting.Ledger
	store     *duckdb.Store
	audit     *audit.Log // nil where statements may run without it
	directory string
	stopping  *atomic.Bool

	mu  sync.Mutex
	at  time.Time
	err error
}

// Why private statements cannot be answered. The texts are shown to whoever can reach /readyz.
var (
	errStopping  = errors.New("the server is stopping")
	errNoLedger  = errors.New("the ledger does not write; the server's log says why")
	errBadLedger = errors.New("the ledger is damaged; the server's log says what to do")
	errNoAudit   = errors.New("the audit log cannot be written; the server's log says why")
	errNoDisk    = errors.New("the data directory cannot be written: is the disk full, or read-only?")
	errStoreDown = errors.New("the store does not answer")
)

// Checks are made at most once in checkEvery, whoever asks how often, and the store has checkTimeout to answer.
const (
	checkEvery   = 5 * time.Second
	checkTimeout = 3 * time.Second
)

// check returns nil while private statements can be answered, else why not.
func (h *health) check() error {
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
	if age := time.Since(h.at); h.at.IsZero() || age > checkEvery {
		h.err = errors.Join(h.writes(), h.answers())
		h.at = time.Now()
	}
	return h.err
}

// writes reports whether the disk of the ledger takes another page. The store empties the directory that it is tried in.
func (h *health) writes() error {
	dir := filepath.Join(h.directory, datadir.SpillDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errNoDisk
	}
	f, err := os.CreateTemp(dir, "ready-*")
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
func (h *health) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	if h.store.Alive(ctx) != nil {
		return errStoreDown
	}
	return nil
}

// handler is all that is served over HTTP.
func (w *watching) handler(secure bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { plainText(rw, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		if err := w.health.check(); err != nil {
			plainText(rw, http.StatusServiceUnavailable, err.Error())
			return
		}
		plainText(rw, http.StatusOK, "ready")
	})
	mux.Handle("GET /metrics", w.guarded(w.metrics.Handler()))
	mux.Handle("/", w.dashboard)
	if secure {
		return mux
	}
	return ownHost(mux)
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// guarded asks for a DBA's or an auditor's name and password where the address is not a loopback one; on a loopback address who
// can ask is on the machine.
func (w *watching) guarded(next http.Handler) http.Handler {
	if host, _, _ := net.SplitHostPort(w.server.cfg.HTTP); loopback(host) {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := w.dashboard.Basic(r); err != nil {
			rw.Header().Set("WWW-Authenticate", `Basic realm="scrim", charset="UTF-8"`)
			plainText(rw, http.StatusUnauthorized, fmt.Sprint(err))
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// ownHost refuses requests for other names than this machine's own: a page of another site could make its name lead here and
// read what is served without a log-in.
func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(strings.Trim(host, "[]")) {
			plainText(w, http.StatusMisdirectedRequest, "served at a loopback address only")
			return
		}
		next.ServeHTTP(w, r)
	})
}
