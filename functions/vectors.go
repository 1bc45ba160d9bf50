package functions

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/estimator/vector"
	"scrim/internal/refuse"
)

// Vectors are the public facts of an argument whose values are vectors.
type Vectors struct {
	Dim    int
	Sparse bool // of 0 and 1, few 1s
	// Columns says that the coordinates are columns of a table: different things, of which a small
	// error in one does not make up for a large one in another.
	Columns bool
	// Scales are declared standard deviations: one for all coordinates, one for each, or none. What
	// the options say goes before.
	Scales []float64
}

// automatics are the methods of vectors' means that auto may choose.
var automatics = []string{"clipped", "shifted", "plan", "coinpress", "person"}

// fit reports whether an option means something for a method, given those that it fits.
func fit(method string, of []string) bool {
	if method == "auto" || method == "" {
		return slices.ContainsFunc(of, func(m string) bool { return slices.Contains(automatics, m) })
	}
	return slices.Contains(of, method)
}

// fits lists the methods that an option of the mean means something for.
var fits = map[string][]string{
	"p":         {"plan"},
	"tail":      {"clipped", "shifted", "plan"},
	"clip":      {"clipped", "shifted", "plan"},
	"rotate":    {"shifted"},
	"quantile":  {"clipped", "shifted", "plan"},
	"scale":     {"plan"},
	"pairs":     {"plan"},
	"relative":  {"plan"},
	"radius":    {"shifted", "plan", "coinpress", "person", "cover"},
	"sigma_min": {"shifted", "plan", "coinpress", "friendly"},
	"sigma_max": {"shifted", "plan", "coinpress", "friendly"},
	"sigma":     {"shifted", "plan", "coinpress", "person", "friendly"},
	"rounds":    {"coinpress"},
	"moment":    {"person", "cover"},
	"sigma_k":   {"person", "cover"},
	"rows":      {"person", "cover"},
	"stages":    {"person"},
	"split":     {"person"},
	"histogram": {"person"},
	"persons":   {"cover"},
	"top":       {"friendly"},
}

// Scalar checks the options of a call whose argument is a number. method is what the session or the
// table chooses, where the call does not, for means of one number a person.
func (c *Call) Scalar(method string) error {
	f, o := c.Function, &c.Options
	methods := f.Methods && o.Weight == ByPerson
	if o.Method == "" && methods && slices.Contains(ofNumbers, method) {
		o.Method = method
	}
	if o.Method != "" && o.Method != "auto" && !(methods && slices.Contains(ofNumbers, o.Method)) {
		return optionError(f, "%s: method=%s is not for this: it is for the mean of vectors%s.", f.Name, o.Method,
			map[bool]string{true: ", or of one number a person"}[slices.Contains(ofNumbers, o.Method)])
	}
	for _, name := range o.Given {
		ms, ok := fits[name]
		switch {
		case name == "dimension" || name == "answer":
		case !ok || slices.Contains(f.OfNumbers, name):
			continue
		case methods && (slices.Contains(ms, o.Method) || c.automatic() && slices.Contains(ms, "person")):
			continue
		}
		return optionError(f, "%s: the option %s is for vectors, and the argument is a number.", f.Name, name)
	}
	if len(o.Sigma) > 1 {
		return optionError(f, "%s: sigma lists %d numbers for one.", f.Name, len(o.Sigma))
	}
	return nil
}

// ofNumbers are the methods of means that are for numbers, too.
var ofNumbers = []string{"person", "cover"}

// automatic reports whether the method is chosen from public facts.
func (c *Call) automatic() bool { return c.Options.Method == "" || c.Options.Method == "auto" }

// Vector makes the call one over vectors. method is what the session or the table chooses, where
// the call does not, for means; oneRow says that every person has one row at most.
func (c *Call) Vector(v Vectors, method string, oneRow bool) error {
	f, o := c.Function, &c.Options
	if f.Measure.Vectors == nil {
		return refuse.New(refuse.Aggregate, "%s of vectors has no meaning here.", f.Name).
			With("Use DP_MEAN, DP_SUM, DP_VARIANCE or DP_STDDEV, or one coordinate: %s(DP_VALUE(v, 1)%s).", f.Name, strings.Repeat(", …", f.MaxArgs-1))
	}
	if f.Weighed && o.Weight == ByRow && !oneRow {
		return refuse.New(refuse.Aggregate, "%s over the rows' vectors needs a table with one row a person.", f.Name).
			With("Use %s(v), which weighs every person once.", f.Private().Name)
	}
	if f.Methods && o.Method == "" {
		o.Method = method
	}
	if err := c.fitting(v); err != nil {
		return err
	}
	if shaped := []string{"", "auto", "plan", "friendly"}; f.Methods && !o.Has("sigma") && !o.Has("scale") && !o.Has("pairs") && !o.Rotate && !v.Sparse &&
		slices.Contains(shaped, o.Method) && (len(v.Scales) == 1 || len(v.Scales) == v.Dim) {
		o.Sigma = v.Scales
	}
	c.Vectors = &v
	return nil
}

