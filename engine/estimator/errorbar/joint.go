package errorbar

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"maps"
	"math"
	"slices"

	"scrim/engine/estimator"
)

// Law is one released value with what its interval is made of. All of it is released with the
// answer, so whatever is computed from laws is post-processing.
type Law struct {
	Estimate    estimator.Estimate // of one value
	Unit        float64            // what the value is multiplied by when it is shown
	NonNegative bool               // the exact value is not under 0
	// Source names the noise: laws of one source have the same noise, and those of others are
	// independent. "": the noise goes together with others' in a way that is not known.
	Source string
	Rows   string // the source of Error.Rows, where that is told
}

// Encode is the law as a text, which DecodeLaw reads.
func (l Law) Encode() string {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(l); err != nil {
		panic(err) // of a buffer, and a type that is encoded in kept answers
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// DecodeLaw reads a law.
func DecodeLaw(text string) (l Law, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(b)).Decode(&l)
	}
	return l, err
}

// Joint computes intervals of expressions of released values from their joint law. The exact value
// of each form is in
//
//	[Centre − Down, Centre + Up] + a normal number
//
// where the normal number is that of the noises by source. Down and Up are half the steps of a
// lattice, what clips may take, and the intervals of values whose noise is not normal. Forms add up
// exactly: the noise of one source in two of them is added with its sign. Each interval that is
// taken on the way is an event, and holds but with probability risk: with risk = (1 − level)/events
// all of them hold together with probability level at least (Bonferroni). A first run at any risk
// counts the events.
//
// What clips take is allowed for as in a single interval: at the risk of the interval itself.
type Joint struct {
	Risk   float64
	Events int
}

// Form is a number with what is not known of it.
type Form struct {
	Value            float64 // as shown
	centre, down, up float64
	noise            map[string]float64 // by source
	variance         float64            // of all noise
	positive         bool               // the exact value is not under 0
}

// Number is a public number.
func Number(x float64) Form { return Form{Value: x, centre: x, positive: x >= 0} }

// Of is the form of a law.
func (j *Joint) Of(l Law) Form {
	e := l.Estimate
	f := Form{Value: l.Unit * e.Values[0], positive: l.NonNegative}
	if x := e.Error; l.Source != "" && x != nil && x.IsSum(0) && x.Law == estimator.Gaussian && estimator.Entry(x.Common, 0) == 0 && e.Status == estimator.OK {
		c, s, half := e.Values[0], estimator.Entry(e.StdErr, 0), estimator.Entry(x.Step, 0)/2
		if x.Raw != nil {
			c = x.Raw[0]
		}
		if x.Noise != nil {
			s = estimator.Entry(x.Noise, 0)
		}
		f.down, f.up = half, half
		if len(x.Cut) > 0 {
			cut := x.Cut[0]
			c, f.down, f.up = c-cut.Added, half+cut.Below(j.Risk), half+cut.Above(j.Risk)
		}
		f.centre, f.down, f.up, s = l.Unit*c, l.Unit*f.down, l.Unit*f.up, l.Unit*s
		rows := l.Unit * estimator.Entry(x.Rows, 0)
		f.noise, f.variance = map[string]float64{l.Source: math.Sqrt(max(0, s*s-rows*rows))}, s*s
		if rows != 0 {
			f.noise[l.Rows] = rows
		}
		return f
	}
	j.Events++
	lo, hi := Interval(e, 0, 1-j.Risk)
	return f.within(l.Unit*lo, l.Unit*hi)
}

// within is the form whose exact value is between two ends, of which NaN is none.
func (f Form) within(lo, hi float64) Form {
	f.centre, f.down, f.up, f.noise, f.variance = f.Value, f.Value-lo, hi-f.Value, nil, 0
	for _, x := range []*float64{&f.down, &f.up} {
		if math.IsNaN(*x) {
			*x = math.Inf(1)
		}
	}
	return f
}

// known reports whether a form is a number that is known.
func (f Form) known() bool { return f.variance == 0 && f.down == 0 && f.up == 0 }

