package aggregate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"scrim/functions"
	"scrim/planner/canon"
	"scrim/planner/encode"
	"scrim/planner/rel"
)

// Encode writes what an aggregate asks of its scan, without its text.
func (a *Aggregate) Encode(e *encode.Encoding) {
	e.Put(a.Call, a.Scan, a.Columns, a.Grid, a.Kinds, a.MaxRows, a.ByRow, a.GroupVector, a.Pure, a.Arg == nil, a.Vector != nil)
	if v := a.Description(); v != nil {
		e.Put(*v, a.Vector.Grids)
	}
	if a.Moment != NoMoment {
		e.Put(a.Moment)
	}
	if o := a.Other; o != nil {
		e.Put(o.Grid, o.Value.Type, o.Value.Nullable)
	}
	e.Put(a.Value.Type, a.Value.Nullable, len(a.Parts))
	if a.mean > 0 {
		e.Put("of", a.mean, a.count)
	}
	if a.Sums != nil {
		e.Put("sums", len(a.Sums), fmt.Sprint(a.answers))
		for _, m := range a.Sums {
			m.Encode(e)
		}
	}
	for _, m := range a.Parts {
		m.Encode(e)
	}
}

// OrderText is the text that an aggregate is ordered by.
func (s *Binder) OrderText(r *rel.Relation, a *Aggregate) string {
	text := ""
	if a.Arg != nil {
		text = canon.Text(s.ctx, a.Arg, r.Resolve)
	}
	if a.Other != nil {
		text += " " + canon.Text(s.ctx, a.Other.Arg, r.Resolve)
	}
	return fmt.Sprintf("%s %t %t %s %s", a.Call.Function.Name, a.Call.Units, a.Call.Distinct, text, OptionsText(a.Call.Options))
}

// noBound stands for a bound that is not declared; no declared one is as large.
var noBound = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))

// OptionsText is what fmt writes of options. Asked to write a bound that is missing, fmt follows
// the nil pointer and recovers, in every query.
func OptionsText(o functions.Options) string {
	if o.Lower == nil {
		o.Lower = noBound
	}
	if o.Upper == nil {
		o.Upper = noBound
	}
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), noBound.String(), "<nil>")
}

// countsRows reports whether an aggregate is a plain count of rows: COUNT(*) is COUNT(1), and COUNT
// of what no row has no value of.
func (a *Aggregate) countsRows() bool {
	return (a.Arg == nil || !a.Value.Nullable) && !a.Call.Distinct && !a.Call.Units && a.Call.Function.Counts && len(a.Call.Options.Given) == 0
}

// SameCount finds a plain count among aggregates that an equal one can share; -1 where there is
// none.
func SameCount(list []*Aggregate, a *Aggregate) int {
	if !a.countsRows() {
		return -1
	}
	return slices.IndexFunc(list, func(b *Aggregate) bool { return b.countsRows() && b.Call.Function == a.Call.Function })
}
