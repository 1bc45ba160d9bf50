package planner

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"scrim/functions"
	"scrim/planner/plan"
)

// clause returns the FROM and WHERE clauses, the conditions in the order of their texts.
func (s *statement) clause(r *relation) string {
	out := *r
	out.where = s.ordered(r.where)
	return out.clause()
}

// ordered returns conditions in the order of their texts, with the values in them. A statement on public tables alone keeps its own.
func (s *statement) ordered(conds []string) []string {
	if s.asWritten || len(conds) < 2 {
		return conds
	}
	type cond struct{ sql, text string }
	list := make([]cond, len(conds))
	for i, c := range conds {
		list[i] = cond{c, s.inked(c)}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].text < list[j].text })
	out := make([]string, len(conds))
	for i, c := range list {
		out[i] = c.sql
	}
	return out
}

// inked writes values in the place of their place holders.
func (s *statement) inked(sql string) string {
	args := s.binder.Args()
	return holders(sql, func(n int) string {
		if n < 1 || n > len(args) {
			return "?"
		}
		return fmt.Sprintf("%T %q", args[n-1], fmt.Sprint(args[n-1]))
	})
}

// renumbered numbers the place holders of a scan in the order of the text, so that it tells nothing of the order in which the parts of a query were
// translated.
func renumbered(sc plan.Scan) plan.Scan {
	var args []any
	given := map[int]int{}
	sc.SQL = holders(sc.SQL, func(n int) string {
		if _, ok := given[n]; !ok {
			args = append(args, sc.Args[n-1])
			given[n] = len(args)
		}
		return "$" + itoa(given[n])
	})
	sc.Args = args
	return sc
}

// holders replaces the place holders $1, $2, … of a generated statement, outside of quoted names and texts.
func holders(sql string, f func(n int) string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			end := i + 1
			for end < len(sql) && sql[end] != c {
				end++
			}
			end = min(end+1, len(sql)) // a doubled quote begins the next piece
			b.WriteString(sql[i:end])
			i = end
		case c == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9':
			n := 0
			for i++; i < len(sql) && sql[i] >= '0' && sql[i] <= '9'; i++ {
				n = n*10 + int(sql[i]-'0')
			}
			b.WriteString(f(n))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// orderKeys puts the keys of a GROUP BY in the order of their texts, and remembers how they are written.
func (s *statement) orderKeys(d *draft) {
	texts := make([]string, len(d.keys))
	places := make([]int, len(d.keys))
	for i, k := range d.keys {
		_, texts[i] = (&canon{s.ctx, d.relation.resolve}).expr(k.expr)
		places[i] = i
	}
	sort.SliceStable(places, func(i, j int) bool { return texts[places[i]] < texts[places[j]] })
	keys := make([]groupKey, len(d.keys))
	d.written = make([]int, len(d.keys))
	for at, i := range places {
		keys[at], d.written[i] = d.keys[i], at
	}
	d.keys = keys
}

// orderAggregates puts the aggregates of a draft in the order of their texts, whatever the order of the columns that show them.
func (s *statement) orderAggregates(d *draft, outputs []plan.Output) {
	texts := map[*aggregate]string{}
	for _, a := range d.aggregates {
		texts[a] = s.aggregateKey(d.relation, a)
	}
	before := slices.Clone(d.aggregates)
	sort.SliceStable(d.aggregates, func(i, j int) bool { return texts[d.aggregates[i]] < texts[d.aggregates[j]] })
	for i, o := range outputs {
		if o.Aggregate >= 0 {
			outputs[i].Aggregate = slices.Index(d.aggregates, before[o.Aggregate])
		}
	}
}

// aggregateKey is the text that an aggregate is ordered by.
func (s *statement) aggregateKey(r *relation, a *aggregate) string {
	text := ""
	if a.arg != nil {
		_, text = (&canon{s.ctx, r.resolve}).expr(a.arg)
	}
	return fmt.Sprintf("%s %t %s %s", a.call.Function.Name, a.call.Units, text, optionsText(a.call.Options))
}

// noBound stands for a bound that is not declared; no declared one is as large.
var noBound = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))

// optionsText is what fmt writes of options. Asked to write a bound that is missing, fmt follows the nil pointer and recovers, in every query.
func optionsText(o functions.Options) string {
	if o.Lower == nil {
		o.Lower = noBound
	}
	if o.Upper == nil {
		o.Upper = noBound
	}
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), noBound.String(), "<nil>")
}

// countsRows reports whether an aggregate is a plain count of rows: COUNT(*) is COUNT(1).
func (a *aggregate) countsRows() bool {
	return a.arg == nil && !a.call.Units && a.call.Function.Counts && len(a.call.Options.Given) == 0
}

// sameCount finds a plain count among aggregates that an equal one can share; -1 where there is none.
func sameCount(list []*aggregate, a *aggregate) int {
	if !a.countsRows() {
		return -1
	}
	return slices.IndexFunc(list, func(b *aggregate) bool { return b.countsRows() && b.call.Function == a.call.Function })
}
