package functions

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"scrim/engine/estimator/person"
	"scrim/engine/estimator/vector"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// Options are the checked options of one call. Zero values mean that the option was not given,
// where zero is not a value of the option; Given tells for the others.
type Options struct {
	Given []string // names of the options that were given, sorted
	// declared bounds of a row's value or of every coordinate, both or neither
	Lower, Upper *big.Rat
	Weight       Weight
	Epsilon      float64 // this aggregate's own ε
	Rho          float64 // this aggregate's own ρ
	Method       string  // in lower case; "" where it is left to the session and the table

	// Of vectors; see vector.Params.
	Dimension          int
	P                  float64
	Tail               vector.Tail
	Clip               vector.Clip
	Rotate, Relative   bool
	Search             vector.Search // of quantiles of scalars, too
	Scale              vector.Scale
	Pairs, Rounds      int
	Radius             float64
	SigmaMin, SigmaMax float64
	Sigma              []float64 // one for all coordinates, or one for each

	// Of persons with many rows; see person.Params and cover.Params.
	Moment, Rows, SigmaK float64
	Error, Pilot         float64
	Stages               person.Stages
	Split                person.Split
	Stable               bool // the coarse estimate is a stability histogram's
	Persons              int
	Top                  int // see friendly.Params

	Values int // most distinct values of a person that count; 0: chosen privately
	// most results, or most of a sum, that one of several owners counts for; 0: chosen privately
	Cap float64

	Binary bool // the answer is a VECTOR, not a JSON array
}

// Has reports whether an option was given.
func (o *Options) Has(name string) bool { return slices.Contains(o.Given, name) }

// Option documents one option key.
type Option struct {
	Name    string
	Values  string
	Default string
	Doc     string
	set     func(*Options, string) bool
}

// MaxDimension bounds the length of vectors: the store's arrays have at most 100000 elements.
const MaxDimension = 100_000

// MaxOnehot bounds the length of sparse vectors, which are never written out.
const MaxOnehot = 1 << 20

