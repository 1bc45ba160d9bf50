package web

import (
	"testing"
	"time"
)

func TestSessionsAreBounded(t *testing.T) {
	ended := 0
	s := Sessions[int]{Ended: func(int) { ended++ }}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := s.Begin(1, now)
	for i := range maxSessions + 10 {
		s.Begin(1, now.Add(time.Duration(i+1)*time.Second))
	}
	if len(s.open) > maxSessions {
		t.Errorf("got %d sessions, want at most %d", len(s.open), maxSessions)
	}
	if _, ok := s.Find(first, now.Add(time.Minute)); ok {
		t.Error("the oldest session was kept")
	}
	if kept := len(s.open); ended != maxSessions+11-kept {
		t.Errorf("%d sessions ended and %d are kept, of %d", ended, kept, maxSessions+11)
	}
	s.Clear()
	if len(s.open) > 0 || ended != maxSessions+11 {
		t.Errorf("after the end %d sessions are open, and %d have ended", len(s.open), ended)
	}
}
