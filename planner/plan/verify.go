package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/tree"
)

// brokenPlan is the failure of a plan that breaks an invariant: a fault of the planner, which is
// found before anything is charged or read. The client sees a fixed refusal, the log what is wrong,
// which is made of the plan alone.
type brokenPlan struct{ cause error }

// Error is for the operators' log.
func (b *brokenPlan) Error() string {
	return "planner: a private plan is not sound: " + b.cause.Error()
}

// Unwrap gives the refusal first: that is what errors.As finds.
func (b *brokenPlan) Unwrap() []error {
	return []error{refuse.New(refuse.Failed, "The query on protected data could not be started; nothing was charged."), b.cause}
}

// Verify checks the invariants of a private plan. It runs at the start of every private statement,
// before anything is charged or read.
//
//  1. The root is a Budget, the only one, and every DPAggregate of the tree has its statement and
//     one of its releases.
//  2. Every release is reached, touches a protected table and an entity, and has at least one scan.
//  3. The loss of a release is at least its estimators' losses times the groups that a unit may be
//     in, and times what an exchange of units takes under the relation, plus the loss of its key
//     selection. It has a pure ε if and only if these have, and it is their sum.
//  4. Each protected table that a release touches, and each of its entities, is charged with the
//     sum of the losses of those releases. The entities are those of all persons whom a row belongs
//     to.
//  5. Without a key selection the number of groups is the product of the keys' domains.
//  6. Groups per unit are bounded by the scans wherever a unit may be in more groups than its loss
//     is multiplied by. Where the keys follow from the unit it is in one.
//  7. The columns of an aggregate exist in its scan, one for each of the estimator's columns. Those
//     of vectors have the number and the types of their form, in a scan of their own, which is one
//     of rows where a person may have several.
//  8. Every output is a key, an aggregate or its error, or neither, and there is one for each
//     column.
//  9. An aggregate of all groups at once has a scan of its own, which names the unit and leaves
//     nobody out of a public group, with a column for each of the estimator's; it is built for the
//     release's relation and, where that is public, its number of groups. As the first scan of a
//     release whose keys are selected it says whom the selection counts.
//  10. A release has a key, which no other of the statement has, and Written lists each of the
//     group keys once.
//  11. The persons of a release are counted where an aggregate takes their number as public, and
//     only there; it is one without groups, of one protected table, under replace-one.
//  12. A key selection allows for the groups that a unit may be in, and where these may be several
//     the first scan, and no other, tells in how many a unit is counted.
//  13. Totals are of releases of the statement without a key selection, each at most once of others
//     and once under one, with fewer keys than what they sum up, and of groups and values that are
//     there.
//  14. Where keys that are not selected are a group, the first scan is for the selection alone, and
//     all others number the groups by the keys that were selected.
//  15. A release whose answer is a value of another's scans comes before it, has one row, or one
//     for each value of one public key where the scans take all of them, and is named among what
//     that uses.
func Verify(ctx *sql.Context, s *Statement, root sql.Node) error {
	b, ok := root.(*Budget)
	if !ok || b.Statement != s {
		return fmt.Errorf("invariant 1: the root is %T", root)
	}
	known := map[*Release]bool{}
	for _, r := range s.Releases {
		known[r] = false
	}
	var err error
	tree.Inspect(ctx, b.Child, func(n sql.Node) {
		switch n := n.(type) {
		case *Budget:
			err = fmt.Errorf("invariant 1: a second Budget")
		case *DPAggregate:
			if _, ok := known[n.Release]; !ok || n.Statement != s {
				err = fmt.Errorf("invariant 1: a DPAggregate of another statement")
			}
			known[n.Release] = true
			if len(n.Shown) != len(n.Exprs) || len(n.Shown) != len(n.Columns) {
				err = fmt.Errorf("invariant 8: %d columns, %d expressions, %d outputs", len(n.Shown), len(n.Exprs), len(n.Columns))
			}
			for _, c := range n.Columns {
				if c < 0 || c >= len(n.Release.Output) {
					err = fmt.Errorf("invariant 8: output %d of %d", c, len(n.Release.Output))
				}
			}
		}
	}, nil)
	if err != nil {
		return err
	}
	if err := s.verifyUses(known); err != nil {
		return err
	}
	if err := s.verifyTotals(known); err != nil {
		return err
	}
	tables, entities := map[string]privacy.Loss{}, map[string]privacy.Loss{}
	keys := map[string]bool{"": true}
	for i, r := range s.Releases {
		if keys[r.Key] {
			return fmt.Errorf("invariant 10: release %d has the key of another, or none", i)
		}
		keys[r.Key] = true
		if !known[r] {
			return fmt.Errorf("invariant 2: release %d is not in the tree", i)
		}
		if err := r.verify(); err != nil {
			return err
		}
		for _, t := range r.Tables {
			tables[t] = tables[t].Add(r.Loss)
		}
		for _, e := range r.Entities {
			entities[e] = entities[e].Add(r.Loss)
		}
	}
	if err := charged(s.Tables, tables); err != nil {
		return err
	}
	return charged(s.Entities, entities)
}

