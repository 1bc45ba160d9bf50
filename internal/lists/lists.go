// Package lists makes lists of others.
package lists

import (
	"slices"
	"strings"
)

// Map returns what f makes of each element.
func Map[X, Y any](list []X, f func(X) Y) []Y {
	out := make([]Y, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Filter returns the elements for which keep is true, in their order; nil where there are none.
func Filter[X any](list []X, keep func(X) bool) (out []X) {
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// Try is Map of an f that can fail; it ends at the first error.
func Try[X, Y any](list []X, f func(X) (Y, error)) ([]Y, error) {
	out := make([]Y, len(list))
	for i, x := range list {
		var err error
		if out[i], err = f(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Each calls f for each element, up to the first error, which it returns.
func Each[X any](list []X, f func(X) error) error {
	for _, x := range list {
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the first element for which is is true; ok is false where there is none.
func Find[X any](list []X, is func(X) bool) (found X, ok bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	return found, false
}

// Words returns the set of the words of a text, which spaces separate.
func Words(text string) map[string]bool {
	return Set(strings.Fields(text))
}

// Make returns the list of f(0) … f(n−1).
func Make[Y any](n int, f func(i int) Y) []Y {
	out := make([]Y, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// Sum adds up what f makes of each element, from the first on.
func Sum[X any, N int | int64 | uint64 | float64](list []X, f func(X) N) (sum N) {
	for _, x := range list {
		sum += f(x)
	}
	return sum
}

// Set returns the set of the elements.
func Set[X comparable](list []X) map[X]bool {
	set := make(map[X]bool, len(list))
	for _, x := range list {
		set[x] = true
	}
	return set
}
