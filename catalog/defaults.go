package catalog

import (
	"maps"
	"slices"
	"strings"

	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// setting is one key of dp_set_defaults.
type setting struct {
	*params.Parameter
	set func(*Defaults, params.Value)
}

// settings are the keys that SetDefaults knows.
var settings = []setting{
	{params.Epsilon, func(d *Defaults, v params.Value) { d.Epsilon = v.Number }},
	{params.Delta, func(d *Defaults, v params.Value) { d.Delta = v.Number }},
	{params.Rho, func(d *Defaults, v params.Value) { d.Rho = v.Number }},
	{params.MaxEpsilon, func(d *Defaults, v params.Value) { d.MaxEpsilon = v.Number }},
	{params.MaxGroups, func(d *Defaults, v params.Value) { d.MaxGroups = int(v.Number) }},
	{params.MaxRowsPerUnit, func(d *Defaults, v params.Value) { d.MaxRowsPerUnit = int64(v.Number) }},
	{params.MinGroupUnits, func(d *Defaults, v params.Value) { d.MinimumGroupUnits = int(v.Number) }},
	{params.MaxPersons, func(d *Defaults, v params.Value) { d.MaxPersons = int64(v.Number) }},
	{params.GroupBy, func(d *Defaults, v params.Value) { d.GroupBy = v.Word }},
	{params.Method, func(d *Defaults, v params.Value) { d.Method = v.Word }},
	{params.ShareReplays, func(d *Defaults, v params.Value) { d.ShareReplays = v.On() }},
}

// settingOf finds a key.
func settingOf(key string) (setting, bool) {
	return lists.Find(settings, func(s setting) bool { return s.Name == key })
}

// keyNames lists the keys for a refusal.
func keyNames() string {
	names := lists.Map(settings, func(s setting) string { return s.Name })
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// SetDefaults replaces the defaults of a table by those of a JSON object such as
// {"dp_epsilon":0.5,"dp_max_groups_contributed":3}; {} removes them all.
func (c *Catalog) SetDefaults(schema Schema, table, text string) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	d, err := ParseDefaults(text)
	if err != nil {
		return err
	}
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		if t.Defaults == d {
			return false, nil
		}
		t.Defaults = d
		s.put(t)
		return true, nil
	})
}

// take sets the key from a JSON value; false where that is not valid.
func (s setting) take(d *Defaults, value any) bool {
	v, ok := s.read(value)
	if ok {
		s.set(d, v)
	}
	return ok
}

// read reads a JSON value: a number, a word, or true and false for a switch.
func (s setting) read(value any) (params.Value, bool) {
	switch x := value.(type) {
	case bool:
		return s.Switch(x)
	case string:
		return s.Word(x)
	}
	f, ok := finite(value)
	if !ok {
		return params.Value{}, false
	}
	return s.Number(f)
}

// ParseDefaults reads the JSON form of Defaults. Every error is a refusal that says what is valid.
func ParseDefaults(text string) (Defaults, error) {
	bad := func(format string, args ...any) (Defaults, error) {
		return Defaults{}, refuse.New(refuse.Policy, "The defaults "+format, args...).
			With("Use a JSON object with the keys %s.", keyNames())
	}
	if len(text) > 64<<10 {
		return bad("are longer than 65536 bytes.")
	}
	var m map[string]any
	switch alone, err := readJSON(text, &m); {
	case err != nil || m == nil:
		return bad("are not a JSON object.")
	case !alone:
		return bad("have text after the JSON object.")
	case repeated(text):
		return bad("name a key twice.")
	}
	var d Defaults
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s, ok := settingOf(k)
		if !ok {
			return bad("have the unknown key %s.", quoted(k))
		}
		if !s.take(&d, m[k]) {
			return Defaults{}, refuse.New(refuse.Policy, "The default %s has a value that is not valid.", k).With("Use %s.", s.Want())
		}
	}
	switch {
	case d.Epsilon > 0 && d.Rho > 0:
		return bad("set both dp_epsilon and dp_rho, which say the same in two ways.")
	case d.MaxEpsilon > 0 && d.Epsilon > d.MaxEpsilon:
		return bad("set dp_epsilon to %v, above max_epsilon %v.", d.Epsilon, d.MaxEpsilon)
	}
	return d, nil
}

const (
	maxScales    = 100_000
	maxScaleJSON = 8 << 20
	scaleForms   = "Use a number above 0, or an array of one for each coordinate, for example [2.5, 0.1]; null removes it."
)

// SetScale declares the public standard deviations of a column of vectors or numbers: one for all
// coordinates, or a JSON array of one for each. JSON null removes them. They decide how noise is
// shared between coordinates, never what an answer costs: wrong ones make answers worse. They are
// public: they must be known without looking at the data.
func (c *Catalog) SetScale(schema Schema, table, column, text string) error {
	name, err := existing(schema, table)
	if err != nil {
		return err
	}
	col, err := columnOf(schema, name, column)
	if err != nil {
		return err
	}
	scales, err := ParseScale(text)
	if err != nil {
		return err
	}
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		if slices.Equal(t.Scales[col], scales) {
			return false, nil
		}
		all := maps.Clone(t.Scales)
		if all == nil {
			all = map[string][]float64{}
		}
		if all[col] = scales; scales == nil {
			delete(all, col)
		}
		t.Scales = all
		s.put(t)
		return true, nil
	})
}

// ParseScale reads the JSON form of a column's scales; nil for null. Every error is a refusal that
// shows the valid forms.
func ParseScale(text string) ([]float64, error) {
	bad := func(format string, args ...any) ([]float64, error) {
		return nil, refuse.New(refuse.Policy, "The scale "+format, args...).With("%s", scaleForms)
	}
	if len(text) > maxScaleJSON {
		return bad("is longer than %d bytes.", maxScaleJSON)
	}
	var v any
	switch alone, err := readJSON(text, &v); {
	case err != nil:
		return bad("is not JSON.")
	case !alone:
		return bad("has text after the JSON value.")
	}
	var list []any
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		list = x
	default:
		list = []any{x}
	}
	if len(list) == 0 || len(list) > maxScales {
		return bad("has %d numbers, not 1 to %d.", len(list), maxScales)
	}
	out := make([]float64, len(list))
	for i, x := range list {
		f, ok := finite(x)
		if !ok || !validScale(f) {
			return bad("is not made of numbers from 1e-9 to 1e18.")
		}
		out[i] = f
	}
	return out, nil
}

func validScale(f float64) bool { return f >= 1e-9 && f <= 1e18 }