// optionTable lists the options by name.
var optionTable = []Option{
	{"lower", "a number", "none", "Declared lower bound of x, or of every coordinate; what is under it counts as it. With upper.", func(o *Options, v string) bool { return bound(&o.Lower, v) }},
	{"upper", "a number", "none", "Declared upper bound of x, or of every coordinate; what is above it counts as it. With lower.", func(o *Options, v string) bool { return bound(&o.Upper, v) }},
	{"weight", "person or row", "person", "What counts once.", func(o *Options, v string) bool {
		return word(&o.Weight, v, map[string]Weight{"person": ByPerson, "row": ByRow})
	}},
	{params.Method.Option, params.Method.Want(), "dp_method, else auto", "The mechanism of a mean: auto chooses from public facts; person and cover are for numbers, too, the others for vectors. Of other answers: auto.", func(o *Options, v string) bool {
		m, ok := params.Method.Word(v)
		o.Method = m.Word
		return ok
	}},
	{"p", "a number from 1 to 100", "2; 1 for DP_ONEHOT", "The norm of the error that plan makes small.", func(o *Options, v string) bool { return within(&o.P, v, 1, 100) }},
	{"tail", "optimal or sqrt_n", "optimal", "Where a vector counts as an outlier: so that the error of the mean of the data is least, or beyond all but √n persons, for light-tailed data.", func(o *Options, v string) bool {
		return word(&o.Tail, v, map[string]vector.Tail{"optimal": vector.Optimal, "sqrt_n": vector.SqrtN})
	}},
	{"clip", "counts or tails", "counts", "How the radius beyond which a vector is shortened is found: from noisy counts of the lengths, or by a search that asks how many are beyond one radius after another.", func(o *Options, v string) bool {
		return word(&o.Clip, v, map[string]vector.Clip{"counts": vector.Counts, "tails": vector.Tails})
	}},
	{"rotate", "on or off", "off", "Whether shifted rotates the vectors first, by random signs and a Walsh-Hadamard transform.", func(o *Options, v string) bool { return onOff(&o.Rotate, v) }},
	{"quantile", "search or em", "em; search in a mean of vectors", "How a quantile is found: by noisy counts, or by the exponential mechanism, whose rank error is half of theirs or less.", func(o *Options, v string) bool {
		return word(&o.Search, v, map[string]vector.Search{"search": vector.Bisect, "em": vector.Exponential})
	}},
	{"scale", "direct, pairs, declared, none or binary", "declared with sigma, pairs with pairs, binary for DP_ONEHOT, else direct", "How plan finds the spread of a coordinate: from the distances to the centre, from differences of secretly paired persons, from sigma, not at all, or as that of a bit.", func(o *Options, v string) bool {
		return word(&o.Scale, v, scales)
	}},
	{"pairs", "a whole number from 1 to 64", "1", "Pairs of persons in one difference, for scale=pairs.", func(o *Options, v string) bool { return whole(&o.Pairs, v, 64) }},
	{"radius", "a number from 1e-9 to 1e18", "none", "Declared bound on the length of the mean vector.", func(o *Options, v string) bool { return within(&o.Radius, v, 1e-9, 1e18) }},
	{"sigma_min", "a number from 1e-9 to 1e18", "none", "Declared least standard deviation of a coordinate.", func(o *Options, v string) bool { return within(&o.SigmaMin, v, 1e-9, 1e18) }},
	{"sigma_max", "a number from 1e-9 to 1e18", "none", "Declared greatest standard deviation of a coordinate.", func(o *Options, v string) bool { return within(&o.SigmaMax, v, 1e-9, 1e18) }},
	{"sigma", "a number from 1e-9 to 1e18, or [a list of them], one for each coordinate", "none", "Declared standard deviations of the coordinates.", func(o *Options, v string) bool { return numbers(&o.Sigma, v, 1e-9, 1e18) }},
	{"moment", "a number from 2 to 100", "4", "The central moment of a row that is bounded, for person and cover.", func(o *Options, v string) bool { return within(&o.Moment, v, 2, 100) }},
	{"sigma_k", "a number from 1e-9 to 1e18", "that of normal rows", "Declared bound on the k-th root of a row's k-th central moment, for person and cover.", func(o *Options, v string) bool { return within(&o.SigmaK, v, 1e-9, 1e18) }},
	{"rows", "a number from 1 to 1e12", "learnt privately; 1 for cover", "The number of rows that persons have, for person and cover. One who has fewer is clipped more, whatever is said here.", func(o *Options, v string) bool { return within(&o.Rows, v, 1, 1e12) }},
	{"stages", "full, threaded or single", "full", "How often person narrows the range before the last noise.", func(o *Options, v string) bool {
		return word(&o.Stages, v, map[string]person.Stages{"full": person.Full, "threaded": person.Threaded, "single": person.Single})
	}},
	{"split", "loss or persons", "loss", "What the stages of person share: the loss, each with all persons, or the persons.", func(o *Options, v string) bool {
		return word(&o.Split, v, map[string]person.Split{"loss": person.Loss, "persons": person.Persons})
	}},
	{"histogram", "em or stability", "em", "How person finds the coarse range of a coordinate: by the exponential mechanism over the public range, or by a stability histogram, which takes half of dp_delta: the chance that it shows where one person alone is.", func(o *Options, v string) bool {
		return word(&o.Stable, v, map[string]bool{"em": false, "stability": true})
	}},
	{"persons", "a whole number from 1 to 1000000", "none", "The public number of persons, for cover: what it takes follows from it.", func(o *Options, v string) bool { return whole(&o.Persons, v, 1_000_000) }},
	{params.TargetError.Option, params.TargetError.Want(), "dp_target_error", "The error that is wanted, in the place of a cost: the standard deviation of the noise of each number of the answer. With method=cover: what it aims at, at the cost given.", func(o *Options, v string) bool { return parameter(&o.Error, v, params.TargetError) }},
	{params.Pilot.Option, params.Pilot.Want(), "dp_pilot", "With error: the share of the statement's usual cost that a first run may be charged, where only an answer tells what an error costs.", func(o *Options, v string) bool { return parameter(&o.Pilot, v, params.Pilot) }},
	{"values", "a whole number from 1 to 1000000", "chosen privately", "Of DP_COUNT(DISTINCT x): for how many values one person counts at most.", func(o *Options, v string) bool { return whole(&o.Values, v, 1_000_000) }},
	{"cap", "a number from 1e-9 to 1e15", "chosen privately", "Of DP_COUNT and DP_SUM over rows that belong to two persons, as those of a join off the unit: for how many rows, or how much of the sum, one person counts at most.", func(o *Options, v string) bool { return within(&o.Cap, v, 1e-9, 1e15) }},
	{"top", "a whole number from 1 to 100000", "as many as the persons allow", "How many of the largest spreads friendly learns, where none are declared.", func(o *Options, v string) bool { return whole(&o.Top, v, MaxDimension) }},
	{"rounds", "a whole number from 1 to 16", "4", "Rounds of coinpress.", func(o *Options, v string) bool { return whole(&o.Rounds, v, 16) }},
	{"relative", "on or off", "on for DP_VECTOR, unless p, rotate or scale=none is given; else off", "Whether plan makes the error of a coordinate small beside its own spread: for coordinates that are different things.", func(o *Options, v string) bool { return onOff(&o.Relative, v) }},
	{"dimension", "a whole number from 1 to 100000, for DP_ONEHOT to 1048576", "the length of the array's type", "The length of the vectors, where the type does not say it: of lists, JSON and text.", func(o *Options, v string) bool { return whole(&o.Dimension, v, MaxOnehot) }},
	{"answer", "json or vector", "json", "The type of a vector's answer: a JSON array, or VECTOR, which has single precision.", func(o *Options, v string) bool {
		return word(&o.Binary, v, map[string]bool{"json": false, "vector": true})
	}},
	{params.Epsilon.Option, params.Epsilon.Want(), "its part of dp_epsilon", "What this aggregate costs, at dp_delta.", func(o *Options, v string) bool { return parameter(&o.Epsilon, v, params.Epsilon) }},
	{params.Rho.Option, params.Rho.Want(), "its part of dp_rho", "What this aggregate costs, as zCDP.", func(o *Options, v string) bool { return parameter(&o.Rho, v, params.Rho) }},
}