// Times is the form multiplied by a number.
func (f Form) Times(k float64) Form {
	out := Form{Value: k * f.Value, centre: k * f.centre, down: times(k, f.down), up: times(k, f.up), variance: k * k * f.variance, positive: f.positive && k >= 0}
	if k < 0 {
		out.down, out.up = times(-k, f.up), times(-k, f.down)
	}
	if f.noise != nil {
		out.noise = make(map[string]float64, len(f.noise))
		for s, x := range f.noise {
			out.noise[s] = k * x
		}
	}
	return out
}

// times leaves 0 times what has no bound 0.
func times(k, x float64) float64 {
	if k == 0 {
		return 0
	}
	return k * x
}

// Sum adds forms up.
func Sum(forms ...Form) Form {
	out := Form{positive: true, noise: map[string]float64{}}
	for _, f := range forms {
		out.Value, out.centre, out.down, out.up = out.Value+f.Value, out.centre+f.centre, out.down+f.down, out.up+f.up
		out.positive = out.positive && f.positive
		for s, x := range f.noise {
			out.noise[s] += x
		}
	}
	for _, s := range slices.Sorted(maps.Keys(out.noise)) { // the same digits each time
		out.variance += out.noise[s] * out.noise[s]
	}
	return out
}

// Ends is the interval of a form.
func (j *Joint) Ends(f Form) (lo, hi float64) {
	w := 0.0
	if f.variance > 0 {
		j.Events++
		w = point(j.Risk) * math.Sqrt(f.variance)
	}
	lo, hi = f.centre-f.down-w, f.centre+f.up+w
	if f.positive {
		lo, hi = max(lo, 0), max(hi, 0)
	}
	return under(lo, f.Value), over(hi, f.Value)
}

// Map is a function that does not fall.
func (j *Joint) Map(f Form, of func(float64) float64) Form {
	lo, hi := j.Ends(f)
	out := Form{Value: of(f.Value)}
	return out.within(of(lo), of(hi))
}

// Product multiplies two forms.
func (j *Joint) Product(f, g Form) Form {
	switch {
	case g.known():
		return f.Times(g.centre)
	case f.known():
		return g.Times(f.centre)
	}
	a, b := j.Ends(f)
	c, d := j.Ends(g)
	out := Form{Value: f.Value * g.Value, positive: f.positive && g.positive}
	return out.within(min(times(a, c), times(a, d), times(b, c), times(b, d)), max(times(a, c), times(a, d), times(b, c), times(b, d)))
}

// Quotient divides two forms: all r for which N − r·D may be 0, which for the exact r is a normal
// number about what is between the ends of Down and Up, whatever N and D are: Fieller's interval
// [F54]. Where D may be 0 nothing is known.
func (j *Joint) Quotient(n, d Form) Form {
	if d.known() {
		return n.Times(1 / d.centre)
	}
	if d.centre < 0 {
		n, d = n.Times(-1), d.Times(-1)
	}
	z := 0.0
	if n.variance > 0 || d.variance > 0 {
		j.Events++
		z = point(j.Risk)
	}
	out := Form{Value: n.Value / d.Value, positive: n.positive && d.positive}
	if !(d.centre-d.down-z*math.Sqrt(d.variance) > 0) {
		return out.within(math.NaN(), math.NaN())
	}
	return out.within(-largest(n.Times(-1), d, z), largest(n, d, z))
}

// largest is the largest r of a quotient's interval, for a D above 0. What it looks for is where a
// concave function that is at most 0 at the quotient of the centres, and grows without bound,
// passes 0.
func largest(n, d Form, z float64) float64 {
	sources := slices.Sorted(maps.Keys(n.noise))
	rest := d.variance
	for _, s := range sources {
		rest -= d.noise[s] * d.noise[s]
	}
	v := n.centre / d.centre
	return boundary(v, max(math.Abs(v)*1e-9, (z*math.Sqrt(n.variance)+n.up)/d.centre, 1e-300), func(r float64) bool {
		v := r * r * max(0, rest)
		for _, s := range sources {
			x := n.noise[s] - r*d.noise[s]
			v += x * x
		}
		return r*d.centre-n.centre > z*math.Sqrt(v)+n.up+max(times(r, d.down), times(-r, d.up))
	})
}
