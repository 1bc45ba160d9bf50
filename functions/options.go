package functions

import (
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"scrim/internal/refuse"
)

// Options are the checked options of one call. Zero values mean that the option was not given.
type Options struct {
	Lower, Upper *big.Rat // declared bounds of a row's value, both or neither
	Weight       Weight
	Epsilon      float64 // this aggregate's own ε
	Rho          float64 // this aggregate's own ρ
	Method       string
}

// Option documents one option key.
type Option struct {
	Name    string
	Values  string
	Default string
	Doc     string
	set     func(*Options, string) bool
}

// optionTable lists the options by name.
var optionTable = []Option{
	{"lower", "a number", "none", "Declared lower bound of x; rows under it count as it. With upper.", func(o *Options, v string) bool { return bound(&o.Lower, v) }},
	{"upper", "a number", "none", "Declared upper bound of x; rows above it count as it. With lower.", func(o *Options, v string) bool { return bound(&o.Upper, v) }},
	{"weight", "person or row", "person", "What counts once.", func(o *Options, v string) bool {
		switch strings.ToLower(v) {
		case "person":
			o.Weight = ByPerson
		case "row":
			o.Weight = ByRow
		default:
			return false
		}
		return true
	}},
	{"method", "auto", "auto", "The mechanism: auto chooses from public facts.", func(o *Options, v string) bool {
		o.Method = strings.ToLower(v)
		return o.Method == "auto"
	}},
	{"epsilon", "a number from 1e-6 to 100", "its part of dp_epsilon", "What this aggregate costs, at dp_delta.", func(o *Options, v string) bool { return within(&o.Epsilon, v, 1e-6, 100) }},
	{"rho", "a number from 1e-12 to 100", "its part of dp_rho", "What this aggregate costs, as zCDP.", func(o *Options, v string) bool { return within(&o.Rho, v, 1e-12, 100) }},
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

// within reads a decimal number of a closed range. Words such as NaN and hexadecimal forms are none.
func within(dst *float64, v string, lo, hi float64) bool {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || strings.Trim(v, "+-.0123456789eE") != "" || math.IsNaN(f) || !(f >= lo && f <= hi) {
		return false
	}
	*dst = f
	return true
}

// ParseOptions reads "key=value, key=value". Keys are case-insensitive. Unknown and repeated keys,
// and values out of range, are refused with the list of what is valid.
func ParseOptions(f *Function, text string) (Options, error) {
	o := Options{Weight: f.Weight}
	seen := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
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
		case seen[key]:
			return o, optionError(f, "%s: the option %.40q is given twice.", f.Name, key)
		case !opt.set(&o, value):
			return o, optionError(f, "%s: the option %s takes %s, not %.40q.", f.Name, key, opt.Values, value)
		}
		seen[key] = true
	}
	switch {
	case seen["lower"] != seen["upper"]:
		return o, optionError(f, "%s: lower and upper go together.", f.Name)
	case seen["lower"] && o.Lower.Cmp(o.Upper) >= 0:
		return o, optionError(f, "%s: lower must be under upper.", f.Name)
	case seen["epsilon"] && seen["rho"]:
		return o, optionError(f, "%s: epsilon and rho exclude each other.", f.Name)
	}
	return o, nil
}

func (f *Function) option(key string) (Option, bool) {
	for _, name := range f.Options {
		if name == key {
			return documented(name), true
		}
	}
	return Option{}, false
}

// documented returns the documentation of an option that a function lists.
func documented(name string) Option {
	for _, o := range optionTable {
		if o.Name == name {
			return o
		}
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
