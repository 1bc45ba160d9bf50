package collect

import (
	"slices"
	"strings"
)

// field is one key of a declaration.
type field struct {
	key string
	set func(d *Declaration) bool // whether it is there
}

// fields lists every key in the order of Declaration.
var fields = []field{
	{"epsilon", func(d *Declaration) bool { return d.Epsilon != 0 }},
	{"delta", func(d *Declaration) bool { return d.Delta != 0 }},
	{"n_expected", func(d *Declaration) bool { return d.Expected != 0 }},
	{"lo", func(d *Declaration) bool { return d.Lo != 0 }},
	{"hi", func(d *Declaration) bool { return d.Hi != 0 }},
	{"sigma", func(d *Declaration) bool { return d.Sigma != 0 }},
	{"sigma_min", func(d *Declaration) bool { return d.SigmaMin != 0 }},
	{"sigma_max", func(d *Declaration) bool { return d.SigmaMax != 0 }},
	{"levels", func(d *Declaration) bool { return d.Levels != 0 }},
	{"dimension", func(d *Declaration) bool { return d.Dimension != 0 }},
	{"radius", func(d *Declaration) bool { return d.Radius != 0 }},
	{"centre_norm", func(d *Declaration) bool { return d.Centre != 0 }},
	{"resolution", func(d *Declaration) bool { return d.Resolution != 0 }},
	{"null_default", func(d *Declaration) bool { return len(d.NullDefault) > 0 }},
	{"option", func(d *Declaration) bool { return d.Option != "" }},
	{"pays_epsilon", func(d *Declaration) bool { return d.Pays != 0 }},
	{"strata", func(d *Declaration) bool { return len(d.Strata) > 0 }},
	{"trust", func(d *Declaration) bool { return d.Trust != "" }},
	{"retry_of", func(d *Declaration) bool { return d.RetryOf != "" }},
}

// common are the keys of every protocol, shuffled those of every shuffle protocol besides.
var (
	common   = []string{"epsilon", "n_expected", "null_default", "strata"}
	shuffled = []string{"delta", "trust", "retry_of"}
	rotated  = []string{"dimension", "sigma_min", "sigma_max", "radius", "centre_norm", "resolution"}
)

// ownKeys are the keys of each protocol besides.
var ownKeys = map[Protocol][]string{
	LDPBit:   {"lo", "hi"},
	LDPKV2:   {"lo", "hi", "sigma"},
	LDPKV1:   {"lo", "hi", "sigma"},
	LDPUV2:   {"lo", "hi", "sigma_min", "sigma_max", "option"},
	LDPUV1:   {"lo", "hi", "sigma_min", "sigma_max"},
	LDPHier:  {"lo", "hi", "levels", "option"},
	LDPHaar:  {"lo", "hi", "levels"},
	LDPSCM3:  append([]string{"delta", "option", "pays_epsilon"}, rotated...),
	ShufSum:  {"lo", "hi"},
	ShufVec:  {"dimension", "radius"},
	ShufHier: {"lo", "hi", "levels"},
	ShufSCM3: rotated,
}

// options are the values of the key "option".
var options = map[Protocol][]string{
	LDPUV2:  {"laplace"},
	LDPHier: {"zcdp"},
	LDPSCM3: {"gauss", "zcdp"},
}

// Keys returns the keys of a protocol's declaration in the order of documentation; none for an unknown
// protocol.
func Keys(p Protocol) []string {
	info, ok := p.Info()
	if !ok {
		return nil
	}
	var keys []string
	for _, f := range fields {
		if slices.Contains(common, f.key) || slices.Contains(ownKeys[p], f.key) ||
			info.Model == Shuffle && slices.Contains(shuffled, f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// foreign returns the refusal of a key that the protocol does not have.
func foreign(p Protocol, key string) error {
	return bad("%s has no parameter %.40q.", p, key).With("Its parameters are %s.", strings.Join(Keys(p), ", "))
}

// checkForeign refuses fields that the protocol does not have.
func checkForeign(p Protocol, d *Declaration) error {
	keys := Keys(p)
	for _, f := range fields {
		if f.set(d) && !slices.Contains(keys, f.key) {
			return foreign(p, f.key)
		}
	}
	return nil
}
