package accounting

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"scrim/accounting/internal/chain"
)

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
	seen map[chain.Sum]bool
}

// first reports whether a replay is the first of its hour, and remembers it.
func (g *replayLog) first(now time.Time, principal string, key []byte) bool {
	if hour := now.UnixNano() / int64(replayHour); hour != g.hour || g.seen == nil {
		g.hour, g.seen = hour, map[chain.Sum]bool{}
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
