package session

import (
	"scrim/internal/remark"
	"scrim/internal/spent"
)

// Diagnostics is what a statement does to the messages of the one before it.
type Diagnostics int

// The kinds of statements.
const (
	Clears Diagnostics = iota // all others
	Keeps                     // shows the messages: SHOW WARNINGS, SHOW ERRORS, SHOW COUNT(*) …
	// reads @@warning_count or @@error_count: clears the messages, and keeps their numbers
	Counts
)

// diagnostics are the numbers of messages that @@warning_count and @@error_count tell.
type diagnostics struct {
	keeps            bool // the running statement shows the messages
	counts           bool // the running statement or the last one reads the numbers
	errors, warnings int64
}

// Diagnose begins a statement of the kind.
func (s *Session) Diagnose(kind Diagnostics) {
	d := &s.diagnostics
	if d.keeps = kind == Keeps; d.keeps {
		return
	}
	n := len(s.Warnings())
	if !(d.counts && kind == Counts && n == 0) {
		d.warnings, d.errors = int64(n), 0
		for _, w := range s.Warnings() {
			if w.Level == "Error" {
				d.errors++
			}
		}
	}
	d.counts = kind == Counts
	s.BaseSession.ClearWarnings()
}

// ClearWarnings implements sql.Session. go-mysql-server clears the messages before most statements,
// also before one that shows them in a form of ours.
func (s *Session) ClearWarnings() {
	if !s.diagnostics.keeps {
		s.BaseSession.ClearWarnings()
	}
}

// KeepRemarks implements remark.Keeper. Unlike MySQL's messages they stay while other statements
// than private ones run, for clients that send some of their own in between.
func (s *Session) KeepRemarks(list []remark.Remark) { s.remarks = list }

// Remarks implements remark.Keeper.
func (s *Session) Remarks() []remark.Remark { return s.remarks }

// Spent implements spent.Keeper.
func (s *Session) Spent() *spent.Last { return &s.spent }
