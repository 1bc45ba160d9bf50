package reconcile

import (
	"cmp"
	"math"
	"slices"
)

// part is one of the numbers that a total is shared among.
type part struct {
	value       float64
	weight      float64 // how far it gives way, beside the others; > 0
	nonNegative bool
}

// share returns numbers near the parts that add up to a total. They are those nearest to the parts,
// by the sum of squares over weights, of which none that may not is under 0; with digits, rounded
// so that the sum is exact. Where every part may not be under 0 and the total is, all are 0.
func share(total float64, parts []part, digits int) []float64 {
	out := project(total, parts)
	if digits < 0 {
		return out
	}
	unit := math.Pow10(digits)
	if math.Abs(total)*unit > 1<<52 || slices.ContainsFunc(out, func(x float64) bool { return math.Abs(x)*unit > 1<<52 }) {
		return out // no lattice that a DOUBLE has
	}
	left := math.RoundToEven(total * unit)
	rest := make([]int, len(out))
	for i, x := range out {
		out[i] = math.Floor(x * unit)
		left -= out[i]
		rest[i] = i
		parts[i].value = x*unit - out[i]
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(parts[b].value, parts[a].value) })
	for ; left > 0; left-- { // fewer than there are parts, but for the rounding of their sum
		out[rest[0]]++
		rest = append(rest[1:], rest[0])
	}
	for i := len(rest) - 1; left < 0; i = (i + len(rest) - 1) % len(rest) {
		if at := rest[i]; !parts[at].nonNegative || out[at] > 0 || total < 0 {
			out[at]--
			left++
		}
	}
	for i := range out {
		out[i] /= unit
	}
	return out
}

// project is share before rounding: max(0, x − λw) for the λ at which the sum is right.
func project(total float64, parts []part) []float64 {
	at := func(lambda float64) ([]float64, float64) {
		out, sum := make([]float64, len(parts)), 0.0
		for i, p := range parts {
			if out[i] = p.value - lambda*p.weight; p.nonNegative {
				out[i] = max(out[i], 0)
			}
			sum += out[i]
		}
		return out, sum
	}
	values, weights := 0.0, 0.0
	for _, p := range parts {
		values, weights = values+p.value, weights+p.weight
	}
	lambda := (values - total) / weights
	out, sum := at(lambda)
	// Numbers that are held at 0 leave the others more to give: λ grows, at most as often as there
	// are parts.
	for range parts {
		free := 0.0
		for i, p := range parts {
			if !p.nonNegative || out[i] > 0 {
				free += p.weight
			}
		}
		if free == 0 || sum <= total+1e-12*math.Abs(total) {
			break
		}
		lambda += (sum - total) / free
		out, sum = at(lambda)
	}
	return out
}

// round brings a number to digits after the point, as far as a DOUBLE has them.
func round(x float64, digits int) float64 {
	if digits < 0 {
		return x
	}
	unit := math.Pow10(digits)
	if math.Abs(x)*unit > 1<<52 {
		return x
	}
	return math.RoundToEven(x*unit) / unit
}
