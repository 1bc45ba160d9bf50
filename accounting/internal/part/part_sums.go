package part

import (
	"bytes"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// sums is what the records of a part say of budgets and spending. Of the windows only those count
// that hold the last day of the ledger: those before are over. So the part is cut into steps where
// one of these begins, and where spending is reset.
type sums struct {
	starts      budget.Starts // of the windows that hold the last day
	first, last budget.Date
	steps       []step
	days        map[state.Holder]*dayList
	roles       map[string]*roleList      // by their encoding
	curves      map[string]*privacy.Curve // of events, by their encoding

	lastEvent []byte // whose curve is lastCurve
	lastCurve *privacy.Curve
}

// step is what is paid in a stretch, and the changes of budgets in it. A reset is the last of them,
// and ends the step.
type step struct {
	within  budget.InWindows
	reset   bool
	paid    []*paid
	spent   map[spender]*privacy.Amount // made of paid when the part is read
	changes []*record.Record
}

// spender is a holder, the blocks that are spent on, and the windows that it counts in.
type spender struct {
	state.Holder
	on days.Span
	in budget.InWindows
}

// paid is what a payer pays in a step, on some blocks, as it counts in the same windows.
type paid struct {
	by *payer
	on days.Span
	in budget.InWindows
	privacy.Amount
}

// payer is a principal with the same roles on one account, and all for whom what they pay counts.
type payer struct {
	holders []state.Holder
	days    []*dayList // of those of them that are kept by day
	step    int        // of the sums
	sums    []*paid    // by blocks, the last one that was paid for first
}

// dayList is what a holder spends by day.
type dayList struct{ days []state.DaySpent }

// roleList is a list of roles.
type roleList struct {
	number uint32 // among the part's lists
	names  []string
}

func newSums(today budget.Date) sums {
	return sums{
		starts: budget.StartsOf(today), days: map[state.Holder]*dayList{}, roles: map[string]*roleList{}, curves: map[string]*privacy.Curve{},
	}
}

// enter moves to the day of the next record.
func (s *sums) enter(d budget.Date) error {
	n := len(s.steps)
	switch {
	case d < 0:
		return record.ErrRecord
	case n == 0:
		s.first = d
	case d < s.last:
		return state.ErrDayBack
	case d == s.last && !s.steps[n-1].reset:
		return nil
	}
	s.last = d
	if in := s.starts.Hold(d, 0); n == 0 || s.steps[n-1].reset || s.steps[n-1].within != in {
		s.steps = append(s.steps, step{within: in})
	}
	return nil
}

// payer returns who pays, with the sum of the step.
func (s *sums) payer(account *party, entity bool, who *party, roles *roleList) *payer {
	payers := &account.payers[0]
	if entity {
		payers = &account.payers[1]
	}
	key := uint64(who.Number)<<32 | uint64(roles.number)
	by := (*payers)[key]
	if by == nil {
		if *payers == nil {
			*payers = map[uint64]*payer{}
		}
		by = s.newPayer(state.Holder{Account: account.Text, Entity: entity, Principal: who.Text}, roles)
		(*payers)[key] = by
	}
	if n := len(s.steps) - 1; by.step != n {
		by.step, by.sums = n, by.sums[:0]
	}
	return by
}

// sum returns what the payer pays in the step for some blocks, and since a day.
func (s *sums) sum(by *payer, on *days.Span, since budget.Date) *privacy.Amount {
	all, in := on.All(), s.starts.Hold(s.last, since)
	i := slices.IndexFunc(by.sums, func(p *paid) bool { return p.on == all && p.in == in })
	if i < 0 {
		i = len(by.sums)
		by.sums = append(by.sums, &paid{by: by, on: all, in: in})
		at := &s.steps[len(s.steps)-1]
		at.paid = append(at.paid, by.sums[i])
	}
	by.sums[0], by.sums[i] = by.sums[i], by.sums[0]
	return &by.sums[0].Amount
}

func (s *sums) newPayer(h state.Holder, roles *roleList) *payer {
	by := &payer{step: -1}
	r := record.Record{Principal: h.Principal, Roles: roles.names}
	r.Payers(func(who string) {
		h.Principal = who
		by.holders = append(by.holders, h)
		if !h.ManyPay() {
			return
		}
		if s.days[h] == nil {
			s.days[h] = &dayList{}
		}
		by.days = append(by.days, s.days[h])
	})
	return by
}

// pay takes the loss of a charge and its events, and adds them to what is paid.
func (s *sums) pay(by *payer, on *days.Span, since budget.Date, d *codec.Decoder) {
	loss, sum := privacy.ReadTally(d), s.sum(by, on, since)
	sum.Tally.Plus(&loss)
	for _, l := range by.days {
		if since == 0 {
			l.days = state.AddDay(l.days, s.last, &loss)
		}
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		sum.Curve.Plus(s.curve(d))
	}
}

// maxCurves bounds the curves that a part remembers.
const maxCurves = 1 << 12

// curve takes an event and returns its curve, which is slow to make: many are alike.
func (s *sums) curve(d *codec.Decoder) *privacy.Curve {
	encoded := privacy.SkipEvent(d)
	if len(encoded) > 0 && bytes.Equal(encoded, s.lastEvent) {
		return s.lastCurve
	}
	c := s.curves[string(encoded)]
	if c == nil {
		again := codec.NewDecoder(encoded)
		e := privacy.ReadEvent(again)
		if again.Bad {
			d.Fail()
			return &privacy.Curve{}
		}
		v := e.Curve()
		c = &v
		if len(s.curves) < maxCurves {
			s.curves[string(encoded)] = c
		}
	}
	s.lastEvent, s.lastCurve = encoded, c
	return c
}

// forgetEvent forgets the bytes of the last event, which are not the part's own.
func (s *sums) forgetEvent() { s.lastEvent, s.lastCurve = nil, nil }

// rolesOf takes the roles of a charge.
func (s *sums) rolesOf(d *codec.Decoder) *roleList {
	encoded := d.EncodedTexts()
	list := s.roles[string(encoded)]
	if list == nil {
		again := codec.NewDecoder(encoded)
		list = &roleList{uint32(len(s.roles)), again.Texts()}
		s.roles[string(encoded)] = list
	}
	return list
}

// change books a change of a budget.
func (s *sums) change(r *record.Record) {
	now := &s.steps[len(s.steps)-1]
	now.changes, now.reset = append(now.changes, r), r.Kind == record.ResetBudget
}

// fold adds up what is paid by holder.
func (s *sums) fold() {
	for i := range s.steps {
		at := &s.steps[i]
		at.spent = make(map[spender]*privacy.Amount, 2*len(at.paid))
		for _, p := range at.paid {
			for _, h := range p.by.holders {
				who := spender{h, p.on, p.in}
				if at.spent[who] == nil {
					at.spent[who] = &privacy.Amount{}
				}
				at.spent[who].Plus(&p.Amount)
			}
		}
		at.paid = nil
	}
}

// join books the sums.
func (s *sums) join(to *state.State) error {
	if len(s.steps) == 0 {
		return nil
	}
	if s.first < to.LastDay {
		return state.ErrDayBack
	}
	to.LastDay = s.last
	for i := range s.steps {
		at := &s.steps[i]
		for h, a := range at.spent {
			to.Of(h.Holder).Spend(&h.on, to.Starts, h.in, a)
		}
		for _, r := range at.changes {
			to.Change(r)
		}
	}
	for h, l := range s.days {
		p := to.Of(h)
		for i := range l.days {
			p.Days = state.AddDay(p.Days, l.days[i].Day, &l.days[i].Spent)
		}
	}
	return nil
}
