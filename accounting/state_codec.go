package accounting

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// stateVersion is the version of what encode writes. Raise it when a field is added to state,
// spending or amount, when one means something else, or when a curve of events is computed
// otherwise: what was kept under another version is then read again from the records. A test
// compares it with the fields.
const stateVersion = 2

// errState says that an encoded state is none, or one of another version.
var errState = errors.New("the state does not decode")

// encode appends the state: what it says depends on the records alone, not on how they were added
// up.
//
//	version u8, last record u64, last day u32
//	n uvarint, n × budget: uvarint length and the payload of the record that set it
//	n uvarint, n × {account, entity u8, principal, ever, since × 4, n uvarint, n × {day u32, tally}}
//	since          first day u32, amount; zero where the window is over
//	amount         tally, curve
func (s *state) encode(b []byte) []byte {
	b = append(b, stateVersion)
	b = binary.BigEndian.AppendUint64(b, s.lastID)
	b = binary.BigEndian.AppendUint32(b, uint32(s.lastDay))
	b = binary.AppendUvarint(b, uint64(len(s.budgets)))
	for _, h := range sortedHolders(s.budgets) {
		v := s.budgets[h]
		r := record{kind: setBudgetRecord, at: v.SetAt, principal: v.SetBy, budget: *v}
		b = appendString(b, string(r.encode(nil)))
	}
	b = binary.AppendUvarint(b, uint64(len(s.spent)))
	for _, h := range sortedHolders(s.spent) {
		b = appendBool(appendString(b, h.account), h.entity)
		b = s.spent[h].encode(appendString(b, h.principal), s.lastDay)
	}
	return b
}

// decodeState is encode's inverse. A checkpoint of another version is made again from the records.
// What is sealed in a ledger with an archive is not: whoever raises the version has to go on
// decoding the one before, as far as its state means the same.
func decodeState(b []byte) (*state, error) {
	d, s := decoder{b: b}, newState()
	if d.byte() != stateVersion {
		return nil, errState
	}
	s.lastID, s.lastDay = d.uint64(), day(d.uint32())
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		r, err := decodeRecord(d.bytes())
		if err != nil || r.kind != setBudgetRecord {
			return nil, errState
		}
		s.budgets[r.budget.holder()] = &r.budget
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		h := holder{account: d.string(), entity: d.bool(), principal: d.string()}
		s.spent[h] = d.spending()
	}
	if d.bad || d.left() || s.lastDay < 0 {
		return nil, errState
	}
	s.starts = startsOf(s.lastDay)
	return s, nil
}

// covers reports whether a state says what another one says, with no lesser curve of anything that
// was spent.
func (s *state) covers(t *state) bool {
	if s.lastID != t.lastID || s.lastDay != t.lastDay || len(s.budgets) != len(t.budgets) || len(s.spent) != len(t.spent) {
		return false
	}
	for h, b := range t.budgets {
		if have := s.budgets[h]; have == nil || *have != *b {
			return false
		}
	}
	for h, p := range t.spent {
		have := s.spent[h]
		if have == nil || !have.ever.covers(&p.ever) || !slices.Equal(have.days, p.days) {
			return false
		}
		for i := range p.since {
			if have.since[i].first != p.since[i].first || !have.since[i].covers(&p.since[i].amount) {
				return false
			}
		}
	}
	return true
}

func (a *amount) covers(b *amount) bool {
	for i := range a.curve.other {
		if a.curve.other[i] < b.curve.other[i] {
			return false
		}
	}
	return a.tally == b.tally && a.curve.rho >= b.curve.rho
}

// encode appends what a holder has spent. Of windows that do not hold the last day nothing counts.
func (p *spending) encode(b []byte, last day) []byte {
	b = p.ever.append(b)
	for i := range p.since {
		w := p.since[i]
		if w.first != windows[i].start(last) {
			w.first, w.amount = 0, amount{}
		}
		b = w.amount.append(binary.BigEndian.AppendUint32(b, uint32(w.first)))
	}
	b = binary.AppendUvarint(b, uint64(len(p.days)))
	for i := range p.days {
		b = p.days[i].spent.append(binary.BigEndian.AppendUint32(b, uint32(p.days[i].day)))
	}
	return b
}

func (d *decoder) spending() *spending {
	p := &spending{ever: d.amount()}
	for i := range p.since {
		p.since[i].first, p.since[i].amount = day(d.uint32()), d.amount()
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		p.days = append(p.days, daySpent{day(d.uint32()), d.tally()})
	}
	return p
}

func (a *amount) append(b []byte) []byte { return a.curve.append(a.tally.append(b)) }

func (d *decoder) amount() amount { return amount{d.tally(), d.curve()} }

func sortedHolders[V any](m map[holder]V) []holder {
	return slices.SortedFunc(maps.Keys(m), func(a, b holder) int {
		if c := cmp.Compare(a.account, b.account); c != 0 || a.entity == b.entity {
			return cmp.Or(c, cmp.Compare(a.principal, b.principal))
		}
		if b.entity {
			return -1
		}
		return 1
	})
}
