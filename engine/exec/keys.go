package exec

import (
	"fmt"
	"sort"
	"strings"

	"scrim/engine/store"
	"scrim/planner"
)

// assigner numbers the groups of a release's scans. Public keys arrive as numbers from the store;
// private ones are numbered here in order of arrival, and only keys that selection keeps are ever
// shown, in sorted order.
type assigner struct {
	release *planner.Release
	index   map[string]int32 // encoded private key -> number
	keys    [][]keyValue     // number -> the key's parts
	scratch []byte
	space   *room
}

// keyOverhead is about what a private key takes beside its text: the map's entry and its parts.
const keyOverhead = 160

// keyValue is one part of a private key as a scan returned it.
type keyValue struct {
	Null  bool
	Kind  store.ScanType
	Int   int64
	Float float64
	Text  string
}

func newAssigner(r *planner.Release, space *room) *assigner {
	return &assigner{release: r, index: map[string]int32{}, space: space}
}

// leading is the number of columns at the front of every scan that name the group.
func (a *assigner) leading() int {
	switch {
	case len(a.release.Keys) == 0:
		return 0
	case a.release.Selection == nil:
		return 1
	default:
		return len(a.release.Keys)
	}
}

// groups is the number of groups numbered so far, or all of them when the keys are public.
func (a *assigner) groups() int {
	switch {
	case len(a.release.Keys) == 0:
		return 1
	case a.release.Selection == nil:
		return a.release.Groups
	default:
		return len(a.keys)
	}
}

// assign writes the group number of each row of a chunk.
func (a *assigner) assign(ch store.Chunk, dst []int32) error {
	switch {
	case len(a.release.Keys) == 0:
		return nil // all zero: one group
	case a.release.Selection == nil:
		for i, k := range ch.Columns[0].Ints {
			if k < 0 || k >= int64(a.release.Groups) {
				return fmt.Errorf("exec: group number out of range")
			}
			dst[i] = int32(k)
		}
		return nil
	}
	for i := range dst {
		a.scratch = a.scratch[:0]
		for c := range a.release.Keys {
			a.scratch = appendKey(a.scratch, &ch.Columns[c], i)
		}
		k, ok := a.index[string(a.scratch)]
		if !ok {
			if len(a.keys) == maxGroups {
				return fmt.Errorf("exec: too many groups")
			}
			if err := a.space.take(int64(2*len(a.scratch) + keyOverhead*len(a.release.Keys))); err != nil {
				return err
			}
			k = int32(len(a.keys))
			a.index[string(a.scratch)] = k
			a.keys = append(a.keys, a.parts(ch, i))
		}
		dst[i] = k
	}
	return nil
}

func (a *assigner) parts(ch store.Chunk, row int) []keyValue {
	out := make([]keyValue, len(a.release.Keys))
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

// order returns group numbers sorted by key, NULL first: never in the order of arrival, which
// depends on the rows.
func (a *assigner) order() []int {
	out := make([]int, len(a.keys))
	for i := range out {
		out[i] = i
	}
	sort.Slice(out, func(i, j int) bool { return lessKey(a.keys[out[i]], a.keys[out[j]]) })
	return out
}

func lessKey(x, y []keyValue) bool {
	for c := range x {
		p, q := x[c], y[c]
		switch {
		case p.Null != q.Null:
			return p.Null
		case p.Int != q.Int:
			return p.Int < q.Int
		case p.Float != q.Float:
			return p.Float < q.Float
		case p.Text != q.Text:
			return p.Text < q.Text
		}
	}
	return false
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
