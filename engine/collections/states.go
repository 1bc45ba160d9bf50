package collections

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// change is one transition of a collection: the record as it will be, and what is written besides.
type change struct {
	record
	rounds map[roundKey]*round // that are new or changed
	keys   map[roundKey][]byte // private opening keys to keep
	forget []roundKey          // opening keys to delete
	others []func(tx) error
	after  func(col *collection)
}

// transition changes a collection's state in one transaction. f decides on what is committed; a
// refusal of its changes nothing.
func (c *Collections) transition(ctx context.Context, name string, f func(col *collection) (*change, error)) error {
	var col *collection
	var ch *change
	return c.write(ctx, func(tx tx) (err error) {
		if col, err = c.find(name); err != nil {
			return err
		}
		if ch, err = f(col); err != nil {
			return err
		}
		ch.Step++
		return tx.apply(ch)
	}, func() { ch.applied(col) })
}

// apply writes a change.
func (t tx) apply(ch *change) error {
	if err := t.save(ch.record); err != nil {
		return err
	}
	for k, r := range ch.rounds {
		if err := t.put(bucketRound, entry(ch.UUID, k.round, k.stratum), roundRecord{r.params.Canonical(), r.opened, r.closed}); err != nil {
			return err
		}
	}
	for k, key := range ch.keys {
		if err := t.s.Meta().Put(t.ctx, bucketKey, entry(ch.UUID, k.round, k.stratum), key); err != nil {
			return err
		}
	}
	if err := lists.Each(ch.forget, func(k roundKey) error { return t.delete(bucketKey, entry(ch.UUID, k.round, k.stratum)) }); err != nil {
		return err
	}
	return lists.Each(ch.others, func(f func(tx) error) error { return f(t) })
}

// applied changes what memory knows in the same way. c.mu is held.
func (ch *change) applied(col *collection) {
	col.record = ch.record
	for k, r := range ch.rounds {
		col.rounds[k] = r
	}
	if ch.after != nil {
		ch.after(col)
	}
}

// change begins a change of a collection.
func (c *collection) change() *change {
	return &change{record: c.record, rounds: map[roundKey]*round{}, keys: map[roundKey][]byte{}}
}

// Open publishes the parameters of round 1 and lets reports come. A round that is closed or was
// inconclusive it opens again.
func (c *Collections) Open(ctx context.Context, name string) error {
	return c.transition(ctx, name, func(col *collection) (*change, error) {
		switch col.State {
		case Draft:
			if err := col.design.CheckNamed(); err != nil { // declared by an older version
				return nil, err
			}
		case Between, Failed:
			return c.reopening(ctx, col)
		default:
			return nil, col.wrongState("opened")
		}
		ch := col.change()
		ch.State, ch.Round = Open, 1
		return ch, ch.publish(col, nil, c.moment())
	})
}

// publish adds the parameters of the change's round to it, for every stratum; pub is by stratum.
func (ch *change) publish(col *collection, pub map[string]collect.Published, moment string) error {
	for _, s := range col.strata() {
		k := roundKey{ch.Round, s}
		var public []byte
		if col.model() == collect.Shuffle {
			key, err := seal.Generate()
			if err != nil {
				return err
			}
			ch.keys[k], public = key.Bytes(), key.Public()
		}
		p, err := col.design.Params(ch.Round, s, pub[s], public, col.Signs)
		if err != nil {
			return err
		}
		ch.rounds[k] = &round{params: p, opened: moment}
	}
	return nil
}

// Close ends the taking of reports and stays in the round. Of a shuffle collection it says that no
// further batch is to come: the opening keys of strata whose cells all have a batch are deleted.
func (c *Collections) Close(ctx context.Context, name string) error {
	return c.transition(ctx, name, func(col *collection) (*change, error) {
		if col.State != Open {
			return nil, col.wrongState("closed")
		}
		return col.closing(c.moment()), nil
	})
}

// closing closes the round that is open, and sorts its reports.
func (c *collection) closing(moment string) *change {
	ch := c.change()
	ch.State = Between
	ch.closeRounds(c, moment)
	for _, s := range c.strata() {
		if c.model() == collect.Shuffle && c.loaded(c.Round, s) {
			ch.forget = append(ch.forget, roundKey{c.Round, s})
		}
	}
	ch.settle(c)
	return ch
}

func (ch *change) closeRounds(c *collection, moment string) {
	for _, s := range c.strata() {
		r := *c.rounds[roundKey{c.Round, s}]
		r.closed = moment
		ch.rounds[roundKey{c.Round, s}] = &r
	}
}