// vectorMethods are those of package vector.
var vectorMethods = map[string]vector.Method{
	"": vector.Auto, "auto": vector.Auto, "clipped": vector.Clipped, "shifted": vector.Shifted, "plan": vector.Plan, "coinpress": vector.Coinpress,
}

var scales = map[string]vector.Scale{
	"direct": vector.Direct, "pairs": vector.Pairs, "declared": vector.Declared, "none": vector.Unscaled, "binary": vector.Binary,
}

// maxBound keeps declared bounds inside what every grid can hold.
var maxBound = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 62))

func bound(dst **big.Rat, v string) bool {
	if len(v) > 40 || strings.ContainsAny(v, "/_xXpP") {
		return false
	}
	if i := strings.IndexAny(v, "eE"); i >= 0 && len(v)-i > 4 {
		return false
	}
	r, ok := new(big.Rat).SetString(v)
	if !ok || new(big.Rat).Abs(r).Cmp(maxBound) > 0 {
		return false
	}
	*dst = r
	return true
}

// within reads a decimal number of a closed range. Words such as NaN and hexadecimal forms are
// none.
func within(dst *float64, v string, lo, hi float64) bool {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || strings.Trim(v, "+-.0123456789eE") != "" || math.IsNaN(f) || !(f >= lo && f <= hi) {
		return false
	}
	*dst = f
	return true
}

// parameter reads a decimal number that a parameter takes.
func parameter(dst *float64, v string, p *params.Parameter) bool { return within(dst, v, p.Min, p.Max) }

