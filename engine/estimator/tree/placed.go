package tree

import "scrim/internal/refuse"

// Shares is a tree of the shares of values, which answers in fractions of the range that it is
// over: *Hier and *Haar.
type Shares interface {
	Range(a, b float64) (value, stderr float64)
	Quantile(q float64) (position float64)
	Mean() (value, stderr float64)
}

// Placed answers for the values of a tree over [Lo, Hi], in their own unit. Its mean takes each
// value for the middle of its leaf. Its numbers follow from reports, which are private already.
type Placed struct {
	Shares Shares
	Lo, Hi float64
}

// Range returns the share of values from a to b, and its standard error. What lies outside of [Lo,
// Hi] was reported at its ends. It refuses a range whose ends are not in order, or not numbers.
func (p Placed) Range(a, b float64) (value, stderr float64, err error) {
	if !(a <= b) {
		return 0, 0, refuse.New(refuse.Option, "The range from %v to %v is empty.", a, b)
	}
	value, stderr = p.Shares.Range(p.fraction(a), p.fraction(b))
	return value, stderr, nil
}

// Quantile returns the value of rank q. It refuses a q outside of [0, 1].
func (p Placed) Quantile(q float64) (float64, error) {
	if !(q >= 0 && q <= 1) {
		return 0, refuse.New(refuse.Option, "The rank has to lie from 0 to 1, not at %v.", q)
	}
	return p.Lo + (p.Hi-p.Lo)*p.Shares.Quantile(q), nil
}

// Mean returns the mean and its standard error.
func (p Placed) Mean() (value, stderr float64) {
	value, stderr = p.Shares.Mean()
	return p.Lo + (p.Hi-p.Lo)*value, (p.Hi - p.Lo) * stderr
}

func (p Placed) fraction(x float64) float64 { return min(max((x-p.Lo)/(p.Hi-p.Lo), 0), 1) }
