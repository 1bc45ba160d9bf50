package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/planner/aggregate"
	"scrim/planner/encode"
	"scrim/planner/rel"
)

// The key of a release is SHA-256 over an injective encoding (package encode) of everything that
// decides its answer but the data: two releases with one key execute the same scans with the same
// values, hand the same columns to the same estimators with the same losses, under the same
// policies and definitions of tables. A wrong answer would need a collision of SHA-256.
//
// What only presents an answer is no part of it: names, the order and the types of columns,
// expressions above the aggregates.

// keyVersion begins every key. It changes with the meaning of a stored answer.
const keyVersion = "scrim release 2"

// DigestOf digests what an aggregation asks, before the statement's loss is divided.
func (s *Builder) DigestOf(d *Aggregation) string {
	e := encode.New(keyVersion)
	e.Put(len(d.Scans))
	for _, sc := range d.Scans {
		e.Put(sc)
	}
	e.Put(len(d.Aggregates))
	for _, a := range d.Aggregates {
		a.Encode(e)
	}
	e.Put(len(d.Keys))
	for _, k := range d.Keys {
		e.Put(k.Image != nil)
		if k.Image != nil {
			e.Put(k.Image.Shown())
		}
	}
	e.Put(d.Public, d.Groups, d.MaxGroups, d.Bounded, d.Pure, d.Choice.Together)
	if d.Other {
		e.Put("other")
	}
	if d.View != nil {
		e.Put("view", d.View.Ways, fmt.Sprint(d.View.Sets))
		if len(d.View.Ranges) > 0 {
			e.Put("ranges", fmt.Sprint(d.View.Ranges))
		}
		if x := d.View.Series; x != nil {
			e.Put("series", x.PerPerson, x.Clip)
		}
	}
	if y := d.Synthetic; y != nil {
		e.Put("synthetic", y.Ways, y.Rows, fmt.Sprint(y.Columns))
	}
	return e.Sum()
}

// ReleaseKey digests a complete release.
func (s *Builder) ReleaseKey(d *Aggregation) string {
	e, r := encode.New(keyVersion), d.Release
	e.Put(d.Digest, r.Loss, r.Relation, r.PerUnit, r.MaxGroups, r.Groups)
	for _, u := range r.Uses {
		e.Put("uses", u.Key)
	}
	policies := d.Tables()
	slices.SortFunc(policies, func(a, b rel.Protected) int { return strings.Compare(a.Name, b.Name) })
	r.Shared = shared(policies)
	e.Put(len(policies))
	for _, t := range policies {
		p := t.Policy
		p.Defaults = decisive(p.Defaults)
		e.Put(t.Name, p)
	}
	e.Put(len(r.Defined))
	for _, x := range r.Defined {
		e.Put(x)
	}
	e.Put(r.Selection != nil)
	if x := r.Selection; x != nil {
		e.Put(x.Steps(), x.Loss(), x.Threshold(), x.MinPersons())
	}
	e.Put(len(r.Aggregates))
	for i, a := range r.Aggregates {
		e.Put(a.Estimator.Columns(), a.Estimator.Loss(), a.Estimator.MinPersons(), a.Estimator.Steps(), a.Sized, a.Exchange, d.Aggregates[i].Slack)
		if x, ok := a.Estimator.(estimator.Biased); ok {
			e.Put(x.Bias())
		}
	}
	return e.Sum()
}

// decisive returns the defaults of a table without those that decide nothing of an answer.
func decisive(d catalog.Defaults) catalog.Defaults {
	d.ShareReplays = false
	return d
}

// shared reports whether all protected tables of an aggregation share their answers.
func shared(tables []rel.Protected) bool {
	if slices.ContainsFunc(tables, func(t rel.Protected) bool { return !t.Policy.Defaults.ShareReplays }) {
		return false
	}
	return len(tables) > 0
}

// Shape digests what an aggregate asks, without what it may cost: answers of one shape have errors
// that tell about each other.
func (d *Aggregation) Shape(a *aggregate.Aggregate) string {
	h := sha256.New()
	sc := d.Scans[a.Scan]
	fmt.Fprintf(h, "%q %v %v %v %v %v;", sc.SQL, sc.Types, sc.Rows, sc.Units, sc.Adds, sc.Kept)
	for _, x := range sc.Args {
		fmt.Fprintf(h, "%T %q,", x, fmt.Sprint(x))
	}
	o := a.Call.Options
	o.Epsilon, o.Rho, o.Pilot, o.Given = 0, 0, 0, nil
	if a.Call.Target() > 0 {
		o.Error = 0
	}
	fmt.Fprintf(h, "%q %s %v %v %v %d %v %v %v;", a.Call.Function.Name, aggregate.OptionsText(o), a.Call.Fractions, a.Columns, a.Grid.Grid, a.MaxRows, a.Call.Units, a.Call.Distinct, a.Pure)
	if a.Call.Owners != functions.OneOwner {
		fmt.Fprintf(h, "%d;", a.Call.Owners)
	}
	if c := a.Call.Constant; c != "" {
		fmt.Fprintf(h, "%q;", c)
	}
	if o := a.Other; o != nil {
		fmt.Fprintf(h, "%v;", o.Grid.Grid)
	}
	for _, k := range d.Keys {
		fmt.Fprintf(h, "%q", k.Name)
	}
	fmt.Fprintf(h, "%d %d", d.Groups, d.MaxGroups)
	return hex.EncodeToString(h.Sum(nil))
}
