package collect

import (
	"reflect"
	"slices"
	"strings"
)

// field is one key of a declaration.
type field struct {
	key   string
	place int // of the struct's field
}

// fields lists every key in the order of Declaration, whose JSON names they are.
var fields = func() (all []field) {
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Declaration]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, field{key, i})
	}
	return all
}()

// of returns the value of the key in a declaration.
func (f field) of(d *Declaration) reflect.Value { return reflect.ValueOf(d).Elem().Field(f.place) }

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

// Keys returns the keys of a protocol's declaration in the order of documentation; none for an
// unknown protocol.
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
		if !f.of(d).IsZero() && !slices.Contains(keys, f.key) {
			return foreign(p, f.key)
		}
	}
	return nil
}
