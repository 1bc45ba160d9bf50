package engine

import (
	"slices"
	"sync"

	"scrim/engine/audit"
	"scrim/engine/witness"
)

// warnings are what an operator has to look at although the server answers. The dashboard shows them.
type warnings struct {
	mu   sync.Mutex
	list []warning
}

type warning struct{ of, text string }

// What warnings are of.
const (
	warnWitness = "witness" // it fails
	warnSecond  = "second"  // a second server appends to it
	warnHost    = "host"    // the directory was moved or copied

	warnLedger     = "ledger"     // it is damaged
	warnCheckpoint = "checkpoint" // none can be written
)

// set puts a text in the place of what was said of something; "" says nothing any more.
func (w *warnings) set(of, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(x warning) bool { return x.of == of })
	if text != "" {
		w.list = append(w.list, warning{of, text})
	}
}

func (w *warnings) texts() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.list {
		out = append(out, x.text)
	}
	return out
}

// witnessed hears how the witness is.
func (s *Server) witnessed(r witness.Report) {
	switch {
	case r.Failing != nil:
		s.log.Error().Err(r.Failing).Msg("the witness cannot be read or written: a roll-back of the data directory to this time would not be noticed")
		s.warnings.set(warnWitness, "the witness cannot be read or written; the server's log says why")
	default:
		s.warnings.set(warnWitness, "")
	}
	if r.Other != nil {
		s.elsewhere(warnSecond, "another server appends to the witness "+s.cfg.Witness+", the last time at "+r.Other.Time.Format("2006-01-02 15:04:05 MST")+
			": this data directory, or a copy of it, is served twice, and what one spends the other does not count. Stop one of them, and never start it again")
	}
}

// elsewhere tells the log, the dashboard and the audit log, once, that the data directory may be in use in a second place.
func (s *Server) elsewhere(of, text string) {
	if slices.Contains(s.warnings.texts(), text) {
		return
	}
	s.log.Error().Msg(text)
	s.warnings.set(of, text)
	s.audit.Write(audit.Record{Kind: audit.Elsewhere, Note: text})
}
