package accounting

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Replay says that a stored answer was given again.
type Replay struct {
	Key                          []byte // of the answer
	Principal, Statement, Digest string // who got it, and the redacted statement that asked
	Owner                        string // the principal that the answer was released to
	Accounts                     []string
	Charge                       uint64 // the record of the charge that paid for it; 0: not known
}

// replayHour is the time in which the replays of one answer to one principal share an entry.
const replayHour = time.Hour

// use is what is remembered of an answer's replays: of all, and of those to the principal that it
// was released to.
type use struct {
	all, own Uses
	recent   bool // since it was last passed over by eviction
}

// replayLog remembers which replays the current hour has recorded.
type replayLog struct {
	hour int64
	seen map[sum]bool
}

// Reused counts a replay. The first of an answer to a principal in an hour of the clock writes an
// entry that names the charge which paid (Replayed); the others only count. So a dashboard that
// asks every second for a year writes 8,760 entries, not 31 million, and the ledger still tells who
// saw which answer in which hour. Counts are lost at a restart, entries are not. It does not wait
// and does not fail.
func (l *Ledger) Reused(r Replay) {
	now := l.now()
	l.answers.mu.Lock()
	u := l.answers.uses[string(r.Key)]
	if u == nil {
		u = new(use)
		if l.answers.uses == nil {
			l.answers.uses = map[string]*use{}
		}
		l.answers.uses[string(r.Key)] = u
	}
	u.all, u.recent = Uses{u.all.Hits + 1, now.UTC()}, true
	if r.Principal == r.Owner {
		u.own = Uses{u.own.Hits + 1, now.UTC()}
	}
	first := l.answers.log.first(now, r.Principal, r.Key)
	l.answers.mu.Unlock()
	if first {
		l.Replayed(r.Principal, r.Statement, r.Digest, r.Charge, r.Accounts)
	}
}

// first reports whether a replay is the first of its hour, and remembers it.
func (g *replayLog) first(now time.Time, principal string, key []byte) bool {
	if hour := now.UnixNano() / int64(replayHour); hour != g.hour || g.seen == nil {
		g.hour, g.seen = hour, map[sum]bool{}
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(len(principal)))
	id := sha256.Sum256(append(append(b, principal...), key...))
	if g.seen[id] {
		return false
	}
	g.seen[id] = true
	return true
}

// used tells of an answer's replays.
func (a *answerStore) used(key string) (all, own Uses) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u := a.uses[key]; u != nil {
		return u.all, u.own
	}
	return Uses{}, Uses{}
}

// spared reports whether an answer was used since eviction last came to it, and forgets that.
func (a *answerStore) spared(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.uses[key]
	if u == nil || !u.recent {
		return false
	}
	u.recent = false
	return true
}
