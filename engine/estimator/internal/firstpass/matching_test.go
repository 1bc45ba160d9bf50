package firstpass

import (
	"fmt"
	"slices"
	"testing"

	"scrim/test/firstpasstest"
	"scrim/test/stattest"
)

// permutations calls visit with every order of n persons.
func permutations(n int, visit func([]int32)) {
	var extend func(order []int32)
	extend = func(order []int32) {
		if len(order) == n {
			visit(order)
			return
		}
		for v := range int32(n) {
			if !slices.Contains(order, v) {
				extend(append(order, v))
			}
		}
	}
	extend(make([]int32, 0, n))
}

// groupsOf lists the groups of an order by their members, in a fixed spelling.
func groupsOf(order []int32, size, most int) []string {
	var out []string
	for g := range min(len(order)/size, most) {
		out = append(out, fmt.Sprint(order[g*size:(g+1)*size]))
	}
	slices.Sort(out)
	return out
}

// TestOnePersonChangesOneGroup enumerates all orders of 4 to 7 persons: leaving one out by the
// coupling gives every order of the others equally often, and at most one group is gone and at most
// one is new. That holds too when no more than a public number of groups is used. A coupling that
// only closes the gap must fail: it shifts every later group.
func TestOnePersonChangesOneGroup(t *testing.T) {
	shift := func(order []int32, _ int, gone int32) []int32 {
		o := slices.DeleteFunc(slices.Clone(order), func(v int32) bool { return v == gone })
		for i, v := range o {
			if v > gone {
				o[i]--
			}
		}
		return o
	}
	for n := 4; n <= 7; n++ {
		for _, size := range []int{2, 3} {
			for _, most := range []int{1, n} {
				if err := coupled(n, size, most, firstpasstest.Couple); err != nil {
					t.Error(err)
				}
			}
			if n/size > 1 && coupled(n, size, n, shift) == nil {
				t.Errorf("n=%d, size=%d: groups that all shift passed", n, size)
			}
		}
	}
}

// coupled checks a coupling by enumeration.
func coupled(n, size, most int, couple func([]int32, int, int32) []int32) error {
	seen, total := map[string]int{}, 0
	var err error
	permutations(n, func(order []int32) {
		const gone = 1
		rest := couple(order, size, gone)
		seen[fmt.Sprint(rest)]++
		total++
		back := slices.Clone(rest)
		for i, v := range back {
			if v >= gone {
				back[i]++
			}
		}
		a, b := groupsOf(order, size, most), groupsOf(back, size, most)
		if lost, found := missing(a, b), missing(b, a); lost > 1 || found > 1 || len(b) > len(a) {
			err = fmt.Errorf("n=%d, size=%d, most=%d: %v becomes %v", n, size, most, a, b)
		}
	})
	fewer := 1
	for k := 2; k < n; k++ {
		fewer *= k
	}
	if len(seen) != fewer {
		return fmt.Errorf("n=%d, size=%d: %d of %d orders", n, size, len(seen), fewer)
	}
	for order, times := range seen {
		if times*fewer != total {
			return fmt.Errorf("n=%d, size=%d: %s comes %d times in %d", n, size, order, times, total)
		}
	}
	return err
}

// missing counts the groups of a that b does not have.
func missing(a, b []string) int {
	k := 0
	for _, g := range a {
		if !slices.Contains(b, g) {
			k++
		}
	}
	return k
}

// TestMatchingIsUniform compares how often each order is drawn.
func TestMatchingIsUniform(t *testing.T) {
	n := stattest.Noiser(t, "matching")
	index, counts := map[string]int{}, make([]int64, 24)
	permutations(4, func(o []int32) { index[fmt.Sprint(o)] = len(index) })
	for range 24000 {
		counts[index[fmt.Sprint(Match(n, nil, 4, 2, 4))]]++
	}
	even := slices.Repeat([]float64{1.0 / 24}, 24)
	stattest.Accept(t, stattest.ChiSquare("matching", counts, even))
	counts[3], counts[5] = counts[3]+400, counts[5]-400
	stattest.Reject(t, stattest.ChiSquare("uneven matching", counts, even))
}

func TestMatchingOfFewPersons(t *testing.T) {
	n := stattest.Noiser(t, "few")
	for persons := range 5 {
		for _, size := range []int{2, 4} {
			if got, want := len(Match(n, nil, persons, size, 10)), persons/size*size; got != want {
				t.Errorf("%d persons in groups of %d: %d are matched, want %d", persons, size, got, want)
			}
		}
	}
	if got := len(Match(n, nil, 100, 2, 10)); got != 20 {
		t.Errorf("at most ten pairs: %d persons are matched", got)
	}
}
