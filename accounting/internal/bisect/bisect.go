// Package bisect searches by halves.
package bisect

// Largest returns the largest x in [lo, hi) that fits, where lo does and hi does not, and with x
// all below it fit.
func Largest[T ~int | ~uint64](lo, hi T, fits func(T) bool) T {
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