// whole reads a whole number from 1 to hi.
func whole(dst *int, v string, hi int) bool {
	n, err := strconv.Atoi(v)
	if err != nil || strings.Trim(v, "0123456789") != "" || n < 1 || n > hi {
		return false
	}
	*dst = n
	return true
}

// numbers reads one number, or a list of numbers in brackets.
func numbers(dst *[]float64, v string, lo, hi float64) bool {
	parts := []string{v}
	if list, ok := strings.CutPrefix(v, "["); ok {
		if list, ok = strings.CutSuffix(list, "]"); !ok {
			return false
		}
		parts = strings.Split(list, ",")
	}
	out := make([]float64, len(parts))
	for i, p := range parts {
		if !within(&out[i], strings.TrimSpace(p), lo, hi) {
			return false
		}
	}
	*dst = out
	return true
}

// word reads one of a set of words, in any case.
func word[T any](dst *T, v string, words map[string]T) bool {
	x, ok := words[strings.ToLower(v)]
	if ok {
		*dst = x
	}
	return ok
}

func onOff(dst *bool, v string) bool { return word(dst, v, map[string]bool{"on": true, "off": false}) }

// ParseOptions reads "key=value, key=value"; a value in brackets may hold commas. Keys are
// case-insensitive. Unknown and repeated keys, and values out of range, are refused with the list
// of what is valid.
func ParseOptions(f *Function, text string) (Options, error) {
	o := Options{Weight: f.Weight}
	for _, part := range split(text) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !ok {
			return o, optionError(f, "%s: the option %.40q is not of the form key=value.", f.Name, strings.TrimSpace(part))
		}
		opt, ok := f.option(key)
		switch {
		case !ok:
			return o, optionError(f, "%s has no option %.40q.", f.Name, key)
		case o.Has(key):
			return o, optionError(f, "%s: the option %.40q is given twice.", f.Name, key)
		case !opt.set(&o, value):
			return o, optionError(f, "%s: the option %s takes %s, not %.40q.", f.Name, key, opt.Values, value)
		}
		o.Given = append(o.Given, key)
	}
	sort.Strings(o.Given)
	return o, o.agree(f)
}

// split cuts a text at the commas outside brackets.
func split(text string) []string {
	var parts []string
	from, depth := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth <= 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// agree checks the options against each other.
func (o *Options) agree(f *Function) error {
	switch {
	case o.Has("lower") != o.Has("upper"):
		return optionError(f, "%s: lower and upper go together.", f.Name)
	case o.Has("lower") && o.Lower.Cmp(o.Upper) >= 0:
		return optionError(f, "%s: lower must be under upper.", f.Name)
	case o.Has("error") && o.Method != "cover" && (o.Has("epsilon") || o.Has("rho")):
		return optionError(f, "%s: error and a cost, epsilon or rho, exclude each other.", f.Name)
	case o.Has("epsilon") && o.Has("rho"):
		return optionError(f, "%s: epsilon and rho exclude each other.", f.Name)
	case o.SigmaMin > 0 && o.SigmaMax > 0 && o.SigmaMin > o.SigmaMax:
		return optionError(f, "%s: sigma_min must be at most sigma_max.", f.Name)
	}
	return nil
}

func (f *Function) option(key string) (Option, bool) {
	if slices.Contains(f.Options, key) {
		return documented(key), true
	}
	return Option{}, false
}

// documented returns the documentation of an option that a function lists.
func documented(name string) Option {
	if o, ok := lists.Find(optionTable, func(o Option) bool { return o.Name == name }); ok {
		return o
	}
	panic("functions: option not in table: " + name)
}

func optionError(f *Function, format string, args ...any) error {
	if len(f.Options) == 0 {
		return refuse.New(refuse.Option, format, args...).With("%s takes no options; its DP form does.", f.Name)
	}
	valid := append([]string(nil), f.Options...)
	sort.Strings(valid)
	return refuse.New(refuse.Option, format, args...).With("Valid options of %s: %s; see SELECT * FROM dp.functions.", f.Name, strings.Join(valid, ", "))
}
