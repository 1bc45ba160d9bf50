package accounting

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/record"
)

// csvHeader names the columns of ExportCSV.
var csvHeader = []string{
	"id", "at", "kind", "principal", "roles", "account_type", "account", "table", "rho", "pure_epsilon", "delta_event", "delta_tv",
	"remaining_all", "remaining_own", "remaining_all_rho", "remaining_own_rho", "outcome", "replay_of", "digest", "mechanisms",
	"budget_principal", "epsilon", "budget_rho", "delta", "window", "reason", "statement", "renyi_order", "remark", "accounting",
	"first_day", "last_day",
}

var csvColumn = func() map[string]int {
	m := map[string]int{}
	for i, name := range csvHeader {
		m[name] = i
	}
	return m
}()

// ExportCSV writes the entries that f chooses to w as CSV with a header: a line for each account of
// a charge, one for anything else. Numbers that there are none of are empty. A spreadsheet takes
// some texts for formulas; such begin with an apostrophe.
func (l *Ledger) ExportCSV(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64)) error {
	if _, err := w.Write(appendCSV(nil, csvHeader)); err != nil {
		return err
	}
	return l.export(ctx, w, f, progress, func(b []byte, e *Entry) []byte {
		charges := e.Charges
		if len(charges) == 0 {
			charges = []EntryCharge{{}}
		}
		row := make([]string, len(csvHeader))
		for i := range charges {
			clear(row)
			e.csvRow(row, &charges[i])
			b = appendCSV(b, row)
		}
		return b
	})
}

// appendCSV appends a line of CSV as RFC 4180 has it.
func appendCSV(b []byte, row []string) []byte {
	for i, s := range row {
		if i > 0 {
			b = append(b, ',')
		}
		if !strings.ContainsAny(s, "\",\r\n") {
			b = append(b, s...)
			continue
		}
		b = append(b, '"')
		b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
		b = append(b, '"')
	}
	return append(b, '\r', '\n')
}

func (e *Entry) csvRow(row []string, c *EntryCharge) {
	set := func(name, value string) { row[csvColumn[name]] = harmless(value) }
	set("id", strconv.FormatUint(e.ID, 10))
	set("at", e.At.Format(time.RFC3339Nano))
	set("kind", string(e.Kind))
	set("principal", e.Principal)
	set("roles", strings.Join(e.Roles, " "))
	set("digest", e.Digest)
	set("mechanisms", e.Mechanisms)
	set("statement", e.Statement+e.Text)
	switch e.Kind {
	case ChargeEntry:
		set("outcome", e.Outcome.String())
		set("remark", e.Remark)
		e.csvCharge(set, c)
	case ReplayEntry:
		set("replay_of", strconv.FormatUint(e.ReplayOf, 10))
		set("account", strings.Join(e.Tables, " "))
	case NoteEntry:
		set("outcome", e.NoteKind)
	default:
		b := e.Budget
		set("account_type", accountType(b.Entity))
		set("account", b.Account)
		set("budget_principal", b.Principal)
		set("epsilon", csvNumber(float64(b.Epsilon)))
		set("budget_rho", csvNumber(b.Rho.Float()))
		set("delta", strconv.FormatFloat(float64(b.Delta), 'g', -1, 64))
		set("window", string(b.Window))
		set("renyi_order", csvNumber(b.Order))
		if e.Kind == SetBudgetEntry {
			set("accounting", b.Kind())
		}
		set("reason", b.Reason)
	}
}

func (e *Entry) csvCharge(set func(name, value string), c *EntryCharge) {
	set("account_type", accountType(c.Entity))
	set("account", c.Account)
	set("table", c.Table)
	first, last := c.Blocks.All().Dates()
	set("first_day", first)
	set("last_day", last)
	set("rho", strconv.FormatFloat(c.Loss.Rho.Float(), 'g', -1, 64))
	set("pure_epsilon", csvNumber(c.Loss.Pure.Float()))
	set("delta_event", strconv.FormatFloat(c.Loss.DeltaEvent, 'g', -1, 64))
	set("delta_tv", strconv.FormatFloat(c.Loss.DeltaTV, 'g', -1, 64))
	for scope, name := range map[string]string{budget.All: "remaining_all", record.Own: "remaining_own"} {
		for _, l := range c.Left {
			if l.Scope != scope {
				continue
			}
			if eps := float64(l.Epsilon); math.IsNaN(eps) {
				set(name+"_rho", strconv.FormatFloat(l.Rho.Float(), 'g', -1, 64))
			} else {
				set(name, strconv.FormatFloat(eps, 'g', -1, 64))
			}
		}
	}
}

func accountType(entity bool) string {
	if entity {
		return "entity"
	}
	return "table"
}

func csvNumber(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// harmless marks a text that a spreadsheet would compute. Numbers stay: they begin with a digit, as
// none here is negative.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
