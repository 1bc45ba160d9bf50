package accounting

import (
	"errors"
	"strings"
)

// holder is who spends on what: a principal, or All, on one account.
type holder struct {
	account   string
	entity    bool
	principal string
}

// counter is a holder's spending of one day: the unit in which spending is kept, so that changing a
// budget's window or limit can refill nothing.
type counter struct {
	holder
	day day
}

// spending is what one holder has spent.
type spending struct {
	days  map[day]tally // ever: what the file's counters hold
	ever  tally
	fresh map[day]tally // since the last reset; nil: there was none
	total tally         // since the last reset
}

// since returns the sum over the days from first to last.
func (s *spending) since(first, last day) tally {
	if s == nil {
		return tally{}
	}
	if first == 0 {
		return s.total
	}
	var t tally
	days := s.days
	if s.fresh != nil {
		days = s.fresh
	}
	for d := first; d <= last; d++ {
		t = t.add(days[d])
	}
	return t
}

// state is everything that the records determine. It changes only by apply.
type state struct {
	lastID   uint64
	lastHash sum
	lastDay  day // never goes back
	spent    map[holder]*spending
	budgets  map[holder]*Budget
	outcomes []Outcome // by record number

	dirty map[counter]struct{} // changed since the last batch was taken; nil while opening
}

func newState(first sum) *state {
	return &state{
		lastHash: first,
		spent:    map[holder]*spending{},
		budgets:  map[holder]*Budget{},
		outcomes: make([]Outcome, 1),
	}
}

// apply books record number lastID+1, whose chain hash is h. It refuses, and changes nothing, when
// the record cannot follow the ones before it.
func (s *state) apply(r *record, h sum) error {
	if r.day < s.lastDay {
		return errors.New("day goes back")
	}
	id := s.lastID + 1
	switch r.kind {
	case chargeRecord:
		for _, c := range r.charges {
			s.spend(holder{c.account, c.entity, r.principal}, r.day, c.loss)
			s.spend(holder{c.account, c.entity, All}, r.day, c.loss)
			for _, role := range r.roles {
				s.spend(holder{c.account, c.entity, RolePrefix + role}, r.day, c.loss)
			}
		}
	case outcomeRecord:
		if r.charge == 0 || r.charge >= id {
			return errors.New("outcome of a charge that does not exist")
		}
		s.outcomes[r.charge] = r.outcome
	case setBudgetRecord:
		b := r.budget
		s.budgets[b.holder()] = &b
	case resetBudgetRecord:
		if p := s.spent[r.budget.holder()]; p != nil {
			p.total, p.fresh = tally{}, map[day]tally{}
		}
	case replayRecord:
		if r.charge >= id {
			return errors.New("replay of a charge that does not exist")
		}
	case removeBudgetRecord:
		delete(s.budgets, r.budget.holder())
	}
	s.lastID, s.lastHash, s.lastDay = id, h, r.day
	s.outcomes = append(s.outcomes, Unfinished)
	return nil
}

func (b *Budget) holder() holder { return holder{b.Account, b.Entity, b.Principal} }

func (s *state) spend(h holder, d day, t tally) {
	p := s.spent[h]
	if p == nil {
		p = &spending{days: map[day]tally{}}
		s.spent[h] = p
	}
	p.days[d] = p.days[d].add(t)
	p.ever, p.total = p.ever.add(t), p.total.add(t)
	if p.fresh != nil {
		p.fresh[d] = p.fresh[d].add(t)
	}
	if s.dirty != nil {
		s.dirty[counter{h, d}] = struct{}{}
	}
}

// own returns the budget that caps a principal by itself: their own, else the default, else nil. The default is for accounts: neither
// for All nor for a role.
func (s *state) own(account string, entity bool, principal string) *Budget {
	b := s.budgets[holder{account, entity, principal}]
	if b != nil || principal == All || strings.HasPrefix(principal, RolePrefix) {
		return b
	}
	return s.budgets[holder{account, entity, Default}]
}

// spentIn returns what h has spent in the window of b that holds day today.
func (s *state) spentIn(b *Budget, h holder, today day) tally {
	return s.spent[h].since(b.Window.start(today), today)
}
