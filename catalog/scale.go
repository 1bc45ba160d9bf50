package catalog

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"scrim/internal/refuse"
)

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
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return bad("is not JSON.")
	}
	if _, err := dec.Token(); err != io.EOF {
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