// verifyUses checks the releases whose answers are values of others, which reaches them.
func (s *Statement) verifyUses(known map[*Release]bool) error {
	for i, r := range s.Releases {
		used := map[string]*Release{}
		for _, u := range r.Uses {
			if !slices.Contains(s.Releases[:i], u) || u.Selection != nil {
				return fmt.Errorf("invariant 15: release %d uses one that does not come before it, or selects keys", i)
			}
			used[u.Asked] = u
		}
		for _, sc := range r.Scans {
			for _, x := range sc.Args {
				a, ok := x.(AnswerArg)
				if !ok {
					continue
				}
				u := used[a.Asked]
				if u == nil || a.Output >= len(u.Output) {
					return fmt.Errorf("invariant 15: release %d uses an answer that it does not name", i)
				}
				if keys := len(u.Keys); a.Each && keys != 1 || !a.Each && keys != 0 {
					return fmt.Errorf("invariant 15: release %d uses an answer with %d keys (each of its rows: %v)", i, keys, a.Each)
				}
			}
		}
	}
	for i := len(s.Releases) - 1; i >= 0; i-- {
		for _, u := range s.Releases[i].Uses {
			known[u] = known[u] || known[s.Releases[i]]
		}
	}
	return nil
}

// verify checks what concerns one release.
func (r *Release) verify() error {
	if len(r.Tables) == 0 || len(r.Entities) == 0 || len(r.Scans) == 0 || len(r.Reads) == 0 {
		return fmt.Errorf("invariant 2: %d tables, %d entities, %d scans, %d reads", len(r.Tables), len(r.Entities), len(r.Scans), len(r.Reads))
	}
	if o, ok := lists.Find(r.Owners, func(o string) bool { return !slices.Contains(r.Entities, o) }); ok {
		return fmt.Errorf("invariant 4: rows belong to persons of %s, who are not charged for", o)
	}
	need := privacy.Loss{}
	for _, a := range r.Aggregates {
		if a.Groups != nil {
			need = need.Add(a.Estimator.Loss())
			if err := r.verifyGroups(a); err != nil {
				return err
			}
			continue
		}
		if a.Exchange < r.leastExchange(a) {
			return fmt.Errorf("invariant 3: an exchange is paid for with %d/%d of the loss of %s, wants %d", a.Exchange, estimator.ExchangeParts, a.Text, r.leastExchange(a))
		}
		need = need.Add(a.Estimator.Loss().Times(r.PerUnit * a.Exchange).Over(estimator.ExchangeParts))
		if a.Vector != nil {
			if err := r.verifyVector(a); err != nil {
				return err
			}
			continue
		}
		if a.Scan < len(r.Scans) && (r.Scans[a.Scan].Rows || r.Scans[a.Scan].Units) {
			return fmt.Errorf("invariant 7: %s reads a scan of rows, or of units", a.Text)
		}
		want := len(a.Estimator.Columns())
		if a.Paired() {
			if want = 2; r.Owners != nil {
				want = min(max(len(a.Columns), 3), 4)
			}
		}
		if len(a.Columns) != want {
			return fmt.Errorf("invariant 7: %s has %d columns, wants %d", a.Text, len(a.Columns), want)
		}
		for _, c := range a.Columns {
			if a.Scan >= len(r.Scans) || c >= len(r.Scans[a.Scan].Types) || r.Scans[a.Scan].Adds && c < 2 {
				return fmt.Errorf("invariant 7: %s reads a column that is not scanned", a.Text)
			}
		}
	}
	if r.Selection != nil {
		need = need.Add(r.Selection.Loss())
	}
	if need.IsPure() && r.Loss.Pure != need.Pure || !need.IsPure() && r.Loss.IsPure() {
		return fmt.Errorf("invariant 3: the loss %v is not pure as %v is", r.Loss, need)
	}
	if r.Loss.Rho < need.Rho || r.Loss.DeltaEvent < need.DeltaEvent || r.Loss.DeltaTV < need.DeltaTV {
		return fmt.Errorf("invariant 3: the loss %v is under %v", r.Loss, need)
	}
	groups := 1
	for _, k := range r.Keys {
		groups *= len(k.Domain)
	}
	if r.Selection == nil && groups != r.Groups {
		return fmt.Errorf("invariant 5: %d groups, the domains have %d", r.Groups, groups)
	}
	if r.PerUnit < 1 || r.MaxGroups != 0 && r.MaxGroups != r.PerUnit {
		return fmt.Errorf("invariant 6: %d groups a unit, %d kept", r.PerUnit, r.MaxGroups)
	}
	if r.OneGroup && r.PerUnit != 1 {
		return fmt.Errorf("invariant 6: %d groups a unit whose keys follow from the unit", r.PerUnit)
	}
	if !permutation(r.Written, len(r.Keys)) {
		return fmt.Errorf("invariant 10: %d keys in the order %v", len(r.Keys), r.Written)
	}
	public := slices.ContainsFunc(r.Aggregates, func(a Aggregate) bool { return a.Sized })
	if public != (r.Persons != "") || public && (len(r.Keys) > 0 || len(r.Tables) != 1 || len(r.Reads) != 1 || r.Relation != estimator.ReplaceOne) {
		return fmt.Errorf("invariant 11: persons are counted by %q, their number is public (%v) in %d tables", r.Persons, public, len(r.Tables))
	}
	if r.Selection != nil && r.Selection.Most() != r.PerUnit {
		return fmt.Errorf("invariant 12: the selection is for %d groups a unit, the release for %d", r.Selection.Most(), r.PerUnit)
	}
	if r.Other && (r.Selection == nil || slices.ContainsFunc(r.Aggregates, func(a Aggregate) bool { return a.Scan == 0 })) {
		return fmt.Errorf("invariant 14: keys that are not selected are a group, and keys are not selected by a scan of their own")
	}
	for i, sc := range r.Scans {
		if r.Other && i > 0 && !strings.Contains(sc.SQL, SelectedKeys) {
			return fmt.Errorf("invariant 14: scan %d does not read the selected keys", i)
		}
		if sc.Held != (i == 0 && r.Selection != nil && r.PerUnit > 1) {
			return fmt.Errorf("invariant 12: scan %d tells in how many groups a unit is counted (%v)", i, sc.Held)
		}
	}
	for _, o := range r.Output {
		if o.Key >= len(r.Keys) || o.Aggregate >= len(r.Aggregates) || o.Key >= 0 && o.Aggregate >= 0 {
			return fmt.Errorf("invariant 8: output %+v", o)
		}
		if o.ErrorBar != functions.NoErrorBar && (o.Aggregate < 0 || o.Part >= len(r.Aggregates[o.Aggregate].ErrorBars)) {
			return fmt.Errorf("invariant 8: output %+v tells of the error of nothing", o)
		}
	}
	return nil
}

