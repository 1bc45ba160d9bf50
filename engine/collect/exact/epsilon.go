package exact

import (
	"fmt"
	"strings"
)

// Epsilon is the pure-DP parameter of a report in ten-thousandths: 5000 is ε = 0.5. The neighbour
// relation exchanges one contributor's value.
type Epsilon uint32

// The range of Epsilon.
const (
	MinEpsilon Epsilon = 500    // 0.05
	MaxEpsilon Epsilon = 80_000 // 8

	epsilonUnit   = 10_000
	epsilonDigits = 4
)

// ParseEpsilon reads a decimal with at most four digits after the point, in [0.05, 8]: digits, or
// digits, a point and digits. Signs, exponents and spaces are refused.
func ParseEpsilon(s string) (Epsilon, error) {
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) {
		return 0, fmt.Errorf("exact: epsilon %.20q is not a decimal such as 0.5", s)
	}
	if len(fraction) > epsilonDigits {
		return 0, fmt.Errorf("exact: epsilon %.20s has more than %d digits after the point", s, epsilonDigits)
	}
	n := Epsilon(0)
	for _, d := range whole + fraction + strings.Repeat("0", epsilonDigits-len(fraction)) {
		if n = 10*n + Epsilon(d-'0'); n > MaxEpsilon {
			break // before it overflows
		}
	}
	return n, n.Check()
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Check returns an error if ε is outside [0.05, 8].
func (e Epsilon) Check() error {
	if e < MinEpsilon || e > MaxEpsilon {
		return fmt.Errorf("exact: want epsilon from %v to %v, have %v", MinEpsilon, MaxEpsilon, e)
	}
	return nil
}

// String returns the shortest decimal that is ε: "1", "0.5", "0.0501".
func (e Epsilon) String() string {
	s := fmt.Sprintf("%d.%04d", e/epsilonUnit, e%epsilonUnit)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Float returns the float next to ε.
func (e Epsilon) Float() float64 { return float64(e) / epsilonUnit }

// MarshalText implements encoding.TextMarshaler: String, or an error outside the range.
func (e Epsilon) MarshalText() ([]byte, error) { return []byte(e.String()), e.Check() }

// UnmarshalText implements encoding.TextUnmarshaler. Only what String returns is accepted, so that
// one ε has one text and one fingerprint.
func (e *Epsilon) UnmarshalText(text []byte) error {
	parsed, err := ParseEpsilon(string(text))
	if err != nil {
		return err
	}
	if parsed.String() != string(text) {
		return fmt.Errorf("exact: want epsilon %v, have %s", parsed, text)
	}
	*e = parsed
	return nil
}
