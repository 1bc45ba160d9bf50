package accounting

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// appendJSON appends an entry as one JSON object, without a line's end. Fields that are empty are
// left out. It exists because encoding/json takes several times as long for the same lines.
func (e *Entry) appendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), e.ID, 10)
	b = jsonField(b, "kind", string(e.Kind))
	b = e.At.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano)
	b = jsonField(append(b, '"'), "principal", e.Principal)
	b = jsonList(b, "roles", e.Roles)
	b = jsonField(b, "statement", e.Statement)
	b = jsonField(b, "digest", e.Digest)
	b = jsonField(b, "mechanisms", e.Mechanisms)
	if len(e.Charges) > 0 {
		b = append(b, `,"charges":[`...)
		for i := range e.Charges {
			b = append(e.Charges[i].appendJSON(b), ',')
		}
		b[len(b)-1] = ']'
	}
	if e.Kind == ChargeEntry {
		b = jsonField(b, "outcome", e.Outcome.String())
		b = jsonField(b, "remark", e.Remark)
	}
	if e.ReplayOf > 0 {
		b = strconv.AppendUint(append(b, `,"replay_of":`...), e.ReplayOf, 10)
	}
	b = jsonList(b, "tables", e.Tables)
	b = jsonField(b, "note", e.NoteKind)
	b = jsonField(b, "text", e.Text)
	if e.Budget.Account != "" {
		b = budgetJSON(append(b, `,"budget":`...), &e.Budget)
	}
	return append(b, '}')
}

func (c *EntryCharge) appendJSON(b []byte) []byte {
	b = jsonString(append(b, `{"account":`...), c.Account)
	if c.Entity {
		b = append(b, `,"entity":true`...)
	}
	b = jsonField(b, "table", c.Table)
	first, last := c.Blocks.All().Dates()
	b = jsonField(jsonField(b, "first_day", first), "last_day", last)
	b = jsonNumber(b, "rho", c.Loss.Rho.Float())
	b = jsonNumber(b, "pure_epsilon", c.Loss.Pure.Float())
	b = jsonNumber(b, "delta_event", c.Loss.DeltaEvent)
	b = jsonNumber(b, "delta_tv", c.Loss.DeltaTV)
	if len(c.Events) > 0 {
		b = append(b, `,"events":[`...)
		for i := range c.Events {
			b = append(eventJSON(b, &c.Events[i]), ',')
		}
		b[len(b)-1] = ']'
	}
	if len(c.Left) > 0 {
		b = append(b, `,"remaining":[`...)
		for _, l := range c.Left {
			b = jsonString(append(b, `{"scope":`...), l.Scope)
			if eps := float64(l.Epsilon); math.IsNaN(eps) {
				b = strconv.AppendFloat(append(b, `,"rho":`...), l.Rho.Float(), 'g', -1, 64)
			} else {
				b = strconv.AppendFloat(append(b, `,"epsilon":`...), eps, 'g', -1, 64)
			}
			b = append(b, '}', ',')
		}
		b[len(b)-1] = ']'
	}
	return append(b, '}')
}

func eventJSON(b []byte, e *privacy.Event) []byte {
	b = jsonString(append(b, `{"kind":`...), e.Kind.String())
	b = jsonNumber(b, "rho", e.Rho.Float())
	b = jsonNumber(b, "epsilon", e.Epsilon.Float())
	b = jsonNumber(b, "steps", float64(e.Steps))
	b = jsonNumber(b, "delta_event", e.DeltaEvent)
	b = jsonNumber(b, "delta_tv", e.DeltaTV)
	return append(strconv.AppendUint(append(b, `,"count":`...), uint64(e.Count), 10), '}')
}

func budgetJSON(b []byte, x *budget.Budget) []byte {
	b = jsonString(append(b, `{"account":`...), x.Account)
	if x.Entity {
		b = append(b, `,"entity":true`...)
	}
	b = jsonField(b, "principal", x.Principal)
	b = jsonNumber(b, "epsilon", float64(x.Epsilon))
	b = jsonNumber(b, "rho", x.Rho.Float())
	b = jsonNumber(b, "delta", float64(x.Delta))
	b = jsonField(b, "window", string(x.Window))
	b = jsonNumber(b, "renyi_order", x.Order)
	if x.Gaussian {
		b = append(b, `,"gaussian":true`...)
	}
	return append(jsonField(b, "reason", x.Reason), '}')
}

func jsonField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return jsonString(append(append(append(b, ',', '"'), name...), '"', ':'), value)
}

// jsonNumber leaves out 0. The numbers of entries are finite.
func jsonNumber(b []byte, name string, v float64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendFloat(append(append(append(b, ',', '"'), name...), '"', ':'), v, 'g', -1, 64)
}

func jsonList(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(append(append(b, ',', '"'), name...), '"', ':', '[')
	for _, s := range list {
		b = append(jsonString(b, s), ',')
	}
	b[len(b)-1] = ']'
	return b
}

// jsonString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func jsonString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\':
			b = append(b, c)
			i++
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < ' ':
			b = hex.AppendEncode(append(b, `\u00`...), []byte{c})
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
		}
	}
	return append(b, '"')
}
