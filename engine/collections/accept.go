package collections

import (
	"context"
	"crypto/sha256"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// Submission is a token with the report that it brings.
type Submission struct {
	Token  []byte // issue.TokenSize bytes; others were never issued
	Report []byte
}

// maxSubmissions bounds what one call brings: the rows of one statement.
const maxSubmissions = 10_000

// Accept takes the reports of a local collection, all of them or none. It returns when they are
// durable.
//
// Each token is spent by the transaction that writes its report. A token that has brought the same
// bytes before changes nothing and is no error, whatever the state of the collection: the
// acknowledgement got lost. Calls of many connections at the same time share a transaction
// (flush.go), and none fails because of another one's submissions. When ctx ends first, the reports
// may have been written; sending them again tells.
//
// Refusals: UnknownToken; SpentToken, the token has brought other bytes; ClosedToken, its round is
// not open, or its cell is another one; MalformedReport; CollectionState for a collection that has
// never been opened, was aborted, or is of the shuffle model.
func (c *Collections) Accept(ctx context.Context, name string, list []Submission) error {
	if len(list) > maxSubmissions {
		return refuse.New(refuse.MalformedReport, "%d reports are too many for one statement.", len(list)).With("Send at most %d.", maxSubmissions)
	}
	c.mu.RLock()
	col, err := c.find(name)
	if err == nil {
		err = col.isLocal()
	}
	c.mu.RUnlock()
	if err != nil {
		return err
	}
	r := &request{col: col, done: make(chan error, 1)}
	for _, s := range list {
		sub, err := c.check(col, s)
		if err != nil {
			return err
		}
		if sub.report != nil {
			r.list = append(r.list, sub)
		}
	}
	if len(r.list) == 0 {
		return nil
	}
	return c.flusher.submit(ctx, r)
}

// isLocal refuses a collection whose reports do not come to the server directly. c.mu is held.
func (c *collection) isLocal() error {
	if c.model() == collect.Shuffle {
		return refuse.New(refuse.CollectionState, "Reports of %s go to its shuffler.", c.Name).
			With("Send the bundle with scrim randomize --shuffler, or with the contributor's library.")
	}
	return nil
}

// submission is a submission that was checked. It holds the secret no more.
type submission struct {
	hash   [32]byte // of the token
	digest [32]byte // of token and report
	place  place
	report []byte // nil: it has been here before
}

// check checks a submission against what is known now, before it waits for a flush. The secret goes
// no further.
func (c *Collections) check(col *collection, s Submission) (submission, error) {
	out := submission{hash: sha256.Sum256(s.Token)}
	h := sha256.New()
	h.Write(s.Token)
	h.Write(s.Report)
	h.Sum(out.digest[:0])

	again, where, p, err := c.admitNow(col, out)
	if err != nil || again {
		return out, err
	}
	cell, _, err := p.DecodeReport(s.Report)
	if err != nil {
		return out, err
	}
	if cell != where.cell {
		return out, refuse.New(refuse.ClosedToken, "The token is of cell %d, and the report of cell %d.", where.cell, cell).
			With("Make the report for the cell that the token was issued for.")
	}
	out.place, out.report = where, s.Report
	return out, nil
}

// admitNow is admit for who holds no lock. Tokens of a collection that has just ended were put away
// and are read again.
func (c *Collections) admitNow(col *collection, s submission) (again bool, where place, p *collect.Params, err error) {
	c.mu.RLock()
	if col.tokens == nil {
		c.mu.RUnlock()
		c.writing.Lock()
		_, err = c.index(context.Background(), col)
		c.mu.RLock()
		c.writing.Unlock()
	}
	defer c.mu.RUnlock()
	if err != nil {
		return false, where, nil, err
	}
	return col.admit(s)
}

// admit tells whether a submission has been here before, or else where its token reports, by which
// parameters, if it may do so now. The tokens are there; c.mu or c.writing is held.
func (c *collection) admit(s submission) (again bool, where place, p *collect.Params, err error) {
	t := c.tokens.find(keyOf(s.hash[:]))
	switch {
	case t == nil:
		return false, where, nil, unknownToken(c)
	case !t.free() && t.report == keyOf(s.digest[:]):
		return true, where, nil, nil
	case !t.free():
		return false, where, nil, spentToken()
	}
	if c.State == Draft || c.State == Aborted {
		return false, where, nil, refuse.New(refuse.CollectionState, "The collection %s is %s and takes no reports.", c.Name, c.where())
	}
	if c.State != Open || c.Round != int(t.place.round) {
		return false, where, nil, c.closedToken(t.place)
	}
	r := c.rounds[roundKey{c.Round, c.strata()[t.place.stratum]}]
	return false, t.place, r.params, nil
}

func unknownToken(c *collection) error {
	return refuse.New(refuse.UnknownToken, "The token was not issued for %s.", c.Name)
}

// closedToken says why a free token cannot report now.
func (c *collection) closedToken(p place) error {
	if int(p.round) > c.Round {
		return refuse.New(refuse.ClosedToken, "The token is of round %d, which has not begun: %s is %s.", p.round, c.Name, c.where())
	}
	return refuse.New(refuse.ClosedToken, "The token is of round %d, which is closed: %s is %s.", p.round, c.Name, c.where()).
		With("It can report if the round is opened again; otherwise nothing is to be sent.")
}

func spentToken() error {
	return refuse.New(refuse.SpentToken, "The token has brought another report already.")
}
