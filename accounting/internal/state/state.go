// Package state is what the records determine: budgets, and what each holder has spent, by window
// and by day. A state changes only by records, one by one, or many at once from a part; its
// encoding is what checkpoints and archives seal.
package state

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// State is everything about budgets and spending that the records determine. It changes only by
// apply, and while opening by the parts of load, which do the same for many records at once.
type State struct {
	LastID  uint64
	LastDay budget.Date // never goes back
	Starts  budget.Starts
	Spent   map[Holder]*Spending
	Budgets map[Holder]*budget.Budget
}

// New returns the state before the first record.
func New() *State {
	return &State{
		Starts:  budget.StartsOf(0),
		Spent:   map[Holder]*Spending{},
		Budgets: map[Holder]*budget.Budget{},
	}
}

// ErrDayBack says that a record is dated before the one it follows.
var ErrDayBack = errors.New("day goes back")

// Apply books record number lastID+1. It refuses, and changes nothing, when the record cannot
// follow the ones before it.
func (s *State) Apply(r *record.Record) error {
	id := s.LastID + 1
	if err := r.Follows(id); err != nil {
		return err
	}
	if err := s.advance(r.Day); err != nil {
		return err
	}
	s.LastID = id
	switch r.Kind {
	case record.Charge:
		for i := range r.Charges {
			c := &r.Charges[i]
			a := c.Amount()
			r.Payers(func(who string) { s.spend(Holder{c.Account, c.Entity, who}, c, a) })
		}
	case record.SetBudget, record.RemoveBudget, record.ResetBudget:
		s.Change(r)
	}
	return nil
}

// advance moves to a day, which is the same or later.
func (s *State) advance(d budget.Date) error {
	switch {
	case d < s.LastDay:
		return ErrDayBack
	case d > s.LastDay:
		s.LastDay, s.Starts = d, budget.StartsOf(d)
	}
	return nil
}

// spend books an amount on the last day.
func (s *State) spend(h Holder, c *record.Booked, a *privacy.Amount) {
	p := s.Of(h)
	p.Spend(c.Blocks, s.Starts, s.Starts.Hold(s.LastDay, c.Since), a)
	if h.ManyPay() && c.Since == 0 {
		p.Days = AddDay(p.Days, s.LastDay, &a.Tally)
	}
}

// Of returns what h has spent.
func (s *State) Of(h Holder) *Spending {
	p := s.Spent[h]
	if p == nil {
		p = &Spending{}
		s.Spent[h] = p
	}
	return p
}

// Change books a record about a budget.
func (s *State) Change(r *record.Record) {
	h := HolderOf(&r.Budget)
	switch r.Kind {
	case record.SetBudget:
		b := r.Budget
		s.Budgets[h] = &b
	case record.RemoveBudget:
		delete(s.Budgets, h)
	case record.ResetBudget:
		if p := s.Spent[h]; p != nil {
			p.reset()
		}
	}
}

// HolderOf returns whose budget b is.
func HolderOf(b *budget.Budget) Holder { return Holder{b.Account, b.Entity, b.Principal} }

// Own returns the budget that caps a principal by itself: their own, else the default, else nil.
// The default is for accounts: neither for All nor for a role.
func (s *State) Own(account string, entity bool, principal string) *budget.Budget {
	b := s.Budgets[Holder{account, entity, principal}]
	if b != nil || principal == budget.All || strings.HasPrefix(principal, budget.RolePrefix) {
		return b
	}
	return s.Budgets[Holder{account, entity, budget.Default}]
}

// Caps returns the budgets that cap what a principal with some roles spends on an account: that of
// all principals, those of the roles, and the principal's own or the default one.
func (s *State) Caps(account string, entity bool, principal string, roles []string) (list []*budget.Budget) {
	for _, who := range append([]string{budget.All}, roles...) {
		if b := s.Budgets[Holder{account, entity, who}]; b != nil {
			list = append(list, b)
		}
	}
	if b := s.Own(account, entity, principal); b != nil {
		list = append(list, b)
	}
	return list
}

// Version is the version of what Encode writes. Raise it when a field is added to state, spending
// or amount, when one means something else, or when a curve of events is computed otherwise: what
// was kept under another version is then read again from the records. A test compares it with the
// fields. A curve says itself which sums of GDP it has: a program that does not know one refuses
// the state, and what it wrote itself is read as what it meant.
const Version = 4

// everyBlock is the version of a state without charges to some blocks only, which is written as it
// was before there were any: programs of then read it, and refuse the others.
const everyBlock = 3

// noGDP is the version before that, whose states mean the same: their curves have no GDP, and read
// as ones whose GDP is not bounded.
const noGDP = 2

// ErrState says that an encoded state is none, or one of another version.
var ErrState = errors.New("the state does not decode")