// leastExchange is the least Aggregate.Exchange of an aggregate whose groups are apart.
func (r *Release) leastExchange(a Aggregate) int {
	switch {
	case r.Relation != estimator.ReplaceOne || len(r.Keys) == 0:
		return estimator.ExchangeParts
	case a.Estimator.Loss().IsPure():
		return 2 * estimator.ExchangeParts
	}
	return estimator.ExchangeCost(a.Estimator)
}

// permutation reports whether a list has each number under n once.
func permutation(list []int, n int) bool {
	for i := range n {
		if !slices.Contains(list, i) {
			return false
		}
	}
	return len(list) == n
}

// verifyVector checks the scan of an aggregate of vectors.
func (r *Release) verifyVector(a Aggregate) error {
	if a.Scan >= len(r.Scans) || !slices.Equal(a.Estimator.Columns(), []estimator.Kind{estimator.Vector}) {
		return fmt.Errorf("invariant 7: %s is no aggregate of vectors, or has no scan", a.Text)
	}
	s := r.Scans[a.Scan]
	leading := r.leading(a.Scan)
	if s.Rows {
		leading++
	}
	n, t := 1, store.ScanVector
	switch a.Vector.Form {
	case Coordinates:
		n, t = 1+a.Vector.Dim, store.ScanInt64
	case Pairs:
		t = store.ScanInt64
	}
	if len(a.Columns) != n || len(s.Types) != leading+n || s.Rows && a.Vector.Form == Coordinates || !s.Rows && a.Vector.Form == Pairs {
		return fmt.Errorf("invariant 7: %s has %d columns of %d in a scan of rows (%v), wants %d", a.Text, len(a.Columns), len(s.Types), s.Rows, n)
	}
	for i, c := range a.Columns {
		if c != leading+i || s.Types[c] != t {
			return fmt.Errorf("invariant 7: %s reads column %d, wants %d of type %v", a.Text, c, leading+i, t)
		}
	}
	return nil
}

