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

// Options say what a view may cost and which marginals it is for.
type Options struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Rho     float64 `json:"rho,omitempty"` // in place of Epsilon
	Delta   float64 `json:"delta,omitempty"`
	Ways    int     `json:"ways,omitempty"` // marginals of up to so many dimensions; 0: of all
	// Marginals are those that are asked for, in the place of Ways, by the names of dimensions.
	Marginals [][]string `json:"marginals,omitempty"`
}

// ParseOptions reads options as JSON.
func ParseOptions(text string) (Options, error) {
	var o Options
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	switch {
	case err != nil || d.More():
		return o, notOptions("The options of a view are no JSON object of epsilon, rho, delta, and ways or marginals.")
	case (o.Epsilon == 0) == (o.Rho == 0):
		return o, notOptions("The options of a view want either epsilon or rho.")
	case !within(o.Epsilon, params.Epsilon) || !within(o.Rho, params.Rho) || !within(o.Delta, params.Delta):
		return o, notOptions("The options of a view want an %s, %s or %s within its range.", params.Epsilon.Name, params.Rho.Name, params.Delta.Name)
	case o.Ways < 0 || o.Ways > 0 && o.Marginals != nil:
		return o, notOptions("The options of a view want ways of 1 or more, or marginals, and not both.")
	case o.Marginals != nil && len(o.Marginals) == 0:
		return o, notOptions("The options of a view want one of the marginals or more.")
	}
	return o, nil
}

// sets are the marginals by places of dimensions.
func (o Options) sets(columns []defined) ([][]int, error) {
	var out [][]int
	seen := map[string]bool{}
	for _, names := range o.Marginals {
		var set []int
		for _, name := range names {
			at := slices.IndexFunc(columns, func(c defined) bool { return c.dimension >= 0 && strings.EqualFold(c.name, name) })
			if at < 0 || slices.Contains(set, columns[at].dimension) {
				return nil, notOptions("The marginal (%.200s) does not name dimensions of the view, each once.", strings.Join(names, ", "))
			}
			set = append(set, columns[at].dimension)
		}
		slices.Sort(set)
		text := fmt.Sprint(set)
		if len(set) == 0 || seen[text] {
			return nil, notOptions("The marginal (%.200s) is empty, or there twice.", strings.Join(names, ", "))
		}
		seen[text] = true
		out = append(out, set)
	}
	return out, nil
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

// statement is the definition with the loss that the options say.
func (o Options) statement(query string) (string, error) {
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