// Encode appends the state: what it says depends on the records alone, not on how they were added
// up.
//
//	version u8, last record u64, last day u32
//	n uvarint, n × budget: uvarint length and the payload of the record that set it
//	n uvarint, n × {account, entity u8, principal, ever, since × 4, n uvarint, n × {day u32, tally},
//	                version 4: n uvarint, n × {first day i32, last day i32, since × 4}}
//	since          first day u32, amount; zero where the window is over
//	amount         tally, curve
func (s *State) Encode(b []byte) []byte {
	version := byte(everyBlock)
	for _, p := range s.Spent {
		if len(p.Periods) > 0 {
			version = Version
		}
	}
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, s.LastID)
	b = binary.BigEndian.AppendUint32(b, uint32(s.LastDay))
	b = binary.AppendUvarint(b, uint64(len(s.Budgets)))
	for _, h := range sortedHolders(s.Budgets) {
		v := s.Budgets[h]
		r := record.Record{Kind: record.SetBudget, At: v.SetAt, Principal: v.SetBy, Budget: *v}
		b = codec.AppendText(b, string(r.Encode(nil)))
	}
	b = binary.AppendUvarint(b, uint64(len(s.Spent)))
	for _, h := range sortedHolders(s.Spent) {
		b = codec.AppendBool(codec.AppendText(b, h.Account), h.Entity)
		b = s.Spent[h].encode(codec.AppendText(b, h.Principal), s.LastDay, version)
	}
	return b
}

// Decode is Encode's inverse. A checkpoint of another version is made again from the records.
// What is sealed in a ledger with an archive is not: whoever raises the version has to go on
// decoding the one before, as far as its state means the same.
func Decode(b []byte) (*State, error) {
	d, s := codec.NewDecoder(b), New()
	version := d.Byte()
	if version < noGDP || version > Version {
		return nil, ErrState
	}
	s.LastID, s.LastDay = d.Uint64(), budget.Date(d.Uint32())
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		r, err := record.Decode(d.Bytes())
		if err != nil || r.Kind != record.SetBudget {
			return nil, ErrState
		}
		s.Budgets[HolderOf(&r.Budget)] = &r.Budget
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		h := Holder{Account: d.Text(), Entity: d.Bool(), Principal: d.Text()}
		s.Spent[h] = readSpending(d, version)
	}
	if d.Bad || d.Left() || s.LastDay < 0 {
		return nil, ErrState
	}
	s.Starts = budget.StartsOf(s.LastDay)
	return s, nil
}

// Covers reports whether a state says what another one says, with no lesser curve of anything that
// was spent.
func (s *State) Covers(t *State) bool {
	if s.LastID != t.LastID || s.LastDay != t.LastDay || len(s.Budgets) != len(t.Budgets) || len(s.Spent) != len(t.Spent) {
		return false
	}
	for h, b := range t.Budgets {
		if have := s.Budgets[h]; have == nil || *have != *b {
			return false
		}
	}
	for h, p := range t.Spent {
		have := s.Spent[h]
		if have == nil || !have.Ever.Covers(&p.Ever) || !slices.Equal(have.Days, p.Days) {
			return false
		}
		if !have.Since.covers(&p.Since) || len(have.Periods) != len(p.Periods) {
			return false
		}
		for i := range p.Periods {
			if have.Periods[i].Span != p.Periods[i].Span || !have.Periods[i].Since.covers(&p.Periods[i].Since) {
				return false
			}
		}
	}
	return true
}

func (p *Since) covers(q *Since) bool {
	for i := range q {
		if p[i].First != q[i].First || !p[i].Covers(&q[i].Amount) {
			return false
		}
	}
	return true
}

// encode appends what a holder has spent.
func (p *Spending) encode(b []byte, last budget.Date, version byte) []byte {
	b = p.Since.encode(p.Ever.Append(b), last)
	b = binary.AppendUvarint(b, uint64(len(p.Days)))
	for i := range p.Days {
		b = p.Days[i].Spent.Append(binary.BigEndian.AppendUint32(b, uint32(p.Days[i].Day)))
	}
	if version < Version {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(p.Periods)))
	for i := range p.Periods {
		x := &p.Periods[i]
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, uint32(x.First)), uint32(x.Last))
		b = x.Since.encode(b, last)
	}
	return b
}

// encode appends the sums by window. Of windows that do not hold the last day nothing counts.
func (p *Since) encode(b []byte, last budget.Date) []byte {
	for i := range p {
		w := p[i]
		if w.First != budget.Windows[i].Start(last) {
			w.First, w.Amount = 0, privacy.Amount{}
		}
		b = w.Amount.Append(binary.BigEndian.AppendUint32(b, uint32(w.First)))
	}
	return b
}

func readSince(d *codec.Decoder) (p Since) {
	for i := range p {
		p[i].First, p[i].Amount = budget.Date(d.Uint32()), privacy.ReadAmount(d)
	}
	return p
}

func readSpending(d *codec.Decoder, version byte) *Spending {
	p := &Spending{Ever: privacy.ReadAmount(d), Since: readSince(d)}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		p.Days = append(p.Days, DaySpent{budget.Date(d.Uint32()), privacy.ReadTally(d)})
	}
	if version < Version {
		return p
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		on := days.Span{First: days.Day(d.Uint32()), Last: days.Day(d.Uint32())}
		last := len(p.Periods) - 1
		d.Bad = d.Bad || on.First > on.Last || last >= 0 && on.First <= p.Periods[last].Last
		p.Periods = append(p.Periods, Period{on, readSince(d)})
	}
	return p
}

func sortedHolders[V any](m map[Holder]V) []Holder {
	return slices.SortedFunc(maps.Keys(m), func(a, b Holder) int {
		if c := cmp.Compare(a.Account, b.Account); c != 0 || a.Entity == b.Entity {
			return cmp.Or(c, cmp.Compare(a.Principal, b.Principal))
		}
		if b.Entity {
			return -1
		}
		return 1
	})
}
