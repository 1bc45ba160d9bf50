package accounting

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"scrim/accounting/budget"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// Export writes the entries that f chooses to w, one JSON object a line. It tells progress, which
// may be nil, how many entries are written, and of how many at most.
func (l *Ledger) Export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64)) error {
	return l.export(ctx, w, f, progress, func(b []byte, e *Entry) []byte { return append(e.appendJSON(b), '\n') })
}

// lines are entries as text.
type lines struct {
	text []byte
	ends []int // of each entry
	page []Entry
	err  error
}

// export writes the text of each entry that f chooses. Some goroutines read and encode a stretch of
// the entries each; one after the other is then written.
func (l *Ledger) export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64), encode func([]byte, *Entry) []byte) error {
	if f.Limit < 0 {
		return invalid.New("limit: want at least 0, have %d", f.Limit)
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if err := l.searchable(ctx); err != nil {
		return err
	}
	total, left, done := l.atMost(&f), f.Limit, 0
	left = cmp.Or(left, math.MaxInt)
	parts := make([]lines, runtime.GOMAXPROCS(0))
	err := l.candidates(ctx, &f, readChunk*len(parts), func(ids []uint32) (bool, error) {
		l.encode(parts, ids, &f, encode)
		for i := range parts {
			n, err := parts[i].write(w, left)
			if err != nil {
				return false, err
			}
			left, done = left-n, done+n
		}
		progress(int64(done), total)
		return left > 0, nil
	})
	if err == nil {
		progress(int64(done), int64(done))
	}
	return err
}

// encode reads the records and encodes those that match, a stretch of them in each part.
func (l *Ledger) encode(parts []lines, ids []uint32, f *Filter, encode func([]byte, *Entry) []byte) {
	var g errgroup.Group
	for i := range parts {
		p, mine := &parts[i], ids[len(ids)*i/len(parts):len(ids)*(i+1)/len(parts)]
		g.Go(func() error {
			p.text, p.ends = p.text[:0], p.ends[:0]
			if p.page, p.err = l.read(p.page[:0], mine, f); p.err != nil {
				return nil
			}
			for j := range p.page {
				p.text = encode(p.text, &p.page[j])
				p.ends = append(p.ends, len(p.text))
			}
			return nil
		})
	}
	_ = g.Wait()
}

// write writes at most n entries and says how many it wrote.
func (p *lines) write(w io.Writer, n int) (int, error) {
	n = min(n, len(p.ends))
	if p.err != nil || n == 0 {
		return 0, p.err
	}
	_, err := w.Write(p.text[:p.ends[n-1]])
	return n, err
}

// atMost returns how many entries may match f, and no fewer than do now.
func (l *Ledger) atMost(f *Filter) int64 {
	l.reading.RLock()
	defer l.reading.RUnlock()
	n := int64(choose(l.index, f).ids.GetCardinality())
	if f.Limit > 0 {
		n = min(n, int64(f.Limit))
	}
	return n
}

// csvHeader names the columns of ExportCSV.
var csvHeader = []string{
	"id", "at", "kind", "principal", "roles", "account_type", "account", "table", "rho", "pure_epsilon", "delta_event", "delta_tv",
	"remaining_all", "remaining_own", "remaining_all_rho", "remaining_own_rho", "outcome", "replay_of", "digest", "mechanisms",
	"budget_principal", "epsilon", "budget_rho", "delta", "window", "reason", "statement", "renyi_order", "remark", "accounting",
	"first_day", "last_day", "counts_after",
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
	set("counts_after", c.CountsAfter())
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
	b = jsonField(b, "counts_after", c.CountsAfter())
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
