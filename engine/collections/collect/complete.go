package collect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
)

// complete checks everything of a declaration that does not depend on how many contributors there
// are, and fills in what was left out: delta, levels, resolution, null_default. Completing a
// complete declaration changes nothing.
func complete(p Protocol, d Declaration) (Declaration, error) {
	info, ok := p.Info()
	if !ok {
		return d, bad("There is no protocol %.40q.", string(p)).With("The protocols are %s.", names())
	}
	for _, check := range []func(Protocol, *Declaration) error{
		checkForeign, checkFinite, checkCommon, checkOption,
	} {
		if err := check(p, &d); err != nil {
			return d, err
		}
	}
	if info.Model == Shuffle {
		if err := completeShuffle(&d); err != nil {
			return d, err
		}
	}
	return d, completeShape(p, &d)
}

func names() string {
	return strings.Join(lists.Map(Protocols, func(info Info) string { return string(info.Protocol) }), ", ")
}

// checkFinite refuses numbers that are NaN, infinite or absurd.
func checkFinite(_ Protocol, d *Declaration) error {
	for _, v := range []struct {
		key   string
		value float64
	}{
		{"delta", d.Delta}, {"lo", d.Lo}, {"hi", d.Hi}, {"sigma", d.Sigma}, {"sigma_min", d.SigmaMin}, {"sigma_max", d.SigmaMax},
		{"radius", d.Radius}, {"centre_norm", d.Centre}, {"resolution", d.Resolution}, {"pays_epsilon", d.Pays},
	} {
		if !moderate(v.value) {
			return bad("%s is %v.", v.key, v.value).With("Declare a finite number of at most 1e100 in size.")
		}
	}
	if x, ok := lists.Find(d.NullDefault, func(x float64) bool { return !moderate(x) }); ok {
		return bad("null_default has %v.", x).With("Declare finite numbers.")
	}
	return nil
}

func moderate(x float64) bool { return math.Abs(x) <= MaxMagnitude } // false for NaN

func checkCommon(p Protocol, d *Declaration) error {
	if d.Epsilon.Check() != nil {
		return bad("epsilon is %v.", d.Epsilon).With("Declare epsilon from 0.05 to 8 with at most four digits after the point.")
	}
	if d.Expected == 0 || d.Expected > MaxExpected {
		return bad("n_expected is %d.", d.Expected).With("Declare how many people will contribute, from 1 to %d.", uint64(MaxExpected))
	}
	return checkStrata(d.Strata)
}

func checkOption(p Protocol, d *Declaration) error {
	if d.Option != "" && !slices.Contains(options[p], d.Option) {
		return bad("%s has no option %.40q.", p, d.Option).With("Its options are %s; leave the parameter out for the default.", strings.Join(options[p], ", "))
	}
	return nil
}

func completeShuffle(d *Declaration) error {
	d.Delta = cmp.Or(d.Delta, DefaultDelta)
	if d.Trust != "separate" && d.Trust != "same_operator" {
		return bad("trust is %.40q.", d.Trust).
			With("Declare 'separate' if whoever runs the shuffler does not run this server, else 'same_operator'; contributors see it.")
	}
	if d.RetryOf != "" {
		if err := checkName(d.RetryOf); err != nil {
			return err
		}
	}
	return checkDelta(d.Delta)
}

func checkDelta(delta float64) error {
	if !(delta >= MinDelta && delta <= MaxDelta) {
		return bad("delta is %v.", delta).With("Declare delta from 1e-15 to 1e-5.")
	}
	return nil
}

// completeShape checks the domain of values, by protocol.
func completeShape(p Protocol, d *Declaration) error {
	switch p {
	case LDPBit, ShufSum:
		return cmp.Or(checkInterval(d), completeNumber(d))
	case LDPKV2, LDPKV1:
		return cmp.Or(checkInterval(d), checkPositive("sigma", d.Sigma), completeNumber(d))
	case LDPUV2, LDPUV1:
		return cmp.Or(checkInterval(d), checkScales(d, true), completeNumber(d))
	case LDPHier:
		return cmp.Or(checkInterval(d), completeLevels(d, 5, MaxLeaves), completeNumber(d))
	case LDPHaar:
		return cmp.Or(checkInterval(d), completeLevels(d, 12, MaxHaar), completeNumber(d))
	case ShufHier:
		return cmp.Or(checkInterval(d), completeLevels(d, 5, maxNodes), completeNumber(d))
	case ShufVec:
		return cmp.Or(checkDimension(d, MaxVector), checkPositive("radius", d.Radius), completeVector(d, d.Radius))
	default:
		return completeRotated(p, d)
	}
}

func checkInterval(d *Declaration) error {
	if !(d.Lo < d.Hi) || !positive(d.Hi-d.Lo) {
		return bad("lo is %v and hi is %v.", d.Lo, d.Hi).With("Declare lo and hi with lo below hi; values beyond count as the nearer of them.")
	}
	return nil
}

