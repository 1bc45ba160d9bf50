package monitor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/witness"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/lists"
)

// Warnings are what an operator has to look at although the server answers. The dashboard shows
// them.
type Warnings struct {
	Log   zerolog.Logger
	Audit *audit.Log // nil without an audit log

	mu   sync.Mutex
	list []warning

	upkeep atomic.Pointer[accounting.Upkeep] // of the ledger; nil: nothing was told yet
}

type warning struct{ of, text string }

// What warnings are of.
const (
	warnWitness = "witness" // it fails
	warnSecond  = "second"  // a second server appends to it
	warnHost    = "host"    // the directory was moved or copied

	warnSchedules = "schedules" // what they have was not done
	warnSources   = "sources"   // attached tables that cannot be read

	warnLedger     = "ledger"     // it is damaged
	warnCheckpoint = "checkpoint" // none can be written
)

// Texts lists the warnings.
func (w *Warnings) Texts() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out = append(out, lists.Map(w.list, func(x warning) string { return x.text })...)
	return out
}

// set puts a text in the place of what was said of something; "" says nothing any more.
func (w *Warnings) set(of, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(x warning) bool { return x.of == of })
	if text != "" {
		w.list = append(w.list, warning{of, text})
	}
}

// Moved warns that the data directory was last served elsewhere; where says how.
func (w *Warnings) Moved(where string) {
	w.elsewhere(warnHost, "this data directory was last served "+where+". If it was moved, all is well, and the next start says nothing. If it was copied, "+
		"what one copy spends the other does not count: serve one of them, and remove the other")
}

// Schedules hears all that schedules could not do when it was due last.
func (w *Warnings) Schedules(problems []string) { w.set(warnSchedules, strings.Join(problems, "; ")) }

// Degraded reports whether an attached table cannot be read.
func (w *Warnings) Degraded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.list, func(x warning) bool { return x.of == warnSources })
}

// Witness hears how the witness at an address is.
func (w *Warnings) Witness(address string, r witness.Report) {
	switch {
	case r.Failing != nil:
		w.Log.Error().Err(r.Failing).Msg("the witness cannot be read or written: a roll-back of the data directory to this time would not be noticed")
		w.set(warnWitness, "the witness cannot be read or written; the server's log says why")
	default:
		w.set(warnWitness, "")
	}
	if r.Other != nil {
		w.elsewhere(warnSecond, "another server appends to the witness "+address+", the last time at "+r.Other.Time.Format("2006-01-02 15:04:05 MST")+
			": this data directory, or a copy of it, is served twice, and what one spends the other does not count. Stop one of them, and never start it again")
	}
}

// elsewhere tells the log, the dashboard and the audit log, once, that the data directory may be in
// use in a second place.
func (w *Warnings) elsewhere(of, text string) {
	if slices.Contains(w.Texts(), text) {
		return
	}
	w.Log.Error().Msg(text)
	w.set(of, text)
	w.Audit.Write(audit.Record{Kind: audit.Elsewhere, Note: text})
}

// Upkeep hears how the work beside the ledger stands: the verification of what the start took from
// a checkpoint, and the checkpoints.
func (w *Warnings) Upkeep(u accounting.Upkeep) {
	before := w.upkeep.Swap(&u)
	if before == nil {
		before = &accounting.Upkeep{}
	}
	switch {
	case u.Damage != nil && before.Damage == nil:
		w.Log.Error().Str("ledger", u.Damage.Error()).Msg("the ledger is damaged: no private statement is answered any more. Stop the server and look at the disk; " +
			"scrim ledger verify reads all of the ledger. Then restore the data directory from a backup; charges made since that backup are unknown, " +
			"so lower the budgets by what may have been spent")
		w.set(warnLedger, "the ledger is damaged: no private statement is answered any more; the server's log says what to do")
		w.Audit.Write(audit.Record{Kind: audit.Damaged, Note: u.Damage.Error()})
	case !u.VerifiedAt.IsZero() && before.VerifiedAt.IsZero() && u.Resumed > 0:
		w.Log.Info().Uint64("records", u.Resumed).Msg("the ledger is verified up to the checkpoint that the start began with; what came later was verified then")
	}
	switch {
	case u.Failed != nil && before.Failed == nil:
		w.Log.Warn().Err(u.Failed).Msg("no checkpoint of the ledger can be written: nothing is lost, but the next start reads more of it")
		w.set(warnCheckpoint, "no checkpoint of the ledger can be written; the server's log says why")
	case u.Failed == nil && before.Failed != nil:
		w.set(warnCheckpoint, "")
	}
}

// ledgerError is why the ledger takes no charges, in words for whoever can reach /readyz; nil while
// it does.
func ledgerError(l *accounting.Ledger) error {
	switch err := l.Err(); {
	case errors.Is(err, accounting.ErrDamaged):
		return ErrDamaged
	case err != nil:
		return errNoLedger
	}
	return nil
}

// sourcesEvery is how often it is looked whether attached tables can be read, and sourceTimeout how
// long one of them may take to say so.
const (
	sourcesEvery  = 30 * time.Second
	sourceTimeout = 10 * time.Second
)

// WatchSources tells of attached tables that cannot be read, until ctx ends.
func (w *Warnings) WatchSources(ctx context.Context, st *duckdb.Store) {
	tick := time.NewTicker(sourcesEvery)
	defer tick.Stop()
	for {
		w.LookAtSources(ctx, st)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// LookAtSources looks once.
func (w *Warnings) LookAtSources(ctx context.Context, st *duckdb.Store) {
	all := st.Attachments()
	refs := slices.SortedFunc(maps.Keys(all), func(a, b store.TableRef) int { return strings.Compare(a.String(), b.String()) })
	var problems []string
	for _, ref := range refs {
		if !all[ref].Live() {
			continue
		}
		within, cancel := context.WithTimeout(ctx, sourceTimeout)
		_, err := st.State(within, ref)
		cancel()
		if ctx.Err() != nil {
			return
		}
		var failed *store.Error
		switch {
		case err == nil:
		case errors.As(err, &failed) && failed.Kind == store.Source:
			problems = append(problems, "the attached table "+ref.String()+" cannot be read: "+failed.Detail)
		case within.Err() != nil:
			problems = append(problems, "the attached table "+ref.String()+" cannot be read: its source does not answer")
		}
	}
	w.sources(problems)
}

// sources hears which attached tables cannot be read, and why.
func (w *Warnings) sources(problems []string) {
	text := strings.Join(problems, "; ")
	if text != "" && !slices.Contains(w.Texts(), text) {
		w.Log.Warn().Msg(text)
	}
	w.set(warnSources, text)
}
