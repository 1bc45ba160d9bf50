package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"scrim/catalog"
	"scrim/engine/estimator"
)

// The key of a release is SHA-256 over an injective encoding (encoding.go) of everything that decides its answer but the data: two releases
// with one key execute the same scans with the same values, hand the same columns to the same estimators with the same losses, under the same
// policies and definitions of tables. A wrong answer would need a collision of SHA-256.
//
// What only presents an answer is no part of it: names, the order and the types of columns, expressions above the aggregates.

// keyVersion begins every key. It changes with the meaning of a stored answer.
const keyVersion = "scrim release 2"

// digestOf digests what a draft asks, before the statement's loss is divided.
func (s *statement) digestOf(d *draft) string {
	e := newEncoding(keyVersion)
	e.put(len(d.scans))
	for _, sc := range d.scans {
		e.put(sc)
	}
	e.put(len(d.aggregates))
	for _, a := range d.aggregates {
		a.encode(e)
	}
	e.put(len(d.keys))
	for _, k := range d.keys {
		e.put(k.image != nil)
		if k.image != nil {
			e.put(k.image.values)
		}
	}
	e.put(d.public, d.groups, d.maxGroups, d.bounded, d.pure, d.choice.Together)
	return e.sum()
}

// encode writes what an aggregate asks of its scan, without its text.
func (a *aggregate) encode(e *encoding) {
	e.put(a.call, a.scan, a.columns, a.grid, a.kinds, a.maxRows, a.byRow, a.all, a.pure, a.arg == nil, a.vector != nil)
	if v := a.description(); v != nil {
		e.put(*v, a.vector.grids)
	}
	e.put(a.value.Type, a.value.Nullable, len(a.parts))
	for _, m := range a.parts {
		m.encode(e)
	}
}

// releaseKey digests a complete release.
func (s *statement) releaseKey(d *draft) string {
	e, r := newEncoding(keyVersion), d.release
	e.put(d.digest, r.Loss, r.Relation, r.Exchanged, r.PerUnit, r.MaxGroups, r.Groups)
	policies := d.tables()
	slices.SortFunc(policies, func(a, b protected) int { return strings.Compare(a.name, b.name) })
	r.Shared = shared(policies)
	e.put(len(policies))
	for _, t := range policies {
		p := t.policy
		p.Defaults = decisive(p.Defaults)
		e.put(t.name, p)
	}
	e.put(len(r.Defined))
	for _, x := range r.Defined {
		e.put(x)
	}
	e.put(r.Selection != nil)
	if x := r.Selection; x != nil {
		e.put(x.Steps(), x.Loss(), x.Threshold(), x.MinPersons())
	}
	e.put(len(r.Aggregates))
	for i, a := range r.Aggregates {
		e.put(a.Estimator.Columns(), a.Estimator.Loss(), a.Estimator.MinPersons(), a.Estimator.Steps(), a.Sized, d.aggregates[i].slack)
		if x, ok := a.Estimator.(estimator.Biased); ok {
			e.put(x.Bias())
		}
	}
	return e.sum()
}

// decisive returns the defaults of a table without those that decide nothing of an answer.
func decisive(d catalog.Defaults) catalog.Defaults {
	d.ShareReplays = false
	return d
}

// shared reports whether all protected tables of a draft share their answers.
func shared(tables []protected) bool {
	for _, t := range tables {
		if !t.policy.Defaults.ShareReplays {
			return false
		}
	}
	return len(tables) > 0
}

// encoding is a digest in the making: see put.
type encoding struct{ b []byte }

func newEncoding(name string) *encoding {
	e := new(encoding)
	e.put(name)
	return e
}

func (e *encoding) sum() string {
	h := sha256.Sum256(e.b)
	return hex.EncodeToString(h[:])
}
