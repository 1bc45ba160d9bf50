package catalog

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"scrim/internal/refuse"
)

// setting is one key of dp_set_defaults.
type setting struct {
	lo, hi float64
	whole  bool
	want   string
	set    func(*Defaults, float64)
	word   func(*Defaults, string) bool // of a key that takes a word instead
}

// settings are the keys that SetDefaults knows. The ranges of the session parameters are those that
// SET accepts; the others keep nonsense out.
var settings = map[string]setting{
	"dp_epsilon":                {1e-6, 100, false, "a number from 1e-6 to 100", func(d *Defaults, v float64) { d.Epsilon = v }, nil},
	"dp_delta":                  {1e-30, 1e-3, false, "a number from 1e-30 to 0.001", func(d *Defaults, v float64) { d.Delta = v }, nil},
	"dp_rho":                    {1e-12, 1000, false, "a number from 1e-12 to 1000", func(d *Defaults, v float64) { d.Rho = v }, nil},
	"max_epsilon":               {1e-6, 100, false, "a number from 1e-6 to 100", func(d *Defaults, v float64) { d.MaxEpsilon = v }, nil},
	"dp_max_groups_contributed": {1, 100_000, true, "a whole number from 1 to 100000", func(d *Defaults, v float64) { d.MaxGroups = int(v) }, nil},
	"max_rows_per_unit":         {1, 1 << 30, true, "a whole number from 1 to 1073741824", func(d *Defaults, v float64) { d.MaxRowsPerUnit = int64(v) }, nil},
	"min_group_units":           {1, 1 << 30, true, "a whole number from 1 to 1073741824", func(d *Defaults, v float64) { d.MinimumGroupUnits = int(v) }, nil},
	"max_persons":               {1, 1 << 40, true, "a whole number from 1 to 1099511627776", func(d *Defaults, v float64) { d.MaxPersons = int64(v) }, nil},
	"dp_group_by": {0, 0, false, "auto, vector or separate", nil, func(d *Defaults, v string) bool {
		d.GroupBy = strings.ToLower(v)
		return slices.Contains([]string{"auto", "vector", "separate"}, d.GroupBy)
	}},
	"dp_share_replays": {0, 0, false, "on or off", nil, func(d *Defaults, v string) bool {
		d.ShareReplays = strings.EqualFold(v, "on")
		return d.ShareReplays || strings.EqualFold(v, "off")
	}},
	"dp_method": {0, 0, false, "auto, clipped, shifted, plan, coinpress, person, friendly or cover", nil, func(d *Defaults, v string) bool {
		d.Method = strings.ToLower(v)
		return slices.Contains([]string{"auto", "clipped", "shifted", "plan", "coinpress", "person", "friendly", "cover"}, d.Method)
	}},
}

// DefaultKeys lists the keys of dp_set_defaults with the values that each takes, sorted by key.
func DefaultKeys() [][2]string {
	var out [][2]string
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, [2]string{k, settings[k].want})
	}
	return out
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
	if s.word != nil {
		text, ok := value.(string)
		if on, is := value.(bool); is {
			text, ok = map[bool]string{true: "on", false: "off"}[on], true
		}
		return ok && s.word(d, text)
	}
	v, ok := finite(value)
	if !ok || v < s.lo || v > s.hi || s.whole && v != math.Trunc(v) {
		return false
	}
	s.set(d, v)
	return true
}

// ParseDefaults reads the JSON form of Defaults. Every error is a refusal that says what is valid.
func ParseDefaults(text string) (Defaults, error) {
	bad := func(format string, args ...any) (Defaults, error) {
		return Defaults{}, refuse.New(refuse.Policy, "The defaults "+format, args...).
			With("Use a JSON object with the keys %s.", strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
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
		s, ok := settings[k]
		if !ok {
			return bad("have the unknown key %s.", quoted(k))
		}
		if !s.take(&d, m[k]) {
			return Defaults{}, refuse.New(refuse.Policy, "The default %s has a value that is not valid.", k).With("Use %s.", s.want)
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
