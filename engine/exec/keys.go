package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/planner/plan"
)

// groupKeys says how the rows of a release's scans name their groups. What the aggregates know as
// the columns of a scan are those of its generated SQL, whose first ones are the keys where they
// are selected; what arrives has the group's number in their place.
type groupKeys struct {
	keys   int // of the statement
	named  int // columns that name the group in the generated SQL
	groups int // that are answered
}

// publicKeys are the keys of a release without a selection.
func publicKeys(r *plan.Release) groupKeys {
	if len(r.Keys) == 0 {
		return groupKeys{groups: 1}
	}
	return groupKeys{len(r.Keys), 1, r.Groups}
}

// selectedKeys are those of a release of so many selected groups.
func selectedKeys(r *plan.Release, groups int) groupKeys {
	return groupKeys{len(r.Keys), len(r.Keys), groups}
}

// numberedKeys are those of a release of so many groups, of which the last is of the keys that were
// not selected: its scans number them.
func numberedKeys(r *plan.Release, groups int) groupKeys {
	return groupKeys{len(r.Keys), 1, groups}
}

// leading is the number of columns at the front of what arrives that name the group: 0 or 1.
func (k groupKeys) leading() int { return min(k.keys, 1) }

// at returns where a column of the generated SQL behind the keys arrives.
func (k groupKeys) at(column int) int { return column - k.named + k.leading() }

func (k groupKeys) all(columns []int) []int {
	return lists.Map(columns, k.at)
}

// types are those of what arrives.
func (k groupKeys) types(of []store.ScanType) []store.ScanType {
	return append(slices.Repeat([]store.ScanType{store.ScanInt64}, k.leading()), of[k.named:]...)
}

// assign writes the group number of each row of a chunk.
func (k groupKeys) assign(ch store.Chunk, dst []int32) error {
	if k.keys == 0 {
		clear(dst)
		return nil
	}
	for i, g := range ch.Columns[0].Ints {
		if g < 0 || g >= int64(k.groups) {
			return fmt.Errorf("exec: group number out of range")
		}
		dst[i] = int32(g)
	}
	return nil
}

// keyValue is one part of a private key as a scan returned it.
type keyValue struct {
	Null  bool
	Kind  store.ScanType
	Int   int64
	Float float64
	Text  string
}

// keyOf copies the key in the first columns of a row.
func keyOf(ch store.Chunk, parts, row int) []keyValue {
	out := make([]keyValue, parts)
	for c := range out {
		v := &ch.Columns[c]
		switch {
		case v.Null != nil && v.Null[row]:
			out[c] = keyValue{Null: true}
		case v.Ints != nil:
			out[c] = keyValue{Kind: store.ScanInt64, Int: v.Ints[row]}
		case v.Floats != nil:
			out[c] = keyValue{Kind: store.ScanFloat64, Float: v.Floats[row]}
		default:
			out[c] = keyValue{Kind: store.ScanText, Text: strings.Clone(v.Texts[row])}
		}
	}
	return out
}

// compareKeys orders keys part by part, NULL first.
func compareKeys(x, y []keyValue) int {
	for c := range x {
		p, q := x[c], y[c]
		switch {
		case p.Null && !q.Null:
			return -1
		case q.Null && !p.Null:
			return 1
		}
		if n := cmp.Or(cmp.Compare(p.Int, q.Int), cmp.Compare(p.Float, q.Float), strings.Compare(p.Text, q.Text)); n != 0 {
			return n
		}
	}
	return 0
}

// raw is the part as planner.Key.Decode takes it.
func (k keyValue) raw() any {
	switch {
	case k.Null:
		return nil
	case k.Kind == store.ScanInt64:
		return k.Int
	case k.Kind == store.ScanFloat64:
		return k.Float
	default:
		return k.Text
	}
}
