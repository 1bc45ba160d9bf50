package accounting

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
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
		b = codec.AppendText(b, string(r.encode(nil)))
	}
	b = binary.AppendUvarint(b, uint64(len(s.spent)))
	for _, h := range sortedHolders(s.spent) {
		b = codec.AppendBool(codec.AppendText(b, h.account), h.entity)
		b = s.spent[h].encode(codec.AppendText(b, h.principal), s.lastDay)
	}
	return b
}

// decodeState is encode's inverse. A checkpoint of another version is made again from the records.
// What is sealed in a ledger with an archive is not: whoever raises the version has to go on
// decoding the one before, as far as its state means the same.
func decodeState(b []byte) (*state, error) {
	d, s := codec.NewDecoder(b), newState()
	if d.Byte() != stateVersion {
		return nil, errState
	}
	s.lastID, s.lastDay = d.Uint64(), budget.Date(d.Uint32())
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		r, err := decodeRecord(d.Bytes())
		if err != nil || r.kind != setBudgetRecord {
			return nil, errState
		}
		s.budgets[holderOf(&r.budget)] = &r.budget
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		h := holder{account: d.Text(), entity: d.Bool(), principal: d.Text()}
		s.spent[h] = readSpending(d)
	}
	if d.Bad || d.Left() || s.lastDay < 0 {
		return nil, errState
	}
	s.starts = budget.StartsOf(s.lastDay)
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
		if have == nil || !have.ever.Covers(&p.ever) || !slices.Equal(have.days, p.days) {
			return false
		}
		for i := range p.since {
			if have.since[i].first != p.since[i].first || !have.since[i].Covers(&p.since[i].Amount) {
				return false
			}
		}
	}
	return true
}

// encode appends what a holder has spent. Of windows that do not hold the last day nothing counts.
func (p *spending) encode(b []byte, last budget.Date) []byte {
	b = p.ever.Append(b)
	for i := range p.since {
		w := p.since[i]
		if w.first != budget.Windows[i].Start(last) {
			w.first, w.Amount = 0, privacy.Amount{}
		}
		b = w.Amount.Append(binary.BigEndian.AppendUint32(b, uint32(w.first)))
	}
	b = binary.AppendUvarint(b, uint64(len(p.days)))
	for i := range p.days {
		b = p.days[i].spent.Append(binary.BigEndian.AppendUint32(b, uint32(p.days[i].day)))
	}
	return b
}

func readSpending(d *codec.Decoder) *spending {
	p := &spending{ever: privacy.ReadAmount(d)}
	for i := range p.since {
		p.since[i].first, p.since[i].Amount = budget.Date(d.Uint32()), privacy.ReadAmount(d)
	}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		p.days = append(p.days, daySpent{budget.Date(d.Uint32()), privacy.ReadTally(d)})
	}
	return p
}

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