// verifyGroups checks the scan and the estimator of an aggregate of all groups at once.
func (r *Release) verifyGroups(a Aggregate) error {
	if a.Scan >= len(r.Scans) || len(r.Keys) == 0 || a.Vector != nil || !slices.Equal(a.Estimator.Columns(), []estimator.Kind{estimator.Vector}) {
		return fmt.Errorf("invariant 9: %s has no scan, no keys, or another estimator", a.Text)
	}
	s, leading := r.Scans[a.Scan], r.leading(a.Scan)
	if !s.Units || s.Rows || len(a.Columns) != a.Groups.Width() || len(a.Parts) != len(a.Groups.Aggregates) {
		return fmt.Errorf("invariant 9: %s has %d columns in a scan of units (%v), wants %d", a.Text, len(a.Columns), s.Units, a.Groups.Width())
	}
	if s.Kept {
		leading++
	}
	if s.Kept != (r.Selection != nil && a.Scan == 0) {
		return fmt.Errorf("invariant 9: the scan of %s is for the key selection (%v)", a.Text, s.Kept)
	}
	if c, ok := lists.Find(a.Columns, func(c int) bool { return c <= leading || c >= len(s.Types) || s.Types[c] != store.ScanInt64 }); ok {
		return fmt.Errorf("invariant 9: %s reads column %d", a.Text, c)
	}
	for _, x := range s.Args {
		if _, secret := x.(SecretArg); secret && r.Selection == nil {
			return fmt.Errorf("invariant 9: the scan of %s leaves out groups of a unit", a.Text)
		}
	}
	if a.Groups.Relation != r.Relation || r.Selection == nil && a.Groups.Groups != r.Groups {
		return fmt.Errorf("invariant 9: %s is built for %v and %d groups", a.Text, a.Groups.Relation, a.Groups.Groups)
	}
	if slices.ContainsFunc(r.Aggregates, func(b Aggregate) bool { return b.Groups == nil && b.Scan == a.Scan }) {
		return fmt.Errorf("invariant 9: %s shares its scan", a.Text)
	}
	return nil
}

// charged checks invariant 4.
func charged(charges []Charge, want map[string]privacy.Loss) error {
	if len(charges) != len(want) {
		return fmt.Errorf("invariant 4: %d charges for %d accounts", len(charges), len(want))
	}
	for _, c := range charges {
		loss, ok := want[c.Account]
		if !ok || c.Loss != loss {
			return fmt.Errorf("invariant 4: %q is charged %v, want %v (%v)", c.Account, c.Loss, loss, ok)
		}
		delete(want, c.Account)
	}
	return nil
}
