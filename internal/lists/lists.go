// Package lists makes lists of others.
package lists

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
