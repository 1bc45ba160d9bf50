package quantile

import (
	"fmt"
	"math/big"
	"strings"
)

// MaxDen is the largest denominator of a Fraction in lowest terms.
const MaxDen = 1 << 20

// Fraction is an exact fraction Num/Den with 0 < Num < Den <= MaxDen.
type Fraction struct{ Num, Den int64 }

// Median is one half.
var Median = Fraction{1, 2}

// ParseFraction reads a decimal such as 0.9 or 1e-3, or a quotient such as 1/3, exactly.
func ParseFraction(text string) (Fraction, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 40 || strings.ContainsAny(text, "xXpP_") {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	// an exponent that could only fail, and slowly
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	if !r.Num().IsInt64() || !r.Denom().IsInt64() {
		return Fraction{}, fmt.Errorf("quantile: want a fraction with denominator <= %d, have %.40q", MaxDen, text)
	}
	f := Fraction{r.Num().Int64(), r.Denom().Int64()}
	return f, f.Validate()
}

// Validate checks that the fraction lies strictly between 0 and 1 and has a usable denominator.
func (f Fraction) Validate() error {
	switch {
	case f.Num <= 0 || f.Den <= f.Num:
		return fmt.Errorf("quantile: want 0 < fraction < 1, have %d/%d", f.Num, f.Den)
	case f.Den > MaxDen:
		return fmt.Errorf("quantile: want a fraction with denominator <= %d, have %d/%d", MaxDen, f.Num, f.Den)
	}
	return nil
}

// Float returns the fraction as a float64.
func (f Fraction) Float() float64 { return float64(f.Num) / float64(f.Den) }