func positive(x float64) bool { return x >= 1/MaxMagnitude && x <= 2*MaxMagnitude }

func checkPositive(key string, x float64) error {
	if !positive(x) {
		return bad("%s is %v.", key, x).With("Declare %s as a positive number.", key)
	}
	return nil
}

// checkScales checks sigma_min and sigma_max, both needed or each optional.
func checkScales(d *Declaration, both bool) error {
	for _, v := range []struct {
		key   string
		value float64
	}{{"sigma_min", d.SigmaMin}, {"sigma_max", d.SigmaMax}} {
		if both || v.value != 0 {
			if err := checkPositive(v.key, v.value); err != nil {
				return err
			}
		}
	}
	if d.SigmaMin != 0 && d.SigmaMax != 0 && !(d.SigmaMin < d.SigmaMax) {
		return bad("sigma_min is %v and sigma_max is %v.", d.SigmaMin, d.SigmaMax).
			With("Declare sigma_min below sigma_max; with a known standard deviation use LDP_KV2.")
	}
	return nil
}

func completeLevels(d *Declaration, byDefault, most int) error {
	d.Levels = cmp.Or(d.Levels, byDefault)
	if d.Levels < 1 || d.Levels > most {
		return bad("levels is %d.", d.Levels).With("Declare levels from 1 to %d.", most)
	}
	return nil
}

func checkDimension(d *Declaration, most int) error {
	if d.Dimension < 1 || d.Dimension > most {
		return bad("dimension is %d.", d.Dimension).With("Declare the number of coordinates, from 1 to %d.", most)
	}
	return nil
}

// completeNumber sees to the number that stands for NULL: the middle by default.
func completeNumber(d *Declaration) error {
	if len(d.NullDefault) == 0 {
		d.NullDefault = []float64{float64(d.Lo/2) + float64(d.Hi/2)}
	}
	if len(d.NullDefault) != 1 || d.NullDefault[0] < d.Lo || d.NullDefault[0] > d.Hi {
		return bad("null_default is %.80v.", d.NullDefault).With("Declare one number from lo to hi; it is reported for NULL.")
	}
	return nil
}

// completeVector sees to the vector that stands for NULL: zero by default. One number is taken for
// every coordinate.
func completeVector(d *Declaration, radius float64) error {
	if len(d.NullDefault) == 0 {
		d.NullDefault = []float64{0}
	}
	if n := len(d.NullDefault); n != 1 && n != d.Dimension {
		return bad("null_default has %d numbers.", n).With("Declare one number for all coordinates, or one for each of the %d.", d.Dimension)
	}
	if norm := geometry.Norm(d.null()); norm > radius*(1+tolerance) {
		return bad("null_default has norm %v.", norm).With("Declare a vector of norm at most %v.", radius)
	}
	return nil
}

// completeRotated sees to *_SCM3: a radius, or what it follows from.
func completeRotated(p Protocol, d *Declaration) error {
	if err := cmp.Or(checkDimension(d, MaxRotated), checkScales(d, false), completeRadius(d), completeResolution(d)); err != nil {
		return err
	}
	if err := completeVector(d, ball(d)); err != nil {
		return err
	}
	if err := checkPays(p, d); err != nil {
		return err
	}
	if d.Option == "gauss" {
		return checkDelta(d.Delta)
	}
	if p == LDPSCM3 && d.Delta != 0 {
		return bad("delta is declared, but only the option gauss has one.").With("Leave delta out, or declare option 'gauss'.")
	}
	return nil
}

func completeRadius(d *Declaration) error {
	switch {
	case d.Radius != 0 && (d.Centre != 0 || d.SigmaMax != 0):
		return bad("radius is declared together with centre_norm or sigma_max.").With("Declare either radius, or centre_norm and sigma_max.")
	case d.Radius == 0 && d.SigmaMax == 0:
		return bad("No bound of the vectors is declared.").With("Declare radius, or centre_norm (bound of the mean's norm) and sigma_max.")
	case d.Radius != 0:
		return checkPositive("radius", d.Radius)
	case d.Centre < 0:
		return bad("centre_norm is %v.", d.Centre).With("Declare a bound of the mean's norm, 0 or more.")
	}
	return nil
}

func completeResolution(d *Declaration) error {
	d.Resolution = cmp.Or(d.Resolution, 4*d.SigmaMin)
	if !positive(d.Resolution) {
		return bad("Neither sigma_min nor resolution is declared.").
			With("Declare sigma_min, a lower bound of the coordinates' standard deviation, or resolution, the bucket width of round 1.")
	}
	return nil
}

// null returns the value of NULL: one number, or Dimension coordinates.
func (d *Declaration) null() Value {
	if d.Dimension == 0 || len(d.NullDefault) == d.Dimension {
		return slices.Clone(d.NullDefault)
	}
	v := make(Value, d.Dimension)
	for i := range v {
		v[i] = d.NullDefault[0]
	}
	return v
}
