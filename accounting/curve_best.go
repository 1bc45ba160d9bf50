package accounting

// Conversion names the way in which a loss was turned into (ε, δ).
type Conversion string

// The conversions. All hold; the least ε is shown.
const (
	ByZCDP  Conversion = "zcdp"  // of the sum of ρ
	ByPure  Conversion = "pure"  // the sum of pure ε
	ByRenyi Conversion = "renyi" // of the sum of the Rényi divergences of the events
	BySum   Conversion = "sum"   // the sums of ε and of δ
)

// BestEpsilon returns the least ε for which one of the conversions gives (ε, δ)-DP of what was spent, and which one: l is the sum of the losses, c that of the curves
// of their events. It is rounded up, and +Inf where no ε will do.
func BestEpsilon(l Loss, c Curve, delta Delta) (Epsilon, Conversion) {
	if eps := EpsilonOf(l, delta); l.Pure > 0 && eps >= l.Pure.epsilon() {
		return eps, ByPure
	}
	return EpsilonOf(l, delta), ByZCDP
}
