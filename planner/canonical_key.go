package planner

import (
	"slices"
	"strings"

	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/planner/encode"
	"scrim/planner/rel"
)

// The key of a release is SHA-256 over an injective encoding (package encode) of everything that decides its answer but the data: two releases
// with one key execute the same scans with the same values, hand the same columns to the same estimators with the same losses, under the same
// policies and definitions of tables. A wrong answer would need a collision of SHA-256.
//
// What only presents an answer is no part of it: names, the order and the types of columns, expressions above the aggregates.

// keyVersion begins every key. It changes with the meaning of a stored answer.
const keyVersion = "scrim release 2"

// digestOf digests what a draft asks, before the statement's loss is divided.
func (s *statement) digestOf(d *draft) string {
	e := encode.New(keyVersion)
	e.Put(len(d.scans))
	for _, sc := range d.scans {
		e.Put(sc)
	}
	e.Put(len(d.aggregates))
	for _, a := range d.aggregates {
		a.Encode(e)
	}
	e.Put(len(d.Keys))
	for _, k := range d.Keys {
		e.Put(k.Image != nil)
		if k.Image != nil {
			e.Put(k.Image.Values)
		}
	}
	e.Put(d.Public, d.Groups, d.maxGroups, d.bounded, d.pure, d.choice.Together)
	return e.Sum()
}

// releaseKey digests a complete release.
func (s *statement) releaseKey(d *draft) string {
	e, r := encode.New(keyVersion), d.release
	e.Put(d.digest, r.Loss, r.Relation, r.Exchanged, r.PerUnit, r.MaxGroups, r.Groups)
	policies := d.tables()
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
		e.Put(a.Estimator.Columns(), a.Estimator.Loss(), a.Estimator.MinPersons(), a.Estimator.Steps(), a.Sized, d.aggregates[i].Slack)
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

// shared reports whether all protected tables of a draft share their answers.
func shared(tables []rel.Protected) bool {
	for _, t := range tables {
		if !t.Policy.Defaults.ShareReplays {
			return false
		}
	}
	return len(tables) > 0
}
