// Package named reads names with parameters, KIND:key=value,…, and writes them in a canonical form.
package named

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Name is a parsed KIND:key=value,… Every parameter that is read is noted with the value used, so
// that the canonical form shows all of them and unknown ones are found.
type Name struct {
	Kind     string
	given    map[string]string
	used     map[string]string
	problems []string
}

// Parse splits a name. A key comes once.
func Parse(text string) (*Name, error) {
	kind, list, _ := strings.Cut(text, ":")
	n := &Name{Kind: kind, given: map[string]string{}, used: map[string]string{}}
	for pair := range strings.SplitSeq(list, ",") {
		if pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := n.given[key]; !ok || twice {
			return nil, fmt.Errorf("%q: want key=value once for each key, have %q", text, pair)
		}
		n.given[key] = value
	}
	return n, nil
}

// Float returns a parameter within [lo, hi].
func (n *Name) Float(key string, preset, lo, hi float64) float64 {
	text, ok := n.given[key]
	x := preset
	if ok {
		var err error
		if x, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(x) || x < lo || x > hi {
			n.problems = append(n.problems, fmt.Sprintf("%s=%s: want a number from %g to %g", key, text, lo, hi))
			x = preset
		}
	}
	n.used[key] = strconv.FormatFloat(x, 'g', -1, 64)
	return x
}

// Int returns an integer parameter within [lo, hi].
func (n *Name) Int(key string, preset, lo, hi int) int {
	x := n.Float(key, float64(preset), float64(lo), float64(hi))
	if x != math.Trunc(x) {
		n.problems = append(n.problems, fmt.Sprintf("%s=%v: want an integer", key, x))
	}
	n.used[key] = strconv.Itoa(int(x))
	return int(x)
}

// Word returns a parameter that is a plain word: no path, and one of a list if there is one.
func (n *Name) Word(key, preset string, list ...string) string {
	x, ok := n.given[key]
	if !ok {
		x = preset
	}
	switch {
	case x == "" || strings.ContainsAny(x, `/\`):
		n.problems = append(n.problems, fmt.Sprintf("%s=%s: want a word", key, x))
	case len(list) > 0 && !slices.Contains(list, x):
		n.problems = append(n.problems, fmt.Sprintf("%s=%s: want one of %s", key, x, strings.Join(list, ", ")))
	}
	n.used[key] = x
	return x
}

// Index returns the place of a plain word in a list whose first is the preset.
func (n *Name) Index(key string, list ...string) int {
	return max(0, slices.Index(list, n.Word(key, list[0], list...)))
}

// OK reports whether everything read so far was right.
func (n *Name) OK() bool { return n.problems == nil }

// Check reports parameters that are wrong or that nothing has read.
func (n *Name) Check() error {
	for _, key := range slices.Sorted(maps.Keys(n.given)) {
		if _, ok := n.used[key]; !ok {
			n.problems = append(n.problems, fmt.Sprintf("no parameter %q; there are %s", key, strings.Join(slices.Sorted(maps.Keys(n.used)), ", ")))
		}
	}
	if n.problems == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", n.Kind, strings.Join(n.problems, "; "))
}

// String is the canonical form: the kind with all parameters, by key.
func (n *Name) String() string {
	pairs := make([]string, 0, len(n.used))
	for _, key := range slices.Sorted(maps.Keys(n.used)) {
		pairs = append(pairs, key+"="+n.used[key])
	}
	if len(pairs) == 0 {
		return n.Kind
	}
	return n.Kind + ":" + strings.Join(pairs, ",")
}
