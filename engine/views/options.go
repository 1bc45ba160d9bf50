package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"scrim/internal/params"
	"scrim/internal/refuse"
)

// Loss is what a definition may cost.
type Loss struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Rho     float64 `json:"rho,omitempty"` // in place of Epsilon
	Delta   float64 `json:"delta,omitempty"`
}

// check refuses a loss that is not one; of says what it is the loss of.
func (l Loss) check(of string) error {
	switch {
	case (l.Epsilon == 0) == (l.Rho == 0):
		return refuse.New(refuse.View, "The options of %s want either epsilon or rho.", of)
	case !within(l.Epsilon, params.Epsilon) || !within(l.Rho, params.Rho) || !within(l.Delta, params.Delta):
		return refuse.New(refuse.View, "The options of %s want an %s, %s or %s within its range.", of, params.Epsilon.Name, params.Rho.Name, params.Delta.Name)
	}
	return nil
}

// Options say what a view may cost and which marginals it is for.
type Options struct {
	Loss
	Ways int `json:"ways,omitempty"` // marginals of up to so many dimensions; 0: of all
	// Marginals are those that are asked for, in the place of Ways, by the names of dimensions.
	Marginals [][]string `json:"marginals,omitempty"`
	// Ranges names dimensions along which sums over intervals have little noise.
	Ranges  []string `json:"ranges,omitempty"`
	Refresh Every    `json:"refresh,omitempty"` // "": only when somebody asks for it
}

// ParseOptions reads options as JSON.
func ParseOptions(text string) (Options, error) {
	var o Options
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	switch {
	case err != nil || d.More():
		return o, notOptions("The options of a view are no JSON object of epsilon, rho, delta, refresh, ranges, and ways or marginals.")
	case o.Ways < 0 || o.Ways > 0 && o.Marginals != nil:
		return o, notOptions("The options of a view want ways of 1 or more, or marginals, and not both.")
	case o.Ranges != nil && len(o.Ranges) == 0:
		return o, notOptions("The options of a view want one dimension in ranges or more.")
	case o.Marginals != nil && len(o.Marginals) == 0:
		return o, notOptions("The options of a view want one of the marginals or more.")
	}
	if err := o.Refresh.check(); err != nil {
		return o, err
	}
	return o, o.Loss.check("a view")
}

// sets are the marginals by places of dimensions.
func (o Options) sets(columns []defined) ([][]int, error) {
	var out [][]int
	seen := map[string]bool{}
	for _, names := range o.Marginals {
		set, ok := placesOf(names, columns)
		if !ok {
			return nil, notOptions("The marginal (%.200s) does not name dimensions of the view, each once.", strings.Join(names, ", "))
		}
		text := fmt.Sprint(set)
		if len(set) == 0 || seen[text] {
			return nil, notOptions("The marginal (%.200s) is empty, or there twice.", strings.Join(names, ", "))
		}
		seen[text] = true
		out = append(out, set)
	}
	return out, nil
}

// ranges are the dimensions of ranges, by places.
func (o Options) ranges(columns []defined) ([]int, error) {
	places, ok := placesOf(o.Ranges, columns)
	if !ok {
		return nil, notOptions("The ranges (%.200s) do not name dimensions of the view, each once.", strings.Join(o.Ranges, ", "))
	}
	return places, nil
}

// placesOf are the places of dimensions by their names, in rising order; ok is false where a name
// is of none, or there twice.
func placesOf(names []string, columns []defined) (places []int, ok bool) {
	for _, name := range names {
		at := slices.IndexFunc(columns, func(c defined) bool { return c.dimension >= 0 && strings.EqualFold(c.name, name) })
		if at < 0 || slices.Contains(places, columns[at].dimension) {
			return nil, false
		}
		places = append(places, columns[at].dimension)
	}
	slices.Sort(places)
	return places, true
}

// within reports whether a number that is given is in the range of its parameter.
func within(x float64, p *params.Parameter) bool {
	return x == 0 || x >= p.Min && x <= p.Max && !math.IsNaN(x)
}

func notOptions(format string, args ...any) error {
	return refuse.New(refuse.View, format, args...).With(`For example '{"epsilon": 1, "ways": 2}'.`)
}

// selects finds the word that a definition begins with.
var selects = regexp.MustCompile(`(?i)^\s*SELECT\b`)

// statement is the definition with the loss.
func (o Loss) statement(query string) (string, error) {
	at := selects.FindStringIndex(query)
	if at == nil || strings.HasPrefix(strings.TrimSpace(query[at[1]:]), "/*") {
		return "", notDefined("The definition of a view is no plain SELECT.", "It begins with SELECT, without hints: the options say what it may cost.")
	}
	var hints []string
	for _, h := range []struct {
		p *params.Parameter
		x float64
	}{{params.Epsilon, o.Epsilon}, {params.Rho, o.Rho}, {params.Delta, o.Delta}} {
		if h.x != 0 {
			hints = append(hints, fmt.Sprintf("SET_VAR(%s=%s)", h.p.Name, strconv.FormatFloat(h.x, 'g', -1, 64)))
		}
	}
	return query[:at[1]] + " /*+ " + strings.Join(hints, " ") + " */" + query[at[1]:], nil
}

func notDefined(cause, remedy string) error {
	return refuse.New(refuse.View, "%s", cause).With("%s", remedy)
}