// settle takes the order of arrival out of the tables when a round closes.
func (ch *change) settle(c *collection) {
	if c.model() == collect.Shuffle {
		return
	}
	ch.others = append(ch.others, func(t tx) error { return t.sortReports(c) }, func(t tx) error { return t.sortSpent(c) })
	ch.after = func(c *collection) { c.unsorted = 0 }
}

// loaded tells whether every cell of a round of a stratum has a batch, or is one of those named.
func (c *collection) loaded(number int, stratum string, but ...uint32) bool {
	s, _ := c.stratum(stratum)
	return !slices.ContainsFunc(c.design.Cells(number), func(cell collect.Cell) bool {
		return !slices.Contains(but, cell.Cell) && c.received[place{uint8(number), uint16(s), cell.Cell}] == 0
	})
}

// reopening lets the round take further reports, after Close or where it was inconclusive: of
// additional people, as every token reports once. A shuffle round takes further batches, unless its
// opening key has been deleted.
func (c *Collections) reopening(ctx context.Context, col *collection) (*change, error) {
	if err := c.canOpenBatches(ctx, col); err != nil {
		return nil, err
	}
	ch := col.change()
	ch.State, ch.Reason = Open, ""
	ch.closeRounds(col, "")
	return ch, nil
}

// canOpenBatches refuses a shuffle round without a key. c.writing is held, in a transaction.
func (c *Collections) canOpenBatches(ctx context.Context, col *collection) error {
	if col.model() != collect.Shuffle {
		return nil
	}
	for _, s := range col.strata() {
		_, ok, err := c.session.Meta().Get(ctx, bucketKey, entry(col.UUID, col.Round, s))
		if err != nil {
			return err
		}
		if !ok {
			return refuse.New(refuse.CollectionState, "The key that opens messages of round %d of %s was deleted when its batches were there.", col.Round, col.Name).
				With("CALL dp_next_round('%s') goes on with them; for other people create a new collection with retry_of.", col.Name)
		}
	}
	return nil
}

// Abort ends a collection without a result. Its opening keys and the parts of unfinished bags are
// deleted.
func (c *Collections) Abort(ctx context.Context, name, reason string) error {
	return c.transition(ctx, name, func(col *collection) (*change, error) {
		if col.State == Final || col.State == Aborted {
			return nil, col.wrongState("aborted")
		}
		ch := col.change()
		ch.State, ch.Reason = Aborted, clip(reason, maxReason)
		if col.takes() {
			ch.settle(col)
		}
		ch.dropKeys(col)
		return ch, nil
	})
}

// maxReason bounds the reason of an abort, in bytes.
const maxReason = 1000

// clip cuts a text at a letter's end.
func clip(s string, most int) string {
	for len(s) > most {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// dropKeys deletes the opening keys of the round that is left, and parts of bags.
func (ch *change) dropKeys(c *collection) {
	if c.model() != collect.Shuffle {
		return
	}
	ch.forget = append(ch.forget, lists.Map(c.strata(), func(s string) roundKey { return roundKey{c.Round, s} })...)
	ch.others = append(ch.others, func(t tx) error { return t.do("DELETE FROM " + quoted(t.table(tableBag, c.record))) })
}

// wrongState refuses a transition and says what can be done instead.
func (c *collection) wrongState(what string) error {
	next := map[State][]string{
		Draft:   {"dp_open_collection('%s')", "dp_drop_collection('%s')"},
		Open:    {"dp_preview_round('%s')", "dp_close_collection('%s')", "dp_next_round('%s')", "dp_abort_collection('%s', 'reason')"},
		Between: {"dp_next_round('%s')", "dp_open_collection('%s')", "dp_abort_collection('%s', 'reason')"},
		Failed:  {"dp_open_collection('%s')", "dp_abort_collection('%s', 'reason')"},
		Final:   {"dp_drop_collection('%s')"},
		Aborted: {"dp_drop_collection('%s')"},
	}[c.State]
	calls := lists.Map(next, func(n string) string { return "CALL " + strings.ReplaceAll(n, "%s", c.Name) })
	return refuse.New(refuse.CollectionState, "The collection %s is %s and cannot be %s.", c.Name, c.where(), what).
		With("Now may follow %s.", strings.Join(calls, ", "))
}

// quotedList writes names for a person.
func quotedList(names []string) string {
	return strings.Join(lists.Map(names, func(n string) string { return "'" + n + "'" }), ", ")
}
