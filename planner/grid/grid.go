// Package grid chooses the public lattice on which the values of an argument are read from the
// store as integers, and writes the SQL of a value's index on it. In go its type and declared
// bounds.
package grid

import (
	"math"
	"strconv"
	"strings"

	"scrim/engine/estimator"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/rule"
)

// Widest grid indexes. ValueBits is the contract's bound on every per-person integer; SquareBits
// keeps sums of squares of 2^40 rows below 2^127: 2·43 + 40 = 126.
const (
	ValueBits  = 50
	SquareBits = 43
)

// doubleStep is the step of a DOUBLE without declared bounds: 2^-20, so |x| <= 2^30 at 50 bits.
const doubleStep = 1.0 / (1 << 20)

// wideScale is the number of decimals of a number without bounds that may be too large for more.
// These are clamped at 1.1e13 for that; with no decimals, numbers under 1/2 would be 0, as of x /
// 1000.
const wideScale = 2

// Wide is how far from 0 the values of a type with more digits before the point are taken to be:
// the 19 of a BIGINT say nothing of the values of a · 0.001. It is what wideScale has room for.
const Wide = 1e13

// Grid is the public lattice of one argument, with its declared bounds in steps.
type Grid struct {
	estimator.Grid
	Lower, Upper *int64
}

// Bounds is a declared closed range of an argument's rows.
type Bounds struct{ Lo, Hi float64 }

// Of chooses the grid from public facts: the argument's type, its declared bounds, how far from 0
// its values are (rel.Writer.Most), and the number of bits that an index may have. Integers have
// step 1, decimals 10^-scale, doubles a power of two; the step grows where the bounds or the values
// need more bits, without bounds up to 10^-wideScale.
func Of(t lower.Type, b *Bounds, most float64, bits int) (Grid, bool) {
	limit := int64(1) << bits
	g := Grid{Grid: estimator.Grid{Step: 1, Lo: -limit, Hi: limit}}
	switch t.Kind {
	case lower.Int, lower.UInt, lower.Bool:
		g.Decimal = true
		if t.Kind == lower.Bool {
			g.Lo, g.Hi = 0, 1
		}
	case lower.Decimal:
		least := 0
		if b == nil {
			least = min(t.Scale, wideScale)
		}
		g.Decimal, g.Scale = true, t.Scale
		most = min(most, digits(t.Precision-t.Scale))
		for g.Scale > least && most*digits(g.Scale) > float64(limit) && !fits(b, g.Scale, limit) {
			g.Scale--
		}
		g.Step = math.Pow10(-g.Scale)
	case lower.Double:
		g.Step = doubleStep * math.Ldexp(1, (ValueBits-bits))
		if b != nil {
			// The smallest power of two that gives the range 2^32 steps and the ends 2^bits.
			need := max((b.Hi-b.Lo)/(1<<32), math.Abs(b.Lo)/float64(limit), math.Abs(b.Hi)/float64(limit))
			frac, exp := math.Frexp(need)
			if frac == 0.5 {
				exp--
			}
			g.Step = math.Ldexp(1, exp)
		}
	default:
		return g, false
	}
	if b != nil {
		// Bounds wider than the index are clamped, as values are.
		lo, hi := g.indexOf(b.Lo, limit), g.indexOf(b.Hi, limit)
		if lo >= hi {
			return g, false
		}
		g.Lo, g.Hi = lo, hi
		g.Lower, g.Upper = &lo, &hi
	}
	return g, true
}

// The steps that estimators take, so that the squares of values are numbers too.
const leastStep, mostStep = 1e-100, 1e100

// Steps refuses a lattice that estimators do not take, which only a range near the ends of DOUBLE
// needs.
func (g Grid) Steps(name string) error {
	if g.Decimal || g.Step >= leastStep && g.Step <= mostStep {
		return nil
	}
	return rule.Deny(rule.Option, refuse.Option, "Scale the values, or narrow their range with GREATEST and LEAST.",
		"The range of the values of %s is too near to the largest or the smallest DOUBLE.", name)
}

// fits reports whether bounds fit into the limit at a scale.
func fits(b *Bounds, scale int, limit int64) bool {
	return b != nil && max(math.Abs(b.Lo), math.Abs(b.Hi))*digits(scale) <= float64(limit)
}

func digits(n int) float64 { return math.Pow10(n) }

// indexOf returns the grid index of a public number, clamped.
func (g Grid) indexOf(x float64, limit int64) int64 {
	k := math.RoundToEven(x / g.Step)
	switch {
	case k <= -float64(limit):
		return -limit
	case k >= float64(limit):
		return limit
	}
	return int64(k)
}

// Exact is the grid on which derived tables sum: without bounds, at full width.
func Exact(t lower.Type, most float64) (Grid, bool) { return Of(t, nil, most, ValueBits) }

// storeDigits is the number of digits of the decimals that the store keeps in 64 bits.
const storeDigits = 18