// fitting checks that the options go with the method and the vectors.
func (c *Call) fitting(v Vectors) error {
	f, o := c.Function, &c.Options
	method := cmp.Or(o.Method, "auto")
	if !f.Methods && method != "auto" {
		return optionError(f, "%s: the only method is auto; the others are for DP_MEAN.", f.Name)
	}
	for _, name := range o.Given {
		methods, ok := fits[name]
		switch {
		case !ok:
		case !f.Methods:
			return optionError(f, "%s: the option %s is for DP_MEAN.", f.Name, name)
		case !fit(method, methods):
			from := ""
			if !o.Has("method") {
				from = ", which dp_method sets"
			}
			return optionError(f, "%s: the option %s does not fit method=%s%s; it is for %s.", f.Name, name, method, from, strings.Join(methods, ", "))
		}
	}
	pairs, sigma := o.Has("pairs"), o.Sigma != nil
	switch {
	case pairs && o.Has("scale") && o.Scale != vector.Pairs:
		return optionError(f, "%s: the option pairs needs scale=pairs.", f.Name)
	case o.Scale == vector.Declared && !sigma:
		return optionError(f, "%s: scale=declared needs sigma.", f.Name)
	case o.Scale == vector.Binary && !v.Sparse && (o.Lower == nil || o.Lower.Sign() != 0):
		return optionError(f, "%s: scale=binary is for DP_ONEHOT, and for vectors with lower=0.", f.Name)
	case sigma && len(o.Sigma) != 1 && len(o.Sigma) != v.Dim:
		return optionError(f, "%s: sigma lists %d numbers for vectors of length %d.", f.Name, len(o.Sigma), v.Dim)
	case v.Sparse && slices.Contains([]string{"person", "friendly", "cover"}, o.Method):
		return optionError(f, "%s: method=%s is not for DP_ONEHOT.", f.Name, o.Method)
	case v.Sparse && o.Has("lower"):
		return optionError(f, "%s: the coordinates of DP_ONEHOT are 0 and 1, without lower and upper.", f.Name)
	}
	return nil
}

// vectorParams are the public facts under which a vector's estimator is built.
func (c Call) vectorParams(p estimator.Params) vector.Params {
	o := c.Options
	v := vector.Params{
		Params: p, Dim: c.Vectors.Dim, Sparse: c.Vectors.Sparse, Method: vectorMethods[o.Method], P: o.P, Tail: o.Tail, Clip: o.Clip, Rotate: o.Rotate,
		Search: o.Search, Scale: o.Scale, Pairs: o.Pairs, Relative: c.relative(), Radius: o.Radius,
		SigmaMin: o.SigmaMin, SigmaMax: o.SigmaMax, Sigma: o.Sigma, Rounds: o.Rounds,
	}
	if !o.Has("scale") {
		switch {
		case o.Sigma != nil:
			v.Scale = vector.Declared
		case o.Has("pairs"):
			v.Scale = vector.Pairs
		case v.Sparse:
			v.Scale = vector.Binary
		}
	}
	return v
}

// relative reports whether the error of a coordinate is measured by its own spread: by default for
// columns, where the method can and nothing else is asked for.
func (c Call) relative() bool {
	o := c.Options
	if o.Has("relative") || !c.Vectors.Columns {
		return o.Relative
	}
	method := vectorMethods[o.Method]
	return (method == vector.Auto || method == vector.Plan) && !o.Rotate && !o.Has("p") && o.Scale != vector.Unscaled
}

// unanswerable turns an estimator's refusal of its parameters into one for clients.
func (c Call) unanswerable(err error) error {
	if err == nil || errors.Is(err, estimator.ErrNotPure) {
		return err // the planner says what is pure
	}
	_, cause, ok := strings.Cut(err.Error(), ": ") // without the package's name
	if !ok {
		cause = err.Error()
	}
	return refuse.New(refuse.Option, "%s cannot be answered so: %s.", c.Function.Name, cause).
		With("Leave the choice to method=auto, raise dp_epsilon, or ask for fewer coordinates.")
}
