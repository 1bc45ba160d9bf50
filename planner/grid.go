package planner

import (
	"math"
	"strconv"
	"strings"

	"scrim/engine/estimator"
	"scrim/planner/lower"
)

// Widest grid indexes. valueBits is the contract's bound on every per-person integer; squareBits
// keeps sums of squares of 2^40 rows below 2^127: 2·43 + 40 = 126.
const (
	valueBits  = 50
	squareBits = 43
)

// doubleStep is the step of a DOUBLE without declared bounds: 2^-20, so |x| <= 2^30 at 50 bits.
const doubleStep = 1.0 / (1 << 20)

// grid is the public lattice of one argument, with its declared bounds in steps.
type grid struct {
	estimator.Grid
	Lower, Upper *int64
}

// bounds is a declared closed range of an argument's rows.
type bounds struct{ lo, hi float64 }

// gridOf chooses the grid from public facts: the argument's type, its declared bounds, and the
// number of bits that an index may have. Integers have step 1, decimals 10^-scale, doubles a power
// of two; the step grows where the bounds or the type's range need more bits.
func gridOf(t lower.Type, b *bounds, bits int) (grid, bool) {
	limit := int64(1) << bits
	g := grid{Grid: estimator.Grid{Step: 1, Lo: -limit, Hi: limit}}
	switch t.Kind {
	case lower.Int, lower.UInt, lower.Bool:
		g.Decimal = true
		if t.Kind == lower.Bool {
			g.Lo, g.Hi = 0, 1
		}
	case lower.Decimal:
		g.Decimal, g.Scale = true, t.Scale
		for g.Scale > 0 && digits(t.Precision-t.Scale+g.Scale) > float64(limit) && !fits(b, g.Scale, limit) {
			g.Scale--
		}
		g.Step = math.Pow10(-g.Scale)
	case lower.Double:
		g.Step = doubleStep * math.Ldexp(1, (valueBits-bits))
		if b != nil {
			// The smallest power of two that gives the range 2^32 steps and the ends 2^bits.
			need := max((b.hi-b.lo)/(1<<32), math.Abs(b.lo)/float64(limit), math.Abs(b.hi)/float64(limit))
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
		lo, hi := g.indexOf(b.lo, limit), g.indexOf(b.hi, limit)
		if lo >= hi {
			return g, false
		}
		g.Lo, g.Hi = lo, hi
		g.Lower, g.Upper = &lo, &hi
	}
	return g, true
}

// fits reports whether bounds fit into the limit at a scale.
func fits(b *bounds, scale int, limit int64) bool {
	return b != nil && max(math.Abs(b.lo), math.Abs(b.hi))*digits(scale) <= float64(limit)
}

func digits(n int) float64 { return math.Pow10(n) }

// indexOf returns the grid index of a public number, clamped.
func (g grid) indexOf(x float64, limit int64) int64 {
	k := math.RoundToEven(x / g.Step)
	switch {
	case k <= -float64(limit):
		return -limit
	case k >= float64(limit):
		return limit
	}
	return int64(k)
}

// exactGrid is the grid on which derived tables sum: without bounds, at full width.
func exactGrid(t lower.Type) (grid, bool) { return gridOf(t, nil, valueBits) }

// index returns SQL for the grid index of x as BIGINT: NULL where x is NULL, the nearest end where x
// is out of range, else x/step rounded half to even. It cannot raise: out-of-range values never reach
// a cast, and the casts are TRY_CASTs. A decimal of up to 15 digits comes out exactly: its DOUBLE is
// within half a unit in the 53rd bit, so the product is within 1/4 of the integer that it is.
func (g grid) index(x lower.Expr) string {
	switch x.Type.Kind {
	case lower.Bool:
		return "CAST(" + x.SQL + " AS BIGINT)"
	case lower.Int, lower.UInt:
		return "CASE WHEN " + x.SQL + " < " + itoa64(g.Lo) + " THEN " + itoa64(g.Lo) + " WHEN " + x.SQL + " > " + itoa64(g.Hi) +
			" THEN " + itoa64(g.Hi) + " ELSE TRY_CAST(" + x.SQL + " AS BIGINT) END"
	}
	d := x.SQL
	if x.Type.Kind != lower.Double {
		d = "CAST(" + d + " AS DOUBLE)"
	}
	inverse := 1 / g.Step
	if g.Decimal {
		inverse = math.Pow10(g.Scale)
	}
	return "CASE WHEN " + d + " < " + float(float64(g.Lo)/inverse) + " THEN " + itoa64(g.Lo) + " WHEN " + d + " > " + float(float64(g.Hi)/inverse) +
		" THEN " + itoa64(g.Hi) + " ELSE TRY_CAST(" + d + " * " + float(inverse) + " AS BIGINT) END"
}

// float writes a float64 as a DOUBLE constant of the store, exactly.
func float(x float64) string {
	return "CAST(" + strconv.FormatFloat(x, 'g', 17, 64) + " AS DOUBLE)"
}

func itoa(i int) string     { return strconv.Itoa(i) }
func itoa64(i int64) string { return strconv.FormatInt(i, 10) }
func comma(s []string) string {
	return strings.Join(s, ", ")
}