// Index returns SQL for the grid index of x as BIGINT: NULL where x is NULL, the nearest end where
// x is out of range, else x/step rounded half to even. It cannot raise: out-of-range values never
// reach a cast, and the casts are TRY_CASTs or cannot fail. A decimal of up to 15 digits comes out
// exactly: in the store's own decimals where they have room; otherwise its DOUBLE is within half a
// unit in the 53rd bit, so the product is within 1/4 of the integer that it is.
//
// The usual case comes first, and a range that the type implies is not tested: the store then knows
// the range of the index from its column's statistics, and adds it up in 64 bits where that is
// enough.
func (g Grid) Index(x lower.Expr) string {
	switch x.Type.Kind {
	case lower.Bool:
		return "CAST(" + x.SQL + " AS BIGINT)"
	case lower.Int, lower.UInt:
		if x.Narrow() && g.Lo <= math.MinInt32 && g.Hi >= math.MaxUint32 {
			return x.SQL
		}
		return g.within(x.SQL, strconv.FormatInt(g.Lo, 10), strconv.FormatInt(g.Hi, 10), "TRY_CAST("+x.SQL+" AS BIGINT)")
	}
	d := x.SQL
	if x.Type.Kind != lower.Double {
		d = "CAST(" + d + " AS DOUBLE)"
	}
	near, between := x.Near() // of a quotient before it was rounded
	if between = between && g.Decimal && g.Scale != x.Type.Scale; between {
		d = near
	}
	inverse := 1 / g.Step
	if g.Decimal {
		inverse = math.Pow10(g.Scale)
	}
	lo, hi := Float(float64(g.Lo)/inverse), Float(float64(g.Hi)/inverse)
	if text, ok := g.unscaled(x); ok {
		if digits(x.Type.Precision) <= min(float64(g.Hi), -float64(g.Lo)) {
			return text
		}
		return g.within(d, lo, hi, text)
	}
	if bare, ok := x.Bare(); ok {
		// NaN is above every number for the store: it is not in range, and not finite.
		return "CASE WHEN " + bare + " BETWEEN " + lo + " AND " + hi + " THEN TRY_CAST(" + bare + " * " + Float(inverse) + " AS BIGINT)" +
			" WHEN isfinite(" + bare + ") THEN CASE WHEN " + bare + " < " + lo + " THEN " + strconv.FormatInt(g.Lo, 10) + " ELSE " + strconv.FormatInt(g.Hi, 10) + " END END"
	}
	scaled := func(d string) string {
		if inverse != 1 {
			d += " * " + Float(inverse)
		}
		return "TRY_CAST(" + d + " AS BIGINT)"
	}
	text := g.within(d, lo, hi, scaled(d))
	w, ok := x.Word()
	if !ok || between {
		return text
	}
	// The same number in a machine word is the same DOUBLE: what follows is the index where the
	// word is not NULL.
	d = "CAST(" + w + " AS DOUBLE)"
	if g.Lower == nil && digits(lower.WordDigits-x.Type.Scale)*inverse <= min(float64(g.Hi), -float64(g.Lo)) {
		return "CASE WHEN " + w + " IS NOT NULL THEN " + scaled(d) + " ELSE " + text + " END"
	}
	return "CASE WHEN " + d + " BETWEEN " + lo + " AND " + hi + " THEN " + scaled(d) + " ELSE " + text + " END"
}

// Open is index for columns that clamp what they make of it: an integer without declared bounds is
// then its own index, so that the store knows its range from its column's statistics.
func (g Grid) Open(x lower.Expr) string {
	if x.Type.Kind == lower.Int && g.Lower == nil && g.Hi == 1<<ValueBits {
		return x.SQL
	}
	return g.Index(x)
}

// within returns inside where x is from lo to hi, the nearest end of the grid where it is not, and
// NULL where x is NULL. x is not NaN.
func (g Grid) within(x, lo, hi, inside string) string {
	return "CASE WHEN " + x + " BETWEEN " + lo + " AND " + hi + " THEN " + inside +
		" WHEN " + x + " < " + lo + " THEN " + strconv.FormatInt(g.Lo, 10) + " WHEN " + x + " > " + hi + " THEN " + strconv.FormatInt(g.Hi, 10) + " END"
}

// unscaled returns SQL for the index of a decimal on a grid of its own scale, when its type keeps
// the product x·10^scale within the decimals that the store keeps in 64 bits. The outer cast cannot
// fail, as the product is a whole number of at most precision <= 17 digits; a TRY_CAST would hide
// its range from the store.
func (g Grid) unscaled(x lower.Expr) (string, bool) {
	p, s := x.Type.Precision, x.Type.Scale
	if x.Type.Kind != lower.Decimal || s != g.Scale || p+s+1 > storeDigits {
		return "", false
	}
	return "CAST(TRY_CAST(" + x.SQL + " AS DECIMAL(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")) * CAST(1" + strings.Repeat("0", s) +
		" AS DECIMAL(" + strconv.Itoa(s+1) + ",0)) AS BIGINT)", true
}

// Float writes a float64 as a DOUBLE constant of the store, exactly.
func Float(x float64) string {
	return "CAST(" + strconv.FormatFloat(x, 'g', 17, 64) + " AS DOUBLE)"
}

// Value is the number that a number of steps stands for. A decimal is divided, which rounds once.
func (g Grid) Value(steps float64) float64 {
	if g.Decimal {
		return steps / math.Pow10(g.Scale)
	}
	return steps * g.Step
}
