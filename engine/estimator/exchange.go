package estimator

// Exchanging is an Estimator that knows what an exchange costs it where it is built for AddRemove.
//
// An exchange is one removal and one addition, so group privacy bounds its ρ by four times the
// loss ([BS16] Proposition 27), whatever the mechanism is. Where the person is present on both
// sides many steps cost less: a number of persons does not move at all, and a count of rows, or a
// sum of numbers of one sign, no further than when the person comes or goes.
type Exchanging interface {
	Estimator
	// Exchange is the ρ of exchanging a person who is present on both sides, in terms of the ρ
	// that Loss has for adding or removing one. It follows from public facts other than the loss,
	// and is for Gaussian steps alone: a pure release has an ε, which an exchange at most doubles.
	Exchange() float64
}

// ExchangeParts is what ExchangeCost counts in.
const ExchangeParts = 16

// ExchangeCost is the loss of an estimator for AddRemove over several groups where one person is
// exchanged, in parts of 1/ExchangeParts, for each group that a person may be in. Let the old rows
// be present in at most L groups, and the new ones, too; m of these be the same. There the exchange
// costs x·ρ each; in the others the person only leaves, or only enters, which costs ρ each:
//
//	m·x·ρ + 2(L−m)·ρ ≤ L·max(x, 2)·ρ
//
// as the left side is linear in m. x is Exchange, or 4, and the result max(x, 2), rounded up. Slack
// is that of two runs at most, which the result covers.
func ExchangeCost(e Estimator) int {
	x := 4.0
	if e, ok := e.(Exchanging); ok && all(e.Steps(), gaussian) {
		x = min(x, max(2, e.Exchange()))
	}
	parts := int(x * ExchangeParts)
	if float64(parts) < x*ExchangeParts {
		parts++
	}
	return parts
}
