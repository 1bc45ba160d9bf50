package catalog

import (
	"encoding/json"
	"io"
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
	at := slices.IndexFunc(settings, func(s setting) bool { return s.Name == key })
	if at < 0 {
		return setting{}, false
	}
	return settings[at], true
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
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil || m == nil {
		return bad("are not a JSON object.")
	}
	if _, err := dec.Token(); err != io.EOF {
		return bad("have text after the JSON object.")
	}
	if repeated(text) {
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
