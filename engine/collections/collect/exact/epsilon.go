package exact

import (
	"fmt"
	"math/big"
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

// The integers here decide what a report gives away. Each is a monotone function of e^ε, which is
// enclosed between two rationals; where both ends give the same integer it is certain, else the
// enclosure is narrowed. That ends: e^ε is irrational for rational ε ≠ 0, so 2^62·e^ε/(e^ε + k − 1)
// is never an integer.

// MaxKary bounds the k of KaryResponse: a report is two bytes.
const MaxKary = 1 << 16

// KeepBinary returns K1 = ⌊2^62·e^ε/(e^ε + 1)⌋. Rounded down, the ratio K1/(2^62 − K1) is at most
// e^ε. It panics if ε is out of range.
func KeepBinary(eps Epsilon) uint64 { return KeepKary(eps, 2) }

// KeepKary returns Kk = ⌊2^62·e^ε/(e^ε + k − 1)⌋. Rounded down, the ratio Kk·(k−1)/(2^62 − Kk) is
// at most e^ε. It panics if ε or k is out of range, 2 <= k <= MaxKary.
func KeepKary(eps Epsilon, k uint64) uint64 {
	if eps.Check() != nil || k < 2 || k > MaxKary {
		panic("exact: k-ary response out of range")
	}
	return certified(eps, k, startBits)
}

// startBits is the precision of the first enclosure. It leaves a width of some 2^-180, so that a
// second is hardly ever needed.
const startBits = 192

// certified returns Kk from enclosures of 2^-precision and narrower.
func certified(eps Epsilon, k uint64, precision uint) uint64 {
	for ; ; precision *= 2 {
		lo, hi := expBounds(eps, precision)
		if down := keep(lo, k, precision); down == keep(hi, k, precision) {
			return down
		}
	}
}

// FlipUnary returns Q = ⌈2^62/(e^ε + 1)⌉, which is 2^62 − K1. Rounded up, the ratio (2^62 − Q)/Q is
// at most e^ε. It panics if ε is out of range.
func FlipUnary(eps Epsilon) uint64 { return one62 - KeepBinary(eps) }

// keep returns ⌊2^62·x/(x + k − 1)⌋ for x = e/2^precision. It does not fall as e grows.
func keep(e *big.Int, k uint64, precision uint) uint64 {
	den := new(big.Int).SetUint64(k - 1)
	den.Lsh(den, precision).Add(den, e)
	num := new(big.Int).Lsh(e, 62)
	return num.Quo(num, den).Uint64()
}

// expBounds returns integers lo <= 2^precision·e^ε <= hi by the Taylor series: every term of lo is
// rounded down and the rest left out; every term of hi is rounded up, and the last is counted twice
// more, as from there on each is at most half of the one before.
func expBounds(eps Epsilon, precision uint) (lo, hi *big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), precision)
	num := big.NewInt(int64(eps))
	lo, hi = new(big.Int).Set(one), new(big.Int).Set(one)
	down, up := new(big.Int).Set(one), new(big.Int).Set(one)
	for i := int64(1); ; i++ {
		den := big.NewInt(epsilonUnit * i)
		lo.Add(lo, down.Quo(down.Mul(down, num), den))
		up.Mul(up, num).Add(up, den).Sub(up, big.NewInt(1))
		hi.Add(hi, up.Quo(up, den))
		if down.Sign() == 0 && 2*int64(eps) <= epsilonUnit*(i+1) {
			return lo, hi.Add(hi, up.Lsh(up, 1))
		}
	}
}

func checkKary(eps Epsilon, k uint64) error {
	if err := eps.Check(); err != nil {
		return err
	}
	if k < 2 || k > MaxKary {
		return fmt.Errorf("exact: want k from 2 to %d, have %d", MaxKary, k)
	}
	return nil
}
