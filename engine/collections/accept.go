package collections

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
	"scrim/engine/mysql/inbox"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Submission is a token with the report that it brings.
type Submission = inbox.Submission

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
	col, err := look(c, name, func(col *collection) (*collection, error) { return col, col.isLocal() })
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
		return false, where, nil, refuse.New(refuse.UnknownToken, "The token was not issued for %s.", c.Name)
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

// Arrived tells what has come of a stratum ("" where there are none), in any state: the cells of
// the round that the collection is in, or was in last, and the number of reports in all rounds. It
// counts and reads no report.
func (c *Collections) Arrived(name, stratum string) (info local.Info, reports uint64, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col, err := c.find(name)
	if err != nil {
		return local.Info{}, 0, err
	}
	at, ok := col.stratum(stratum)
	if !ok {
		return local.Info{}, 0, col.noStratum(stratum)
	}
	stratum = col.strata()[at]
	info = local.Info{Protocol: col.Protocol, Round: col.Round, Stratum: stratum, Cells: []local.CellInfo{}, Warnings: []local.Warning{}}
	for key := range col.rounds {
		if key.stratum != stratum {
			continue
		}
		for _, n := range col.cells(key.round, stratum) {
			reports += n.Received
			if key.round == col.Round {
				info.Reports += n.Received
				info.Cells = append(info.Cells, local.CellInfo{Cell: n.Cell.Cell, Randomiser: n.Cell.Randomiser, Received: n.Received, Quota: n.Cell.Quota, Min: n.Cell.Min})
			}
		}
	}
	return info, reports, nil
}

// bulk is how many bytes of payloads of a cell are added to a tally at a time.
const bulk = 1 << 20

// tallyLocal adds up the reports of a round of a stratum. Where payloads are short the store counts
// equal reports, of which there are few; long ones come as they are, cell by cell in large pieces.
func (c *Collections) tallyLocal(ctx context.Context, ref store.TableRef, p *collect.Params) (*local.Tally, error) {
	t := local.NewTally(p)
	from := " FROM " + quoted(ref) + " WHERE round = $1 AND stratum = $2"
	args := []any{int64(p.Round), p.Stratum}
	if !slices.ContainsFunc(p.Cells, func(cell collect.Cell) bool { return cell.PayloadSize() > 2 }) { // few values: counting them is worth it
		return t, c.own.ScanBytes(ctx, "SELECT report, count(*)"+from+" GROUP BY report", args, func(b store.BytesChunk) error {
			return addCounted(t, p, b.Columns[0].Bytes, b.Columns[1].Ints)
		})
	}
	g := &gathered{tally: t, cells: map[uint32][]byte{}}
	err := c.own.ScanBytes(ctx, "SELECT report"+from, args, func(b store.BytesChunk) error { return g.add(b.Columns[0].Bytes[:b.Len]) })
	if err != nil {
		return nil, err
	}
	return t, g.finish()
}

func addCounted(t *local.Tally, p *collect.Params, reports [][]byte, counts []int64) error {
	for i, n := range counts {
		cell, payload, err := p.DecodeReport(reports[i])
		if err == nil {
			err = t.Add(cell, payload, uint64(n))
		}
		if err != nil {
			return fmt.Errorf("collections: a stored report does not follow the parameters: %w", err)
		}
	}
	return nil
}

// gathered collects payloads by cell.
type gathered struct {
	tally *local.Tally
	cells map[uint32][]byte
}

// add adds reports that were checked when they were accepted: their header says the cell, its
// length follows.
func (g *gathered) add(reports [][]byte) error {
	for _, r := range reports {
		if len(r) < collect.HeaderSize {
			return fmt.Errorf("collections: a stored report of %d bytes", len(r))
		}
		cell := binary.BigEndian.Uint32(r[4:])
		b := append(g.cells[cell], r[collect.HeaderSize:]...)
		if len(b) >= bulk {
			if err := g.tally.AddAll(cell, b); err != nil {
				return err
			}
			b = b[:0]
		}
		g.cells[cell] = b
	}
	return nil
}

func (g *gathered) finish() error {
	for cell, b := range g.cells {
		if err := g.tally.AddAll(cell, b); err != nil {
			return err
		}
	}
	return nil
}
