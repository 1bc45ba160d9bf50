package contribute

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Epsilon is an amount of ε in ten-thousandths: sums of what reports cost are exact.
type Epsilon uint64

const (
	epsilonUnit   = 10_000
	epsilonDigits = 4
)

// ParseEpsilon reads a decimal with at most four digits after the point, such as 2 or 0.5.
func ParseEpsilon(s string) (Epsilon, error) {
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) || len(fraction) > epsilonDigits || len(whole) > 8 {
		return 0, fmt.Errorf("contribute: epsilon %.20q is not a decimal such as 2 or 0.5, with at most %d digits after the point", s, epsilonDigits)
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", epsilonDigits-len(fraction)), 10, 64)
	return Epsilon(n), err
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// String returns the shortest decimal that is ε.
func (e Epsilon) String() string {
	s := fmt.Sprintf("%d.%04d", uint64(e)/epsilonUnit, uint64(e)%epsilonUnit)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// MarshalText implements encoding.TextMarshaler.
func (e Epsilon) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Only what String returns is accepted.
func (e *Epsilon) UnmarshalText(text []byte) error {
	parsed, err := ParseEpsilon(string(text))
	if err != nil || parsed.String() != string(text) {
		return fmt.Errorf("contribute: %.20q is not an epsilon in its shortest form", text)
	}
	*e = parsed
	return nil
}

// Delta is an amount of δ, a decimal: sums are exact. The zero value is 0.
type Delta struct{ units *big.Int } // of 10^-deltaDigits; nil is 0

// deltaDigits holds every digit of every δ of a collection: at least 10^-15, with the 17 digits of
// a float.
const deltaDigits = 32

var (
	oneDelta  = new(big.Int).Exp(big.NewInt(10), big.NewInt(deltaDigits), nil)
	deltaForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,2})?$`)
)

// ParseDelta reads a decimal from 0 to 1 with at most 32 digits after the point, such as 1e-6 or
// 0.000001.
func ParseDelta(s string) (Delta, error) {
	if !deltaForm.MatchString(s) {
		return Delta{}, fmt.Errorf("contribute: delta %.40q is not a decimal such as 1e-6", s)
	}
	r, _ := new(big.Rat).SetString(s) // of this form, it is a number
	r.Mul(r, new(big.Rat).SetInt(oneDelta))
	if !r.IsInt() || r.Num().Cmp(oneDelta) > 0 {
		return Delta{}, fmt.Errorf("contribute: want delta from 0 to 1 with at most %d digits after the point, have %.40s", deltaDigits, s)
	}
	return Delta{new(big.Int).Set(r.Num())}, nil
}

// deltaOf returns the decimal that stands for a float in parameters: the shortest that reads as it.
func deltaOf(x float64) (Delta, error) { return ParseDelta(strconv.FormatFloat(x, 'e', -1, 64)) }

func (d Delta) int() *big.Int {
	if d.units == nil {
		return new(big.Int)
	}
	return d.units
}

// Add returns d+o.
func (d Delta) Add(o Delta) Delta { return Delta{new(big.Int).Add(d.int(), o.int())} }

// Sub returns d−o, or 0 if that is less.
func (d Delta) Sub(o Delta) Delta {
	if d.Cmp(o) < 0 {
		return Delta{}
	}
	return Delta{new(big.Int).Sub(d.int(), o.int())}
}

// Cmp returns -1, 0 or 1 as d is less than o, equal or more.
func (d Delta) Cmp(o Delta) int { return d.int().Cmp(o.int()) }

// String returns the shortest decimal that is δ: "0", "1", "1e-9", "1.25e-7".
func (d Delta) String() string {
	if d.int().Sign() == 0 {
		return "0"
	}
	all := d.int().String()
	exponent := len(all) - 1 - deltaDigits
	s := strings.TrimRight(all, "0")
	if len(s) > 1 {
		s = s[:1] + "." + s[1:]
	}
	if exponent == 0 {
		return s
	}
	return fmt.Sprintf("%se%d", s, exponent)
}

// MarshalText implements encoding.TextMarshaler.
func (d Delta) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Only what String returns is accepted.
func (d *Delta) UnmarshalText(text []byte) error {
	parsed, err := ParseDelta(string(text))
	if err != nil || parsed.String() != string(text) {
		return fmt.Errorf("contribute: %.40q is not a delta in its shortest form", text)
	}
	*d = parsed
	return nil
}

// Loss is an amount of (ε, δ): what reports cost together, or what they may cost.
type Loss struct {
	Epsilon Epsilon `json:"epsilon"`
	Delta   Delta   `json:"delta"`
}

// Caps are what a person allows all reports together to cost.
type Caps = Loss

// DefaultCaps are those of a new wallet: they are for the person to change.
func DefaultCaps() Caps {
	delta, _ := ParseDelta("1e-6")
	return Caps{4 * epsilonUnit, delta}
}

// Add returns the sum of two losses: what both cost together, by basic composition.
func (l Loss) Add(o Loss) Loss { return Loss{l.Epsilon + o.Epsilon, l.Delta.Add(o.Delta)} }

// Within tells whether l is at most a cap in both of its numbers.
func (l Loss) Within(cap Caps) bool { return l.Epsilon <= cap.Epsilon && l.Delta.Cmp(cap.Delta) <= 0 }

// String returns the loss as text.
func (l Loss) String() string { return fmt.Sprintf("epsilon %v, delta %v", l.Epsilon, l.Delta) }

// CostOf returns what a report with these parameters costs its person: the declared (ε, δ), where a
// report that is zCDP only is stated as (ρ + 2·sqrt(ρ·ln(1/δ)), δ) at δ = collect.WalletDelta,
// rounded up (collect.Params.Cost).
func CostOf(p *Params) (Loss, error) {
	c := p.Cost()
	delta, err := deltaOf(c.Delta)
	return Loss{Epsilon(c.Epsilon), delta}, err
}
