package release

import (
	"fmt"

	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rel"
)

// Totals finds the aggregations that sum up others of a statement: the levels of GROUP BY … WITH
// ROLLUP, and a total that is asked for beside its parts.
//
//	SELECT region, city, COUNT(*) FROM t GROUP BY region, city
//	SELECT region, COUNT(*) FROM t GROUP BY region                 sums up the first
//	SELECT COUNT(*) FROM t                                         sums up the second
//
// Both are over the same rows, with public keys, and no rows are left out to bound the groups of a
// person. The keys that are summed over have a value for every row (keys.Finder.Whole): with others
// the total is of more rows than its parts. Counts and sums of rows add up; numbers of persons,
// means and others do not. All of it follows from the query, the domains and the types of columns.
func (s *Builder) Totals(list []*Aggregation) ([]plan.Total, error) {
	if len(list) < 2 {
		return nil, nil
	}
	asked := make([]*question, len(list))
	for i, d := range list {
		if !d.Public || d.Bounded || d.Release.Selection != nil {
			continue
		}
		var err error
		if asked[i], err = s.question(d); err != nil {
			return nil, err
		}
	}
	var out []plan.Total
	taken := map[*question]bool{}
	for _, under := range asked {
		var best *plan.Total
		var of *question
		for _, q := range asked {
			if under == nil || q == nil || taken[q] || of != nil && len(q.d.Keys) <= len(of.d.Keys) {
				continue
			}
			if t, ok := q.sumsUp(under); ok {
				best, of = &t, q
			}
		}
		if best != nil {
			taken[of] = true
			out = append(out, *best)
		}
	}
	return out, nil
}

// question is what an aggregation asks of which rows, in texts that equal questions share.
type question struct {
	d      *Aggregation
	rows   string
	keys   []string
	whole  []bool // of each key: every row has one of its values
	values map[string]plan.ValueAt
}

// question goes on from the relation of an aggregation, so that its texts do not depend on where in
// the statement it stands.
func (s *Builder) question(d *Aggregation) (*question, error) {
	s.Resume(d.Mark)
	r := d.Relation
	q := &question{d: d, keys: s.keys.Texts(r, &d.Grouping), values: map[string]plan.ValueAt{}}
	written := func(item string) string {
		sc := rel.Renumbered(plan.Scan{SQL: "SELECT " + item + s.Clause(r), Args: s.Args()})
		return fmt.Sprintf("%s %q", sc.SQL, fmt.Sprintf("%#v", sc.Args))
	}
	for _, o := range r.Owners() {
		q.rows += written(o.Expr.SQL)
	}
	for _, k := range d.Keys {
		q.whole = append(q.whole, s.keys.Whole(r, k.Image))
	}
	add := func(a *aggregate.Aggregate, at plan.ValueAt) error {
		if !a.Call.Additive() {
			return nil
		}
		item := ""
		if a.Arg != nil {
			x, err := s.Lower(a.Arg, r.Resolve)
			if err != nil {
				return err
			}
			item = x.SQL
		}
		o := a.Call.Options
		o.Given, o.Epsilon, o.Rho, o.Error, o.Pilot = nil, 0, 0, 0, 0
		text := fmt.Sprintf("%q %v %v %s", a.Call.Function.Private().Name, a.Call.Function.AtLeastZero, a.Grid.Grid, aggregate.OptionsText(o))
		if item != "" {
			text += " " + written(item)
		}
		q.values[text] = at
		return nil
	}
	var err error
	for i, a := range d.Aggregates {
		if a.Vector != nil || a.SharedStatistics() {
			continue // means
		}
		if a.Parts == nil {
			err = add(a, plan.ValueAt{Aggregate: i})
		}
		for k, m := range a.Parts {
			if err == nil {
				err = add(m, plan.ValueAt{Aggregate: i, Part: k})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// sumsUp returns q as the total of another question.
func (q *question) sumsUp(under *question) (plan.Total, bool) {
	if q == under || q.rows != under.rows || len(q.keys) >= len(under.keys) {
		return plan.Total{}, false
	}
	place := map[string]int{} // of q's keys
	for i, k := range q.keys {
		place[k] = i
	}
	at := make([]int, len(under.keys)) // of a key, that of q; -1: it is summed over
	shared := 0
	for i, k := range under.keys {
		j, ok := place[k]
		if !ok {
			if at[i] = -1; !under.whole[i] {
				return plan.Total{}, false
			}
			continue
		}
		if fmt.Sprint(q.d.Keys[j].Image.Values) != fmt.Sprint(under.d.Keys[i].Image.Values) {
			return plan.Total{}, false
		}
		at[i] = j
		shared++
	}
	t := plan.Total{Of: q.d.Release, Under: under.d.Release, Groups: under.d.within(q.d, at)}
	for i := range under.d.Aggregates { // in the order of the aggregates, not of a map
		for part := range max(1, len(under.d.Aggregates[i].Parts)) {
			for text, v := range under.values {
				if of, ok := q.values[text]; ok && v == (plan.ValueAt{Aggregate: i, Part: part}) {
					t.Values = append(t.Values, plan.TotalValue{Of: of, Under: v})
				}
			}
		}
	}
	return t, shared == len(q.keys) && len(t.Values) > 0
}

// within numbers, for each public group of d, the group of another aggregation that it is a part
// of, whose key at[k] is d's key k; -1 of a group of either that has no rows.
func (d *Aggregation) within(of *Aggregation, at []int) []int {
	none := map[int]bool{}
	for row, can := range of.Release.Feasible {
		none[of.number(of.Places(row))] = !can
	}
	out := make([]int, d.Groups)
	for row := range out {
		places := d.Places(row)
		index := make([]int, len(of.Keys))
		for k, j := range at {
			if j >= 0 {
				index[j] = places[k]
			}
		}
		n := of.number(index)
		if d.Release.Feasible != nil && !d.Release.Feasible[row] || none[n] {
			n = -1
		}
		out[d.number(places)] = n
	}
	return out
}

// number is that of the group with the values of the keys at the places.
func (d *Aggregation) number(places []int) int {
	n := 0
	for k, p := range places {
		n = n*len(d.Keys[k].Image.Values) + p
	}
	return n
}
